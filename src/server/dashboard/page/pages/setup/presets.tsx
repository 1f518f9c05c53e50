import { type ComponentChild, h } from 'preact'
import { useState } from 'preact/hooks'
import type { PresetShape, PresetVersionShape, WholePreset } from '../../../../../schemas/presets/presets.ts'
import type { PresetDiff } from '../../../../../schemas/presets/preset-changes.ts'
import type { Page, PageContext } from '../../page.ts'
import { Badge } from '../../parts/badge.tsx'
import { LoadedTable, type Column } from '../../parts/data-table.tsx'
import { SelectField } from '../../parts/fields.tsx'
import { NONE, Time } from '../../parts/figures.tsx'
import { useKeyNames } from '../../parts/key-names.ts'
import { linkWith, LIST_PAGE, ListPager, Reload, rowsOf, type Listed } from '../../parts/lists.tsx'
import { Awaited, useLoaded } from '../../parts/loaded.tsx'
import { offsetOf } from '../../parts/pager.tsx'
import { useWorkspaces } from '../../parts/workspaces.ts'
import type { Api, Path, Query } from '../../api.ts'
import { Confirm, Dialog } from '../../parts/dialog.tsx'
import { Facts } from '../../parts/facts.tsx'
import { PresetChanges } from './preset-diff.tsx'
import { GuideLink } from '../../parts/links.tsx'

export const presetsPage: Page = {
  path: 'presets',
  title: 'Presets',
  letter: 'p',
  view: (context) => <Presets {...context} />,
}

/** Saved requests of a workspace: each has versions, and calls use the designated one. */
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

/** Versions that are listed; older ones can be read through the API. */
const VERSIONS_MAX = 500
const VERSIONS_PAGE = 100

interface PresetDialogProps {
  readonly context: PageContext
  readonly slug: string
  /** Empty: the default workspace. */
  readonly workspace: string
  nameOf(hash: string): string
  onChange(): void
  onClose(): void
}

interface Whole {
  readonly preset: WholePreset
  /** Newest first. */
  readonly versions: readonly PresetVersionShape[]
}

/** A preset: its versions, the changes between two of them, and the version that calls use. */
function PresetDialog(props: PresetDialogProps): ComponentChild {
  const { context, slug, workspace, nameOf, onChange, onClose } = props
  const { api } = context
  const loaded = useLoaded((signal) => wholeOf(api, slug, workspace, signal), [api, slug, workspace])
  const whole = loaded.value
  return (
    <Dialog title={`Preset ${slug}`} isWide onClose={onClose}>
      <div class="body">
        <Awaited {...loaded} />
        {whole !== undefined && (
          <div class="stack">
            <PresetFacts {...whole} nameOf={nameOf} />
            <Versions {...props} {...whole} onChange={() => (loaded.reload(), onChange())} />
          </div>
        )}
      </div>
    </Dialog>
  )
}

function PresetFacts({
  preset: { slug, status, description, designated_version: designated, updated_at: at },
  nameOf,
}: Whole & Pick<PresetDialogProps, 'nameOf'>): ComponentChild {
  return (
    <Facts
      facts={[
        ['State', <Badge text={status} tone={status === 'active' ? 'good' : 'warn'} />],
        ['Model', <code>{`@preset/${slug}`}</code>],
        ['Description', description],
        [
          'Designated',
          designated === null ? NONE : `version ${designated.version}, by ${nameOf(designated.creator_id)}`,
        ],
        ['Changed', <Time at={at} />],
      ]}
    />
  )
}

/** Two versions side by side, with the actions on them. */
function Versions({
  context,
  slug,
  workspace,
  preset,
  versions,
  nameOf,
  onChange,
}: PresetDialogProps & Whole): ComponentChild {
  const { api, query } = context
  const designated = preset.designated_version?.version ?? 1
  const to = numberOf(query.get('to')) ?? designated
  const from = numberOf(query.get('from')) ?? to - 1
  const diff = useLoaded(
    async (signal) =>
      (
        await api.get<{ data: PresetDiff }>(
          ['presets', slug, 'diff'],
          { workspace_id: workspace, to, from: from < 1 ? null : from },
          signal,
        )
      ).data,
    [api, slug, workspace, to, from],
  )
  const shown = versions.find(({ version }) => version === to)
  return (
    <div class="stack">
      <div class="head">
        <VersionFields
          setQuery={context.setQuery}
          versions={versions}
          designated={designated}
          from={Math.max(0, from)}
          to={to}
        />
        <Deeds
          context={context}
          path={['presets', slug]}
          workspace={workspace}
          preset={preset}
          version={to}
          onChange={onChange}
        />
      </div>
      {shown !== undefined && (
        <p class="hint">
          {`Version ${to} was saved by ${nameOf(shown.creator_id)} `}
          <Time at={shown.created_at} />.
        </p>
      )}
      <Awaited {...diff} />
      {diff.value !== undefined && diff.problem === null && <PresetChanges diff={diff.value} />}
      {shown !== undefined && (
        <details>
          <summary>{`Version ${to} in full`}</summary>
          <pre class="mono">{wholeText(shown)}</pre>
        </details>
      )}
    </div>
  )
}

interface VersionFieldsProps extends Pick<PageContext, 'setQuery'>, Pick<Whole, 'versions'> {
  readonly designated: number
  readonly from: number
  readonly to: number
}

function VersionFields({ setQuery, versions, designated, from, to }: VersionFieldsProps): ComponentChild {
  const options = versions.map(
    ({ version }) =>
      [String(version), version === designated ? `${version} (designated)` : String(version)] as const,
  )
  return (
    <div class="filters">
      <SelectField
        label="Version"
        value={String(to)}
        options={options}
        onInput={(value) => setQuery({ to: value, from: null })}
      />
      <SelectField
        label="Compared with"
        value={String(from)}
        options={to === 1 ? [...options, NOTHING] : options}
        onInput={(value) => setQuery({ from: value })}
      />
    </div>
  )
}

/** The first version is compared with nothing. */
const NOTHING = ['0', 'nothing'] as const

interface DeedsProps {
  readonly context: PageContext
  readonly path: Path
  readonly workspace: string
  readonly preset: WholePreset
  readonly version: number
  onChange(): void
}

/** Buttons to designate another version and to archive the preset. */
function Deeds({
  context: { api, say },
  path,
  workspace,
  preset,
  version,
  onChange,
}: DeedsProps): ComponentChild {
  const [asked, setAsked] = useState<'designate' | 'archive' | null>(null)
  const { slug, designated_version: designated, status } = preset
  const send = async (deed: 'designate' | 'archive', body: unknown, done: string): Promise<void> => {
    await api.send('POST', [...path, deed], body, { query: { workspace_id: workspace } })
    say(done)
    onChange()
  }
  const close = (): void => setAsked(null)
  if (status === 'archived')
    return <p class="hint">This preset is archived. Saving a request under its slug makes it active again.</p>
  return (
    <div class="actions">
      {version !== designated?.version && (
        <button type="button" class="primary" onClick={() => setAsked('designate')}>
          {`Designate version ${version}`}
        </button>
      )}
      <button type="button" class="quiet" onClick={() => setAsked('archive')}>
        Archive
      </button>
      {asked === 'designate' && (
        <Confirm
          title={`Designate version ${version} of ${slug}?`}
          text={`Calls without a version use version ${version} instead of ${designated?.version ?? 'none'}. All versions are kept.`}
          action="Designate"
          run={() => send('designate', { version }, `Calls of ${slug} now use version ${version}.`)}
          onClose={close}
        />
      )}
      {asked === 'archive' && (
        <Confirm
          title={`Archive ${slug}?`}
          text="Calls that use this preset, with or without a version, fail with 404. The versions of the preset are kept."
          action="Archive preset"
          isDestructive
          run={() => send('archive', undefined, `${slug} is archived.`)}
          onClose={close}
        />
      )}
    </div>
  )
}

async function wholeOf(api: Api, slug: string, workspace: string, signal: AbortSignal): Promise<Whole> {
  const query: Query = { workspace_id: workspace }
  const versions: PresetVersionShape[] = []
  const { data: preset } = await api.get<{ data: WholePreset }>(['presets', slug], query, signal)
  for (let hasMore = true; hasMore && versions.length < VERSIONS_MAX;) {
    const page = await api.get<{ data: readonly PresetVersionShape[]; has_more: boolean }>(
      ['presets', slug, 'versions'],
      { ...query, limit: VERSIONS_PAGE, offset: versions.length },
      signal,
    )
    versions.push(...page.data)
    // A page with large versions may be short, because of its size limit.
    hasMore = page.has_more && page.data.length > 0
  }
  return { preset, versions: versions.reverse() }
}

/** Null when the text is not a version number. */
function numberOf(text: string | null): number | null {
  return text !== null && /^\d{1,9}$/.test(text) ? Number(text) : null
}

function wholeText({ config, system_prompt: prompt }: PresetVersionShape): string {
  return JSON.stringify(prompt === null ? config : { system_prompt: prompt, ...config }, null, 2)
}
