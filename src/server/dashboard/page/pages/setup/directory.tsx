import { type ComponentChild, h } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import type {
  DirectoryGroupShape,
  MappingShape,
  SyncJobShape,
  MappingPreviewShape,
} from '../../../../../schemas/scim/group-mappings.ts'
import type { Page, PageContext } from '../../page.ts'
import { LoadedTable, type Column } from '../../parts/data-table.tsx'
import { count, NONE, Time } from '../../parts/figures.tsx'
import { linkWith, Reload } from '../../parts/lists.tsx'
import { type Loaded, useLoaded } from '../../parts/loaded.tsx'
import { listAll, useWorkspaces, type Workspaces } from '../../parts/workspaces.ts'
import { Confirm, Dialog, useAction } from '../../parts/dialog.tsx'
import { useRefresh } from '../../parts/refresh.ts'
import { errorAbout, Form, SelectField } from '../../parts/fields.tsx'
import { MappingDialog, type Names } from './mapping-dialog.tsx'
import { GuideLink } from '../../parts/links.tsx'

export const directoryPage: Page = {
  path: 'directory',
  title: 'Directory',
  letter: 'd',
  view: (context) => <Directory {...context} />,
}

/** Groups and mappings that are shown. */
const SHOWN_MAX = 500
/** Characters of an id that distinguish groups at a glance. */
const ID_CHARS = 8

/** Groups of the identity provider, their roles in workspaces, and the members that each mapping adds. */
function Directory(context: PageContext): ComponentChild {
  const { api, query, setQuery } = context
  const workspaces = useWorkspaces(api)
  const groups = useLoaded(
    (signal) => listAll<DirectoryGroupShape>(api, ['scim', 'groups'], SHOWN_MAX, signal),
    [api],
  )
  const mappings = useLoaded(
    (signal) => listAll<MappingShape>(api, ['scim', 'group-mappings'], SHOWN_MAX, signal),
    [api],
  )
  const names = useMemo(
    () => namesOf(groups.value ?? [], mappings.value ?? [], workspaces.nameOf),
    [groups.value, mappings.value, workspaces],
  )
  const looked = mappings.value?.find(({ id }) => id === query.get('mapping'))
  return (
    <div>
      <section class="panel">
        <div class="head">
          <h2>Group mappings</h2>
          <div class="actions">
            <button
              type="button"
              class="primary"
              disabled={groups.value === undefined || groups.value.length === 0}
              onClick={() => setQuery({ do: 'map' })}
            >
              Map group
            </button>
            <Sync context={context} />
            <Reload loaded={mappings} />
          </div>
        </div>
        <LoadedTable<MappingShape>
          caption="Group mappings, oldest first"
          columns={mappingColumns(query, names)}
          loaded={mappings}
          keyOf={({ id }) => id}
          isMarked={({ id }) => id === looked?.id}
          empty={[
            'No group mappings. A mapping gives the active members of a group a role in a workspace. ',
            <GuideLink key="guide" page="scim" />,
          ]}
        />
      </section>
      <Groups context={context} groups={groups} mappings={mappings.value ?? []} names={names} />
      {query.get('do') === 'map' && groups.value !== undefined && (
        <MapDialog
          context={context}
          groups={groups.value}
          workspaces={workspaces}
          onDone={mappings.reload}
          onClose={() => setQuery({ do: null })}
        />
      )}
      {looked !== undefined && (
        <MappingDialog
          key={looked.id}
          context={context}
          mapping={looked}
          names={names}
          onChange={mappings.reload}
          onClose={() => setQuery({ mapping: null })}
        />
      )}
    </div>
  )
}

interface GroupsProps {
  readonly context: PageContext
  readonly groups: Loaded<readonly DirectoryGroupShape[]>
  readonly mappings: readonly MappingShape[]
  readonly names: Names
}

function Groups({ context, groups, mappings, names }: GroupsProps): ComponentChild {
  return (
    <section class="panel">
      <h2>
        Identity provider groups
        {groups.value !== undefined && <span class="hint">{` ${count(groups.value.length)}`}</span>}
      </h2>
      <LoadedTable<DirectoryGroupShape>
        caption="Identity provider groups, by name"
        columns={groupColumns(mappings, names)}
        loaded={groups}
        found={context}
        keyOf={({ id }) => id}
        empty={[
          'No groups from the identity provider yet. ',
          <code key="call">bin/sluice scim tokens create</code>,
          ' creates a token for the identity provider. ',
          <GuideLink key="guide" page="scim" />,
        ]}
      />
    </section>
  )
}

function namesOf(
  groups: readonly DirectoryGroupShape[],
  mappings: readonly MappingShape[],
  workspace: (id: string) => string,
): Names {
  const names = new Map(groups.map((group) => [group.id, group.display_name]))
  const ofGroup = (id: string): string => names.get(id) ?? `${id.slice(0, ID_CHARS)}…`
  const byId = new Map(mappings.map((mapping) => [mapping.id, mapping]))
  return {
    group: ofGroup,
    workspace,
    mapping: (id) => `by the group ${ofGroup(byId.get(id)?.scim_group_id ?? id)}`,
  }
}

function mappingColumns(query: URLSearchParams, names: Names): readonly Column<MappingShape>[] {
  const group = ({ scim_group_id: id }: MappingShape): string => names.group(id)
  const workspace = ({ workspace_id: id }: MappingShape): string => names.workspace(id)
  return [
    {
      title: 'Group',
      isName: true,
      sortBy: group,
      cell: (row) => <a href={linkWith('directory', query, { mapping: row.id })}>{group(row)}</a>,
    },
    { title: 'Workspace', cell: workspace, sortBy: workspace },
    { title: 'Role', cell: ({ role }) => role, sortBy: ({ role }) => role },
    { title: 'Created', cell: ({ created_at: at }) => <Time at={at} />, sortBy: (row) => row.created_at },
    { title: 'Changed', cell: ({ updated_at: at }) => <Time at={at} />, sortBy: (row) => row.updated_at },
  ]
}

function groupColumns(
  mappings: readonly MappingShape[],
  names: Names,
): readonly Column<DirectoryGroupShape>[] {
  const rolesOf = (id: string): string =>
    mappings
      .filter(({ scim_group_id: group }) => group === id)
      .map(({ workspace_id: workspace, role }) => `${role} in ${names.workspace(workspace)}`)
      .join(', ')
  return [
    { title: 'Name', isName: true, cell: (row) => row.display_name, sortBy: (row) => row.display_name },
    { title: 'Roles', isText: true, cell: ({ id }) => rolesOf(id) || NONE },
    { title: 'External id', cell: ({ external_id: id }) => (id === null ? NONE : <code>{id}</code>) },
    { title: 'Created', cell: ({ created_at: at }) => <Time at={at} />, sortBy: (row) => row.created_at },
    { title: 'Changed', cell: ({ updated_at: at }) => <Time at={at} />, sortBy: (row) => row.updated_at },
  ]
}

const REFRESH_MS = 1_000

/** Starts the recomputation of all grants, and shows its progress. */
function Sync({ context: { api } }: { readonly context: PageContext }): ComponentChild {
  const [isAsking, setAsking] = useState(false)
  const [id, setId] = useState<string | null>(null)
  const loaded = useLoaded(
    async (signal) =>
      id === null
        ? null
        : (await api.get<{ data: SyncJobShape }>(['scim', 'sync-jobs', id], {}, signal)).data,
    [api, id],
  )
  const job = loaded.value ?? null
  useRefresh(job !== null && job.finished_at === null, loaded, REFRESH_MS)
  const run = async (): Promise<void> =>
    setId((await api.send<{ data: SyncJobShape }>('POST', ['scim', 'sync-jobs'])).data.id)
  return (
    <span class="actions">
      {job !== null && (
        <span class="hint" role="status">
          {statusText(job)}
        </span>
      )}
      <button type="button" class="quiet" onClick={() => setAsking(true)}>
        Sync
      </button>
      {isAsking && (
        <Confirm
          title="Recompute all grants?"
          text="Recomputes grants from the stored groups. Grants that are already correct are not changed."
          action="Sync"
          run={run}
          onClose={() => setAsking(false)}
        />
      )}
    </span>
  )
}

function statusText({ status, synced_groups: groups, error_message: error }: SyncJobShape): string {
  if (status === 'failed') return `Sync failed: ${error ?? 'unknown reason'}`
  return `Sync ${status}, ${count(groups ?? 0)} groups`
}

interface MapDialogProps {
  readonly context: PageContext
  readonly groups: readonly DirectoryGroupShape[]
  readonly workspaces: Workspaces
  onDone(): void
  onClose(): void
}

const ROLES = [
  ['member', 'member'],
  ['admin', 'admin'],
] as const

function MapDialog({ context, groups, workspaces, onDone, onClose }: MapDialogProps): ComponentChild {
  const { api, say } = context
  const [group, setGroup] = useState(groups[0]?.id ?? '')
  const [chosen, setWorkspace] = useState('')
  const [role, setRole] = useState('member')
  const options = workspaces.options()
  const workspace = chosen === '' ? (options[0]?.[0] ?? '') : chosen
  const preview = useLoaded(
    async (signal) => {
      const query = { scim_group_id: group, workspace_id: workspace, role }
      return (await api.get<{ data: MappingPreviewShape }>(['admin', 'mapping-preview'], query, signal)).data
    },
    [api, group, workspace, role],
  )
  const { isBusy, problem, start } = useAction(async () => {
    await api.send('POST', ['scim', 'group-mappings'], {
      scim_group_id: group,
      workspace_id: workspace,
      role,
    })
    say('Group mapped. Active group members are now members of the workspace.')
    onClose()
  }, onDone)
  return (
    <Dialog title="Map group" onClose={onClose}>
      <Form action="Map" isBusy={isBusy} problem={problem} onSubmit={start} onCancel={onClose}>
        <SelectField
          label="Group"
          value={group}
          options={groups.map(({ id, display_name: name }) => [id, name] as const)}
          onInput={setGroup}
          error={errorAbout(problem, 'scim_group_id')}
          hasFocus
        />
        <SelectField label="Workspace" value={workspace} options={options} onInput={setWorkspace} />
        <SelectField label="Role" value={role} options={ROLES} onInput={setRole} />
        <p class="hint" role="status">
          {preview.problem ?? (preview.value === undefined ? 'Counting…' : sentenceOf(preview.value, role))}
        </p>
      </Form>
    </Dialog>
  )
}

/** Describes the effect of a mapping before it is created. */
function sentenceOf(preview: MappingPreviewShape, role: string): string {
  const { joining, promoted, unchanged, inactive, is_cut: isCut } = preview
  const parts = [
    `${count(joining)} ${joining === 1 ? 'user joins' : 'users join'} with the role ${role}`,
    promoted > 0 && `${count(promoted)} members become admin`,
    unchanged > 0 && `${count(unchanged)} stay unchanged`,
    inactive > 0 && `${count(inactive)} are inactive and do not get a role`,
  ].filter((part) => part !== false)
  return `${isCut ? 'At least: ' : 'Effect now: '}${parts.join(', ')}.`
}
