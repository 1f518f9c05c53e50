import { type ComponentChild, h } from 'preact'
import { useState } from 'preact/hooks'
import type { ApiKey } from '../../../../../schemas/keys/keys.ts'
import { BurnDown } from '../../charts/burn-down.tsx'
import { FORECAST_RULE } from '../../charts/forecast.ts'
import { nodeNow } from '../../live.ts'
import { hashOf, type Page, type PageContext, useSubject } from '../../page.ts'
import { Facts } from '../../parts/facts.tsx'
import { count, Time, usd } from '../../parts/figures.tsx'
import { Awaited, useLoaded } from '../../parts/loaded.tsx'
import { SubjectLink } from '../../parts/links.tsx'
import { useWorkspaces, type Workspaces } from '../../parts/workspaces.ts'
import { Confirm } from '../../parts/dialog.tsx'
import { KeyLimits, KeyState } from '../keys.tsx'
import { History } from '../now-history.tsx'
import { loadRecent } from '../spend-sums.ts'
import type { Answer } from '../calls/request-feed.ts'
import { KeyDialog, RotateDialog } from '../key-dialogs.tsx'
import { Calls, CALLS_READ, DAY_MS, useRequests } from './calls.tsx'
import { burnedOf } from './key-limits.tsx'
import { loadRefusals } from './refusals.ts'
import { SubjectSpent } from './spent.tsx'

export const keyPage: Page = {
  path: 'key',
  title: 'Key',
  letter: '',
  under: 'keys',
  view: (context) => <KeyView {...context} />,
}

/** One key: its limits and the amounts left, its calls, failures and spend. */
function KeyView(context: PageContext): ComponentChild {
  const { api, query } = context
  const hash = query.get('id') ?? ''
  const workspaces = useWorkspaces(api)
  const loaded = useLoaded(
    async (signal) => (await api.get<{ data: ApiKey }>(['keys', hash], {}, signal)).data,
    [api, hash],
  )
  const apiKey = loaded.value
  useSubject(context, apiKey?.name)
  return (
    <div>
      <Awaited {...loaded} />
      {apiKey !== undefined && (
        <About context={context} workspaces={workspaces} apiKey={apiKey} onDone={loaded.reload} />
      )}
      <History context={context} of={{ by: 'key', name: hash }} />
      <Calls context={context} search={{ key: hash }} />
      <SubjectSpent
        context={context}
        workspaces={workspaces}
        search={{ key_hash: hash }}
        choices={['model']}
      />
    </div>
  )
}

interface AboutProps {
  readonly context: PageContext
  readonly workspaces: Workspaces
  readonly apiKey: ApiKey
  onDone(): void
}

function About({ context, workspaces, apiKey, onDone }: AboutProps): ComponentChild {
  const { hash, kind, workspace_id: id } = apiKey
  return (
    <section class="panel" aria-label="Key">
      <div class="head">
        <KeyState apiKey={apiKey} />
        <KeyDeeds
          context={context}
          workspaces={workspaces}
          apiKey={apiKey}
          onDone={onDone}
          onDeleted={() => (location.hash = hashOf('keys'))}
        />
      </div>
      <Facts
        facts={[
          ['Kind', kind],
          ['Label', <code>{apiKey.label}</code>],
          ['Hash', <code>{hash}</code>],
          [
            'Workspace',
            kind === 'management' ? (
              'all'
            ) : (
              <SubjectLink to="workspace" id={id} text={workspaces.nameOf(id)} />
            ),
          ],
          ['Created', <Time at={apiKey.created_at} />],
          ['Expires', apiKey.expires_at === undefined ? 'never' : <Time at={apiKey.expires_at} />],
          ['Last used', <LastUsed context={context} hash={hash} />],
          ['Models', apiKey.allowed_models?.join(', ')],
          ['Limits', <KeyLimits apiKey={apiKey} />],
          ['Forecast', apiKey.limit !== null && <Burn context={context} apiKey={apiKey} />],
          ['Spent', spentText(apiKey)],
          ['Client left', <LeftCalls context={context} hash={hash} />],
          [
            'Audit',
            <span>
              <a href={hashOf('audit', { actor_id: hash })}>Changes made by this key</a>{' '}
              <a href={hashOf('audit', { object_id: hash })}>Change history</a>
            </span>,
          ],
        ]}
      />
    </section>
  )
}

/** The end of the newest call in the log. */
function LastUsed({
  context,
  hash,
}: {
  readonly context: PageContext
  readonly hash: string
}): ComponentChild {
  const loaded = useRequests(context, { key: hash, limit: 1 })
  const at = loaded.value?.data[0]?.ended_at
  if (loaded.value === undefined) return <Awaited {...loaded} />
  return at === undefined ? 'no call in the request log' : <Time at={at} />
}

function spentText({ usage_daily: today, usage_monthly: month, usage }: ApiKey): string {
  return `${usd(today)} today, ${usd(month)} this month, ${usd(usage)} in total`
}

/** Calls of the last day whose client disconnected before the end: most of them are charged by estimate. */
function LeftCalls({
  context,
  hash,
}: {
  readonly context: PageContext
  readonly hash: string
}): ComponentChild {
  const loaded = useRequests(context, { key: hash, left: true, limit: CALLS_READ }, DAY_MS)
  const answer = loaded.value
  if (answer === undefined) return <Awaited {...loaded} />
  return <a href={hashOf('requests', { key: hash, show: 'left' })}>{leftText(answer)}</a>
}

/** @param rows of calls whose clients disconnected */
export function leftText({ data: rows, next_cursor: next }: Pick<Answer, 'data' | 'next_cursor'>): string {
  const calls = rows.reduce((sum, { weight }) => sum + weight, 0)
  const cost = rows.reduce((sum, { cost_usd }) => sum + (cost_usd ?? 0), 0)
  const estimated = rows.filter(({ is_estimated }) => is_estimated).length
  const text = `${next === null ? '' : 'more than '}${count(calls)} calls in the last day`
  return calls === 0 ? text : `${text}, ${count(estimated)} with an estimated charge, ${usd(cost)}`
}

/** The burn-down of the spending limit. */
function Burn({
  context,
  apiKey,
}: {
  readonly context: PageContext
  readonly apiKey: ApiKey
}): ComponentChild {
  const { api } = context
  const { hash } = apiKey
  const loaded = useLoaded(
    (signal) =>
      Promise.all([
        loadRecent(api, signal, { key_hash: hash }),
        loadRefusals(api, { nowMs: nodeNow(context), search: { key: hash } }, signal),
      ]),
    [api, hash, apiKey],
  )
  const [recent, refusals] = loaded.value ?? []
  const burned = recent === undefined ? null : burnedOf(apiKey, recent)
  return burned === null ? (
    <Awaited {...loaded} />
  ) : (
    <div title={FORECAST_RULE}>
      <BurnDown
        burned={burned}
        nowMs={nodeNow(context)}
        {...(refusals !== undefined && { refused: refusals.of('key', hash) })}
      />
    </div>
  )
}

type Deed = 'change' | 'rotate' | 'disable' | 'enable' | 'delete'
interface Doing {
  readonly deed: Deed
  readonly apiKey: ApiKey
}

interface KeyDeedsProps {
  readonly context: PageContext
  readonly workspaces: Workspaces
  readonly apiKey: ApiKey
  onDone(): void
  onDeleted(): void
}

/** The actions for a key. Those that end its calls have a less prominent button and ask for confirmation. */
function KeyDeeds({ apiKey, ...props }: KeyDeedsProps): ComponentChild {
  const [deed, setDeed] = useState<Deed | null>(null)
  return (
    <div class="actions">
      {deedsOf(apiKey).map(([one, text]) => (
        <button
          key={one}
          type="button"
          class={one === 'disable' || one === 'delete' ? 'quiet' : undefined}
          onClick={() => setDeed(one)}
        >
          {text}
        </button>
      ))}
      {deed !== null && <Asked {...props} doing={{ deed, apiKey }} onClose={() => setDeed(null)} />}
    </div>
  )
}

function deedsOf({ disabled, kind }: ApiKey): readonly (readonly [Deed, string])[] {
  const turn = disabled ? (['enable', 'Enable'] as const) : (['disable', 'Disable'] as const)
  // An intern's key is created and deleted with the intern.
  return kind === 'intern' ? [turn] : [['change', 'Edit'], ['rotate', 'Rotate'], turn, ['delete', 'Delete']]
}

interface DeedsProps {
  readonly context: PageContext
  readonly workspaces: Workspaces
  readonly doing: Doing
  onDone(): void
  onDeleted(): void
  onClose(): void
}

/** The dialog for the chosen action. */
function Asked({
  context,
  workspaces,
  doing: { deed, apiKey: key },
  onDone,
  onDeleted,
  onClose,
}: DeedsProps): ComponentChild {
  const { api, say } = context
  const done = (text: string) => (): void => (say(text), onDone())
  const path = ['keys', key.hash]
  const own = key.hash === context.session.key.hash && (
    <p class="notice warn">You are signed in with this key.</p>
  )
  switch (deed) {
    case 'change':
      return (
        <KeyDialog
          context={context}
          workspaces={workspaces}
          changed={key}
          onDone={onDone}
          onClose={onClose}
        />
      )
    case 'rotate':
      return <RotateDialog context={context} apiKey={key} onDone={onDone} onClose={onClose} />
    case 'enable':
      return (
        <Confirm
          title={`Enable ${key.name}?`}
          text="Calls with this key work again."
          action="Enable"
          onClose={onClose}
          run={() => api.send('PATCH', path, { disabled: false }).then(done(`${key.name} enabled.`))}
        />
      )
    case 'disable':
      return (
        <Confirm
          title={`Disable ${key.name}?`}
          text={[own, <p key="what">Calls with this key are refused until the key is enabled again.</p>]}
          action="Disable"
          isDestructive
          onClose={onClose}
          run={() => api.send('PATCH', path, { disabled: true }).then(done(`${key.name} disabled.`))}
        />
      )
    case 'delete':
      return (
        <Confirm
          title={`Delete ${key.name}?`}
          text={[
            own,
            <p key="what">Calls with this key are refused permanently. The key's spend stays on record.</p>,
          ]}
          action="Delete key"
          isDestructive
          onClose={onClose}
          run={() => api.send('DELETE', path).then(() => (say(`${key.name} deleted.`), onDeleted()))}
        />
      )
  }
}
