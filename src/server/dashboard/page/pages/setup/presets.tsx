import { h, type ComponentChild } from 'preact'
import type { PresetShape } from '../../../../../schemas/presets/presets.ts'
import type { Page, PageContext } from '../../page.ts'
import { Badge } from '../../parts/badge.tsx'
import { LoadedTable, type Column } from '../../parts/data-table.tsx'
import { GuideLink } from '../../parts/empty-links.tsx'
import { SelectField } from '../../parts/fields.tsx'
import { NONE, Time } from '../../parts/figures.tsx'
import { useKeyNames } from '../../parts/key-names.ts'
import { linkWith, LIST_PAGE, ListPager, Reload, rowsOf, type Listed } from '../../parts/lists.tsx'
import { useLoaded } from '../../parts/loaded.tsx'
import { offsetOf } from '../../parts/pager.tsx'
import { useWorkspaces } from '../../parts/workspaces.ts'
import { PresetDialog } from './preset-dialog.tsx'

export const presetsPage: Page = {
  path: 'presets',
  title: 'Presets',
  letter: 'p',
  view: (context) => <Presets {...context} />,
}

/** Saved requests of a workspace: each has versions, of which callers get the designated one. */
function Presets(context: PageContext): ComponentChild {
  const { api, query, setQuery } = context
  const workspaces = useWorkspaces(api)
  const { nameOf } = useKeyNames(context)
  const workspace = query.get('workspace') ?? ''
  const offset = offsetOf(query)
  const looked = query.get('preset')
  const loaded = useLoaded(
    (signal) =>
      api.get<Listed<PresetShape>>(
        ['presets'],
        { workspace_id: workspace, limit: LIST_PAGE, offset },
        signal,
      ),
    [api, workspace, offset],
  )
  return (
    <div>
      <div class="head">
        <div class="filters">
          <SelectField
            label="Workspace"
            value={workspace}
            options={workspaces.options('Default workspace')}
            onInput={(value) => setQuery({ workspace: value, offset: null, preset: null })}
          />
        </div>
        <Reload loaded={loaded} />
      </div>
      <section class="panel" aria-label="Presets">
        <LoadedTable<PresetShape>
          caption="Presets, by slug"
          columns={columnsOf(query, nameOf)}
          loaded={rowsOf(loaded)}
          found={context}
          keyOf={({ id }) => id}
          isMarked={({ slug }) => slug === looked}
          empty={[
            'No presets in this workspace. ',
            <code key="call">POST /api/v1/presets/SLUG/chat/completions</code>,
            ' saves a request under a name that calls can use as a model. ',
            <GuideLink key="guide" page="presets" />,
          ]}
        />
        <ListPager context={context} loaded={loaded} />
      </section>
      {looked !== null && (
        <PresetDialog
          key={looked}
          context={context}
          slug={looked}
          workspace={workspace}
          nameOf={nameOf}
          onChange={loaded.reload}
          onClose={() => setQuery({ preset: null, from: null, to: null })}
        />
      )}
    </div>
  )
}

function columnsOf(query: URLSearchParams, nameOf: (hash: string) => string): readonly Column<PresetShape>[] {
  return [
    {
      title: 'Preset',
      isName: true,
      sortBy: ({ slug }) => slug,
      cell: ({ slug }) => (
        <a href={linkWith('presets', query, { preset: slug, from: null, to: null })}>{slug}</a>
      ),
    },
    {
      title: 'State',
      sortBy: ({ status }) => status,
      cell: ({ status }) => <Badge text={status} tone={status === 'active' ? 'good' : 'warn'} />,
    },
    { title: 'Description', isText: true, cell: ({ description }) => description ?? NONE },
    {
      title: 'Created by',
      cell: ({ creator_user_id: hash }) => (hash === null ? NONE : nameOf(hash)),
    },
    { title: 'Created', cell: ({ created_at: at }) => <Time at={at} />, sortBy: (row) => row.created_at },
    { title: 'Changed', cell: ({ updated_at: at }) => <Time at={at} />, sortBy: (row) => row.updated_at },
  ]
}
