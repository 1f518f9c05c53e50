import { type ComponentChild, h } from 'preact'
import { useState } from 'preact/hooks'
import type { ApiKey } from '../../../../schemas/keys/keys.ts'
import type { RequestShape } from '../../../../schemas/requests/requests.ts'
import type { Page, PageContext } from '../page.ts'
import { Badge, Meter } from '../parts/badge.tsx'
import { type Column, LoadedTable } from '../parts/data-table.tsx'
import { CheckField, SelectField } from '../parts/fields.tsx'
import { count, NONE, relative, Time, usd } from '../parts/figures.tsx'
import { namesOf } from '../parts/key-names.ts'
import { type Loaded, useLoaded } from '../parts/loaded.tsx'
import { offsetOf, Pager } from '../parts/pager.tsx'
import { SubjectLink } from '../parts/links.tsx'
import { useWorkspaces, type Workspaces } from '../parts/workspaces.ts'
import { messageOf } from '../api.ts'
import { Confirm } from '../parts/dialog.tsx'
import { callLimitLines } from './key-numbers.tsx'
import { KeyDialog } from './key-dialogs.tsx'
import { DAY_S, loadRecent, type Group } from './spend-sums.ts'

export const keysPage: Page = {
  path: 'keys',
  title: 'Keys',
  letter: 'k',
  view: (context) => <Keys {...context} />,
}

/** Characters at the end of a key's random part, as labels show them: they distinguish keys of one kind. */
const ENDS_CHARS = 9
/** Keys on one page of the list, which has no total. */
const PAGE = 100

/** API keys with their scopes and limits. */
function Keys(context: PageContext): ComponentChild {
  const { api, query, setQuery } = context
  const workspaces = useWorkspaces(api)
  const { workspace, offset, showsDisabled, loaded } = useKeys(context)
  const [hashes, setHashes] = useState<ReadonlySet<string>>(new Set())
  const selection = { hashes, set: setHashes }
  const uses = useLastUses(context)
  const columns = listColumns({ context, workspaces, selection, uses, keys: loaded.value ?? [] })
  return (
    <div>
      <div class="head">
        <div class="filters">
          <SelectField
            label="Workspace"
            value={workspace}
            options={workspaces.options('All')}
            onInput={(value) => setQuery({ workspace: value, offset: null })}
          />
          <CheckField
            label="Include disabled keys"
            isOn={showsDisabled}
            onChange={(isOn) => setQuery({ disabled: isOn ? 'shown' : null, offset: null })}
          />
        </div>
        <button type="button" class="primary" onClick={() => setQuery({ do: 'create' })}>
          Create key
        </button>
      </div>
      <section class="panel">
        <DisableSelected
          context={context}
          selection={selection}
          keys={loaded.value ?? []}
          onDone={loaded.reload}
        />
        <LoadedTable<ApiKey>
          caption="API keys"
          columns={columns}
          loaded={loaded}
          found={context}
          keyOf={({ hash }) => hash}
          empty={`${workspace === '' ? 'No keys yet' : 'No keys in this workspace'}. Create a key to call models.`}
        />
        <Pager
          offset={offset}
          limit={PAGE}
          shown={loaded.value?.length ?? 0}
          total={null}
          onMove={(to) => setQuery({ offset: to === 0 ? null : String(to) })}
        />
      </section>
      {query.get('do') === 'create' && (
        <KeyDialog
          context={context}
          workspaces={workspaces}
          key="new"
          changed={null}
          onDone={loaded.reload}
          onClose={() => setQuery({ do: null })}
        />
      )}
    </div>
  )
}

function useKeys({ api, query }: PageContext): AskedKeys {
  const [workspace, offset, showsDisabled] = [
    query.get('workspace') ?? '',
    offsetOf(query),
    query.get('disabled') === 'shown',
  ]
  const loaded = useLoaded(
    async (signal) =>
      (
        await api.get<{ data: readonly ApiKey[] }>(
          ['keys'],
          { workspace_id: workspace, offset, include_disabled: showsDisabled },
          signal,
        )
      ).data,
    [api, workspace, offset, showsDisabled],
  )
  return { workspace, offset, showsDisabled, loaded }
}

interface AskedKeys {
  readonly workspace: string
  readonly offset: number
  readonly showsDisabled: boolean
  readonly loaded: Loaded<readonly ApiKey[]>
}

interface ListInput {
  readonly context: PageContext
  readonly workspaces: Workspaces
  readonly selection: Selection
  /** Undefined: not loaded yet. */
  readonly uses: ReadonlyMap<string, LastUse> | undefined
  readonly keys: readonly ApiKey[]
}

/** The columns of the page: the columns of every table of keys, the last use, and a checkbox. */
function listColumns({ context, workspaces, selection, uses, keys }: ListInput): readonly Column<ApiKey>[] {
  const ownHash = context.session.key.hash
  const names = namesOf(keys)
  const nameOf = (hash: string): string => names.get(hash) ?? hash
  return [
    ...keyColumns(workspaces, ownHash, nameOf),
    {
      title: 'Last used',
      cell: ({ hash, created_at: at }) => [
        uses !== undefined && <LastUsed key="used" use={uses.get(hash)} />,
        <span key="created" class="hint line">
          {'created '}
          <Time at={at} />
        </span>,
      ],
      sortBy: ({ hash }) => uses?.get(hash)?.at ?? '',
    },
    selectColumn(selection, { nameOf, ownHash }),
  ]
}

function LastUsed({ use }: { readonly use: LastUse | undefined }): ComponentChild {
  if (use === undefined) return <span title="No calls in the last 31 days">{NONE}</span>
  if (!use.isDay) return <Time at={use.at} />
  const day = new Date(use.at)
  return (
    <time dateTime={use.at.slice(0, 10)} title={`${use.at.slice(0, 10)} (UTC)`}>
      {day.toLocaleDateString('en-GB', { day: '2-digit', month: 'short', timeZone: 'UTC' })}
    </time>
  )
}

/** The columns of a table of keys. @param ownHash of the key of the session @param nameOf absent: the names of the keys are used */
export function keyColumns(
  workspaces: Workspaces,
  ownHash: string,
  nameOf?: (hash: string) => string,
): readonly Column<ApiKey>[] {
  return [
    {
      title: 'Name',
      isName: true,
      sortBy: ({ name }) => name,
      cell: (key) => [
        <SubjectLink key="name" to="key" id={key.hash} text={nameOf?.(key.hash) ?? key.name} />,
        ' ',
        key.hash === ownHash && <Badge key="own" text="this session" />,
        <span key="label" class="hint line">
          {`${key.kind} `}
          <span class="mono" title={key.label}>
            {key.label.slice(-ENDS_CHARS)}
          </span>
        </span>,
      ],
    },
    {
      title: 'Workspace',
      cell: ({ kind, workspace_id: id }) =>
        kind === 'management' ? 'all' : <SubjectLink to="workspace" id={id} text={workspaces.nameOf(id)} />,
    },
    {
      title: 'State',
      sortBy: (key) => key.created_at,
      cell: (key) => <KeyState apiKey={key} />,
    },
    {
      title: 'Expires',
      sortBy: ({ expires_at: at }) => at ?? '9',
      cell: ({ expires_at: at }) => (at === undefined ? <span class="hint">never</span> : <Time at={at} />),
    },
    { title: 'Limits', cell: (key) => <KeyLimits apiKey={key} /> },
    {
      title: 'This month',
      isNumber: true,
      cell: (key) => usd(key.usage_monthly),
      sortBy: (key) => key.usage_monthly,
    },
  ]
}

export function KeyState({
  apiKey: { disabled, expires_at: at },
}: {
  readonly apiKey: ApiKey
}): ComponentChild {
  if (disabled) return <Badge text="disabled" tone="warn" />
  if (at === undefined || Date.parse(at) > Date.now()) return <Badge text="active" tone="good" />
  return <Badge text={`expired ${relative(at)}`} tone="bad" title={at} />
}

function rateText(rate: number, burst: number | null): string {
  return `${count(rate)} requests/min${burst === null ? '' : `, burst ${count(burst)}`}`
}

export function KeyLimits({ apiKey }: { readonly apiKey: ApiKey }): ComponentChild {
  const { name, limit, limit_remaining: left, limit_reset: reset, scopes } = apiKey
  const { rate_limit_rpm: rate, rate_limit_burst: burst } = apiKey
  const calls = callLimitLines(apiKey)
  if (limit === null && rate === null && scopes === null && calls.length === 0)
    return <span class="hint">none</span>
  const spent = (limit ?? 0) - (left ?? 0)
  return (
    <div>
      {limit !== null && (
        <Meter
          label={`Spend of ${name} against its limit`}
          value={spent}
          max={limit}
          text={`${usd(spent)} of ${usd(limit)} ${reset ?? '(lifetime)'}`}
        />
      )}
      {rate !== null && <span class="hint line">{rateText(rate, burst)}</span>}
      {calls.map((text) => (
        <span class="hint line" key={text}>
          {text}
        </span>
      ))}
      {scopes !== null && (
        <span class="hint line">{scopes.length === 0 ? 'no scopes' : scopes.join(', ')}</span>
      )}
    </div>
  )
}

/** Newest calls that are read: for their keys the last use is known to the second. */
const CALLS_READ = 500

interface LastUse {
  readonly at: string
  /** True if only the day is known: `at` is then the start of that day in UTC. */
  readonly isDay: boolean
}

/** Last use of each key, by hash: to the second from the newest calls, to the day from older ones. */
function useLastUses({ api }: PageContext): ReadonlyMap<string, LastUse> | undefined {
  return useLoaded(
    async (signal) => {
      const [recent, calls] = await Promise.all([
        loadRecent(api, signal),
        api.get<{ data: readonly Call[] }>(['admin', 'requests'], { limit: CALLS_READ }, signal),
      ])
      return lastUsesOf(calls.data, recent.groups.key, recent.sinceS)
    },
    [api],
  ).value
}

type Call = Pick<RequestShape, 'key' | 'ended_at'>

/** @param calls the newest first @param groups of keys, with daily sums from `sinceS` */
export function lastUsesOf(
  calls: readonly Call[],
  groups: readonly Pick<Group, 'name' | 'daily'>[],
  sinceS: number,
): ReadonlyMap<string, LastUse> {
  const found = new Map<string, LastUse>()
  for (const { name, daily } of groups) {
    const day = daily.findLastIndex(({ requests }) => requests > 0)
    if (day >= 0) found.set(name, { at: new Date((sinceS + day * DAY_S) * 1_000).toISOString(), isDay: true })
  }
  for (const { key, ended_at: at } of calls.toReversed())
    if (key !== null) found.set(key, { at, isDay: false })
  return found
}

interface Selection {
  readonly hashes: ReadonlySet<string>
  set(hashes: ReadonlySet<string>): void
}

/** A checkbox in each row, except for the key of the session and disabled keys. */
function selectColumn(
  { hashes, set }: Selection,
  { nameOf, ownHash }: { nameOf(hash: string): string; readonly ownHash: string },
): Column<ApiKey> {
  const turn = (hash: string): void => {
    const next = new Set(hashes)
    if (!next.delete(hash)) next.add(hash)
    set(next)
  }
  return {
    title: 'Select',
    cell: ({ hash, disabled }) =>
      hash !== ownHash &&
      !disabled && (
        <input
          type="checkbox"
          aria-label={`Select ${nameOf(hash)}`}
          checked={hashes.has(hash)}
          onChange={() => turn(hash)}
        />
      ),
  }
}

interface DisableProps {
  readonly context: PageContext
  readonly selection: Selection
  readonly keys: readonly ApiKey[]
  onDone(): void
}

/** Disables the selected keys of the list, after a confirmation. */
function DisableSelected({ context, selection, keys, onDone }: DisableProps): ComponentChild {
  const [isAsking, setAsking] = useState(false)
  const chosen = keys.filter(({ hash }) => selection.hashes.has(hash))
  if (chosen.length === 0) return null
  const many = chosen.length === 1 ? '1 key' : `${count(chosen.length)} keys`
  const run = async (): Promise<void> => {
    try {
      for (const [nth, { hash, name }] of chosen.entries())
        await disable(context, hash).catch((problem: unknown) => {
          throw new Error(`${count(nth)} of ${many} disabled. ${name}: ${messageOf(problem)}`)
        })
      context.say(`${many} disabled.`)
      selection.set(new Set())
    } finally {
      onDone()
    }
  }
  return (
    <div class="actions">
      <button type="button" onClick={() => setAsking(true)}>
        {`Disable ${many}`}
      </button>
      {isAsking && (
        <Confirm
          title={`Disable ${many}?`}
          text={[
            <p key="what">Calls with these keys are refused until the keys are enabled again.</p>,
            <ul key="names">
              {chosen.map(({ hash, name }) => (
                <li key={hash}>{name}</li>
              ))}
            </ul>,
          ]}
          action={`Disable ${many}`}
          isDestructive
          run={run}
          onClose={() => setAsking(false)}
        />
      )}
    </div>
  )
}

function disable({ api }: PageContext, hash: string): Promise<unknown> {
  return api.send('PATCH', ['keys', hash], { disabled: true })
}
