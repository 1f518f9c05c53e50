import { type ComponentChild, type ComponentChildren, h } from 'preact'
import type { Static } from 'typebox'
import type { ApiKey } from '../../../../../schemas/keys/keys.ts'
import type { MemberShape, WorkspaceShape } from '../../../../../schemas/workspaces/workspaces.ts'
import type { AdminDeliveryShape } from '../../../../../schemas/operator/admin.ts'
import type { PresetShape } from '../../../../../schemas/presets/presets.ts'
import type { SecretPageAnswer } from '../../../../../schemas/vault/vault.ts'
import { nodeNow } from '../../live.ts'
import { hashOf, type Page, type PageContext, useSubject } from '../../page.ts'
import { Facts } from '../../parts/facts.tsx'
import { bytes, count, NONE, Time } from '../../parts/figures.tsx'
import { Awaited, useLoaded } from '../../parts/loaded.tsx'
import { useRefresh } from '../../parts/refresh.ts'
import { useWorkspaces, type Workspaces } from '../../parts/workspaces.ts'
import { Badge } from '../../parts/badge.tsx'
import { DeliveryBadge } from '../../parts/deliveries.tsx'
import { SubjectLink, GuideLink } from '../../parts/links.tsx'
import type { Path, Query } from '../../api.ts'
import { LoadedTable, type Column } from '../../parts/data-table.tsx'
import { rowsOf } from '../../parts/lists.tsx'
import { Budgets, budgetsOf, isPending } from '../budgets.tsx'
import { callLimitLines } from '../key-numbers.tsx'
import { keyColumns } from '../keys.tsx'
import { loadRecent } from '../spend-sums.ts'
import { SendTest } from '../webhook-test.tsx'
import { Calls } from './calls.tsx'
import { loadRefusals } from './refusals.ts'
import { SubjectSpent } from './spent.tsx'

export const workspacePage: Page = {
  path: 'workspace',
  title: 'Workspace',
  letter: '',
  under: 'workspaces',
  view: (context) => <WorkspaceView {...context} />,
}

/** One workspace: its members and objects, its limits and its calls. @param id UUID or slug */
function WorkspaceView(context: PageContext): ComponentChild {
  const { api, query } = context
  const reference = query.get('id') ?? ''
  const workspaces = useWorkspaces(api)
  const loaded = useLoaded(
    async (signal) => (await api.get<{ data: WorkspaceShape }>(['workspaces', reference], {}, signal)).data,
    [api, reference],
  )
  const workspace = loaded.value
  useSubject(context, workspace?.name)
  return (
    <div>
      <Awaited {...loaded} />
      {workspace !== undefined && <Parts context={context} workspaces={workspaces} workspace={workspace} />}
    </div>
  )
}

interface PartsProps {
  readonly context: PageContext
  readonly workspaces: Workspaces
  readonly workspace: WorkspaceShape
}

function Parts({ context, workspaces, workspace }: PartsProps): ComponentChild {
  const { id } = workspace
  const own = { workspace_id: id }
  return (
    <div class="stack">
      <About workspace={workspace} />
      <OwnBudgets context={context} workspaces={workspaces} id={id} />
      <ListPanel<ApiKey>
        context={context}
        title="Keys"
        path={['keys']}
        query={own}
        columns={keyColumns(workspaces, context.session.key.hash)}
        keyOf={({ hash }) => hash}
        empty="No keys."
        all={hashOf('keys', { workspace: id })}
      />
      <div class="grid">
        <ListPanel<Member> context={context} path={['workspaces', id, 'members']} {...MEMBERS} />
        <ListPanel<Preset> context={context} path={['presets']} query={own} {...PRESETS} />
        <ListPanel<SecretRow> context={context} path={['admin', 'secrets']} query={own} {...SECRETS} />
        <ListPanel<ProviderKey> context={context} path={['byok']} query={own} {...PROVIDER_KEYS} />
      </div>
      <ListPanel<Delivery>
        context={context}
        path={['admin', 'webhooks']}
        query={own}
        {...DELIVERIES}
        all={hashOf('webhooks', { state: 'all', workspace: id })}
      >
        <SendTest context={context} workspace={id} workspaces={workspaces} />
      </ListPanel>
      <Calls context={context} search={own} />
      <SubjectSpent context={context} workspaces={workspaces} search={own} choices={['model', 'key']} />
    </div>
  )
}

function About({ workspace }: Pick<PartsProps, 'workspace'>): ComponentChild {
  const { id, slug, description, default_callback_url: callback, storage_quota_bytes: quota } = workspace
  return (
    <section class="panel" aria-label="About">
      <Facts
        facts={[
          ['Description', description],
          ['Slug', <code>{slug}</code>],
          ['Id', <code>{id}</code>],
          ['Created', <Time at={workspace.created_at} />],
          ['Default callback URL', callback ?? 'none'],
          ['Vault', workspace.vault_writes ? 'writable' : 'read-only'],
          [
            'Interns',
            `${workspace.programme ? 'enabled' : 'disabled'}: agents with their own keys and files`,
          ],
          ['Storage', quota === null ? "the installation's default quota" : `up to ${bytes(quota)}`],
          ['Limits', callLimitLines(workspace).join(', ') || 'none'],
          ['Audit', <a href={hashOf('audit', { object_id: id })}>Change history</a>],
        ]}
      />
    </section>
  )
}

function OwnBudgets({
  context,
  workspaces,
  id,
}: Omit<PartsProps, 'workspace'> & { readonly id: string }): ComponentChild {
  const { api } = context
  const loaded = useLoaded(
    async (signal) => {
      const nowMs = nodeNow(context)
      const [budgets, recent, refusals] = await Promise.all([
        budgetsOf(api, [id], signal),
        loadRecent(api, signal, { workspace_id: id }),
        loadRefusals(api, { nowMs, search: { workspace_id: id } }, signal),
      ])
      return { budgets, recent, refusals }
    },
    [api, id],
  )
  const { value } = loaded
  useRefresh(value !== undefined && isPending(value.budgets), loaded)
  if (value === undefined) return <Awaited {...loaded} />
  return (
    <Budgets
      context={context}
      workspaces={workspaces}
      ids={[id]}
      budgets={{ ...loaded, value: value.budgets }}
      recent={value.recent}
      refusals={value.refusals}
    />
  )
}

/** A list of objects that belong to a workspace, as its page shows it. */
type Shown<Row> = Pick<ListPanelProps<Row>, 'title' | 'columns' | 'keyOf' | 'empty'>

type Member = Static<typeof MemberShape>
const MEMBERS: Shown<Member> = {
  title: 'Members',
  keyOf: ({ user_id: id }) => id,
  empty: 'The workspace has no members.',
  columns: [
    { title: 'User', isName: true, cell: ({ display_name: name, user_name: user }) => name ?? user },
    { title: 'Role', cell: ({ role }) => role },
    {
      title: 'By',
      isText: true,
      cell: ({ grants }) => [...new Set(grants.map(({ source }) => source))].join(', '),
    },
    { title: 'Since', cell: ({ created_at: at }) => <Time at={at} /> },
  ],
}

type Preset = Static<typeof PresetShape>
const PRESETS: Shown<Preset> = {
  title: 'Presets',
  keyOf: ({ id }) => id,
  empty: ['No presets. ', <GuideLink key="guide" page="presets" />],
  columns: [
    {
      title: 'Preset',
      isName: true,
      cell: ({ slug, workspace_id: workspace }) => (
        <a href={hashOf('presets', { workspace, preset: slug })}>{slug}</a>
      ),
    },
    {
      title: 'State',
      cell: ({ status }) => <Badge text={status} tone={status === 'active' ? 'good' : 'plain'} />,
    },
    { title: 'Changed', cell: ({ updated_at: at }) => <Time at={at} /> },
  ],
}

type SecretRow = Static<typeof SecretPageAnswer>['data'][number]
const SECRETS: Shown<SecretRow> = {
  title: 'Secrets',
  keyOf: ({ name }) => name,
  empty: 'No secrets.',
  columns: [
    { title: 'Name', isName: true, cell: ({ name }) => <code>{name}</code> },
    { title: 'Released to', isText: true, cell: ({ hosts }) => hosts?.join(', ') ?? 'no host' },
    { title: 'Stored', cell: ({ created_at: at }) => <Time at={at} /> },
  ],
}

interface ProviderKey {
  readonly id: string
  readonly provider: string
  /** Of the secret. */
  readonly name: string
  readonly label: string
}
const PROVIDER_KEYS: Shown<ProviderKey> = {
  title: 'Provider keys',
  keyOf: ({ id }) => id,
  empty: ["No provider keys: the operator's keys are used. ", <GuideLink key="guide" page="provider-keys" />],
  columns: [
    { title: 'Provider', isName: true, cell: ({ provider }) => <SubjectLink to="provider" id={provider} /> },
    { title: 'Secret', cell: ({ name }) => <code>{name}</code> },
    { title: 'Fingerprint', cell: ({ label }) => <code>{label}</code> },
  ],
}

type Delivery = AdminDeliveryShape
const DELIVERIES: Shown<Delivery> = {
  title: 'Webhooks',
  keyOf: ({ id }) => id,
  empty: 'No webhooks yet.',
  columns: [
    { title: 'Receiver', isName: true, cell: ({ host }) => host },
    { title: 'State', cell: ({ state }) => <DeliveryBadge state={state} /> },
    { title: 'Attempts', isNumber: true, cell: ({ attempts }) => count(attempts) },
    { title: 'Last answer', cell: ({ last_status: status }) => status ?? NONE },
    { title: 'Created', cell: ({ created_at: at }) => <Time at={at} /> },
  ],
}

interface ListPanelProps<Row> {
  readonly context: PageContext
  readonly title: string
  /** Path of the list below `/api/v1`. */
  readonly path: Path
  readonly query?: Query
  readonly columns: readonly Column<Row>[]
  keyOf(row: Row): string
  readonly empty: ComponentChildren
  readonly all?: string
  /** Next to the heading. */
  readonly children?: ComponentChildren
}

/** The first page of a list of the API, in a panel that shows whether there are more rows. */
function ListPanel<Row>(props: ListPanelProps<Row>): ComponentChild {
  const { context, title, path, query = {}, columns, keyOf, empty, all, children } = props
  const { api } = context
  const loaded = useLoaded(
    (signal) => api.get<{ data: readonly Row[]; has_more: boolean }>(path, query, signal),
    [api, path.join(), JSON.stringify(query)],
  )
  return (
    <section class="panel" aria-label={title}>
      <div class="head">
        <h2>{title}</h2>
        <div class="actions">
          {children}
          {all !== undefined && <a href={all}>View all</a>}
        </div>
      </div>
      <LoadedTable<Row>
        caption={title}
        columns={columns}
        loaded={rowsOf(loaded)}
        keyOf={keyOf}
        empty={empty}
      />
      {loaded.value?.has_more === true && <p class="hint">Only the first rows are shown.</p>}
    </section>
  )
}

export const workspacesPage: Page = {
  path: 'workspaces',
  title: 'Workspaces',
  letter: 'o',
  view: (context) => <WorkspacesView {...context} />,
}

const COLUMNS: readonly Column<WorkspaceShape>[] = [
  {
    title: 'Name',
    isName: true,
    sortBy: ({ name }) => name,
    cell: ({ id, name, is_default: isDefault }) => [
      <SubjectLink key="name" to="workspace" id={id} text={name} />,
      ' ',
      isDefault && <Badge key="default" text="default" />,
    ],
  },
  { title: 'Slug', cell: ({ slug }) => <code>{slug}</code>, sortBy: ({ slug }) => slug },
  { title: 'Description', isText: true, cell: ({ description }) => description },
  { title: 'Created', cell: ({ created_at: at }) => <Time at={at} />, sortBy: ({ created_at: at }) => at },
]

function WorkspacesView(context: PageContext): ComponentChild {
  const { loaded } = useWorkspaces(context.api)
  return (
    <div>
      <section class="panel">
        <LoadedTable<WorkspaceShape>
          caption="Workspaces"
          columns={COLUMNS}
          loaded={loaded}
          found={context}
          keyOf={({ id }) => id}
          empty="No workspaces."
        />
      </section>
    </div>
  )
}
