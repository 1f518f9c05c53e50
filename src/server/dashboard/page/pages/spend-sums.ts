import type { ActivityRow } from '../../../../schemas/money/activity.ts'
import type { ApiKey } from '../../../../schemas/keys/keys.ts'
import type { Api, Query } from '../api.ts'
import type { Day } from '../charts/forecast.ts'

export type Breakdown = 'model' | 'key' | 'workspace'
export const BREAKDOWNS: readonly (readonly [Breakdown, string])[] = [
  ['model', 'Model'],
  ['key', 'Key'],
  ['workspace', 'Workspace'],
]

const PAGE = 1_000
/** Rows of activity that are read at most; the page states when there are more. Decision. */
const DASHBOARD_ACTIVITY_ROWS_MAX = 10_000
/** Keys on one page of the list, and keys whose names are loaded: others are shown by the start of their hash. */
const KEY_PAGE = 100
const KEYS_MAX = 500
const DAY_MS = 86_400_000
export const DAY_S = 86_400

export interface Sums {
  readonly requests: number
  /** Tokens of prompts. */
  readonly tokens: number
  /** Tokens of prompts that a provider's cache had. */
  readonly cached: number
  /** Tokens of answers. */
  readonly output: number
  readonly usage: number
  readonly byok: number
  readonly forfeited: number
}
export interface Group extends Sums {
  /** Id of the workspace, hash of the key, id of the model. */
  readonly name: string
  /** Sums of each day in the period, the oldest first. */
  readonly daily: readonly Sums[]
}
export interface Spend {
  readonly total: Group
  /** Second since 1970 at which the first day begins. */
  readonly sinceS: number
  /** Those with the highest spend first. */
  readonly groups: Readonly<Record<Breakdown, readonly Group[]>>
  /** Keys whose names are known, by hash. */
  readonly keys: ReadonlyMap<string, ApiKey>
  /** True when there are more rows than were read. */
  readonly isPartial: boolean
  readonly rowsRead: number
}

/** @param search parameters of `GET /activity` */
export async function loadSpend(
  api: Api,
  { days, search = {} }: { readonly days: number; readonly search?: Query },
  signal: AbortSignal,
): Promise<Spend> {
  const from = new Date(Date.now() - (days - 1) * DAY_MS).toISOString().slice(0, 10)
  const [{ rows, total, to }, keys] = await Promise.all([
    rowsOf(api, { ...search, from }, signal),
    keysOf(api, signal),
  ])
  const dates: string[] = []
  for (let at = Date.parse(from); dates.length === 0 || at <= Date.parse(to); at += DAY_MS)
    dates.push(new Date(at).toISOString().slice(0, 10))
  const by = (nameOf: (row: ActivityRow) => string): readonly Group[] => summed(rows, nameOf, dates)
  return {
    total: groupOf('', rows, dates),
    sinceS: Date.parse(from) / 1_000,
    groups: {
      model: by(({ model }) => model),
      key: by((row) => row.key_hash),
      workspace: by((row) => row.workspace_id),
    },
    keys,
    isPartial: rows.length < total,
    rowsRead: rows.length,
  }
}

/** The days of the longest window of a limit. Also the default period of the page. */
export const DAYS_DEFAULT = '31'

/** The spend for burn-downs and forecasts. @param search parameters of `GET /activity`; left out: everything */
export const loadRecent = (api: Api, signal: AbortSignal, search: Query = {}): Promise<Spend> =>
  loadSpend(api, { days: Number(DAYS_DEFAULT), search }, signal)

/** The spend that counts against a limit of a workspace or a key. */
export const counted =
  (isByok: boolean) =>
  ({ usage, forfeited, byok }: Sums): number =>
    usage + forfeited + (isByok ? byok : 0)

/** An amount of each day. @param group undefined: nothing was called */
export function daysOf(
  { sinceS, total }: Spend,
  group: Group | undefined,
  amount: (day: Sums) => number,
): readonly Day[] {
  return total.daily.map((_, nth) => {
    const day = group?.daily[nth]
    return { at: sinceS + nth * DAY_S, usd: day === undefined ? 0 : amount(day) }
  })
}

async function rowsOf(
  api: Api,
  query: Query,
  signal: AbortSignal,
): Promise<{ readonly rows: readonly ActivityRow[]; readonly total: number; readonly to: string }> {
  const rows: ActivityRow[] = []
  for (;;) {
    const answer = await api.get<{ data: ActivityRow[]; total_count: number; to: string }>(
      ['activity'],
      { ...query, limit: PAGE, offset: rows.length },
      signal,
    )
    rows.push(...answer.data)
    if (answer.data.length < PAGE || rows.length >= DASHBOARD_ACTIVITY_ROWS_MAX)
      return { rows, total: answer.total_count, to: answer.to }
  }
}

async function keysOf(api: Api, signal: AbortSignal): Promise<Spend['keys']> {
  const keys = new Map<string, ApiKey>()
  for (let offset = 0; offset < KEYS_MAX; offset += KEY_PAGE) {
    const { data } = await api.get<{ data: readonly ApiKey[] }>(
      ['keys'],
      { offset, include_disabled: true },
      signal,
    )
    for (const key of data) keys.set(key.hash, key)
    if (data.length < KEY_PAGE) break
  }
  return keys
}

function summed(
  rows: readonly ActivityRow[],
  nameOf: (row: ActivityRow) => string,
  dates: readonly string[],
): readonly Group[] {
  return [...Map.groupBy(rows, nameOf)]
    .map(([name, all]) => groupOf(name, all, dates))
    .sort((a, b) => b.usage - a.usage || b.requests - a.requests)
}

function groupOf(name: string, rows: readonly ActivityRow[], dates: readonly string[]): Group {
  const byDay = Map.groupBy(rows, ({ date }) => date)
  return { name, ...added(rows), daily: dates.map((date) => added(byDay.get(date) ?? [])) }
}

function added(rows: readonly ActivityRow[]): Sums {
  const sum = (amount: (row: ActivityRow) => number): number =>
    rows.reduce((all, row) => all + amount(row), 0)
  return {
    requests: sum((row) => row.requests),
    tokens: sum((row) => row.tokens),
    cached: sum((row) => row.cached_tokens),
    output: sum((row) => row.output_tokens),
    usage: sum((row) => row.usage),
    byok: sum((row) => row.byok_usage),
    forfeited: sum((row) => row.forfeited),
  }
}
