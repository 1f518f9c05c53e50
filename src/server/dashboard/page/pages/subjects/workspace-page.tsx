import { h, type ComponentChild } from 'preact'
import type { ApiKey } from '../../../../../schemas/keys/keys.ts'
import type { WorkspaceShape } from '../../../../../schemas/workspaces/workspaces.ts'
import { nodeNow } from '../../live.ts'
import { hashOf, useSubject, type Page, type PageContext } from '../../page.ts'
import { Facts } from '../../parts/facts.tsx'
import { bytes, Time } from '../../parts/figures.tsx'
import { Awaited, useLoaded } from '../../parts/loaded.tsx'
import { useRefresh } from '../../parts/refresh.ts'
import { useWorkspaces, type Workspaces } from '../../parts/workspaces.ts'
import { Budgets, budgetsOf, isPending } from '../budgets.tsx'
import { callLimitLines } from '../key-call-limits.tsx'
import { keyColumns } from '../keys.tsx'
import { loadRecent } from '../spend-sums.ts'
import { SendTest } from '../webhook-test.tsx'
import { Calls } from './calls.tsx'
import { loadRefusals } from './refusals.ts'
import { SubjectSpent } from './spent.tsx'
import { ListPanel } from './list-panel.tsx'
import {
  DELIVERIES,
  MEMBERS,
  PRESETS,
  PROVIDER_KEYS,
  SECRETS,
  type Delivery,
  type Member,
  type Preset,
  type ProviderKey,
  type SecretRow,
} from './workspace-lists.tsx'

export const workspacePage: Page = {
  path: 'workspace',
  title: 'Workspace',
  letter: '',
  under: 'workspaces',
  view: (context) => <WorkspaceView {...context} />,
}

/** One workspace: who and what belongs to it, what it may spend, what it called. @param id UUID or slug */
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
