import type { ActivityRow } from '../../../../schemas/money/activity.ts'
import type { ApiKey } from '../../../../schemas/keys/keys.ts'
import type { Api } from '../api.ts'

export type Breakdown = 'model' | 'key' | 'workspace'
export const BREAKDOWNS: readonly (readonly [Breakdown, string])[] = [
  ['model', 'Model'],
  ['key', 'Key'],
  ['workspace', 'Workspace'],
]

const PAGE = 1_000
/** Rows of activity that one look at what was spent reads; it says so when there are more. Decision. */
const DASHBOARD_ACTIVITY_ROWS_MAX = 10_000
/** Keys of one answer, and those whose names are asked for: others are shown by the start of their hash. */
const KEY_PAGE = 100
const KEYS_MAX = 500
const DAY_MS = 86_400_000

export interface Sums {
  readonly requests: number
  /** Tokens of prompts. */
  readonly tokens: number
  /** Of them those that a provider's cache had. */
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
}
export interface Spend {
  readonly total: Sums
  /** Every day of the time, also those without a call; seconds since 1970. */
  readonly days: readonly { readonly at: number; readonly usage: number }[]
  /** The dearest first. */
  readonly groups: Readonly<Record<Breakdown, readonly Group[]>>
  readonly keyNames: ReadonlyMap<string, string>
  /** There are more rows than were read. */
  readonly isPartial: boolean
  readonly rowsRead: number
}

export async function loadSpend(
  api: Api,
  { days, workspace }: { readonly days: number; readonly workspace: string },
  signal: AbortSignal,
): Promise<Spend> {
  const from = new Date(Date.now() - (days - 1) * DAY_MS).toISOString().slice(0, 10)
  const [{ rows, total, to }, keyNames] = await Promise.all([
    rowsOf(api, { from, workspace_id: workspace }, signal),
    keyNamesOf(api, signal),
  ])
  const byDay = new Map(summed(rows, ({ date }) => date).map((day) => [day.name, day.usage]))
  const count = Math.round((Date.parse(to) - Date.parse(from)) / DAY_MS) + 1
  return {
    total: added(rows),
    days: Array.from({ length: Math.max(1, count) }, (_, day) => {
      const at = Date.parse(from) + day * DAY_MS
      return { at: at / 1_000, usage: byDay.get(new Date(at).toISOString().slice(0, 10)) ?? 0 }
    }),
    groups: {
      model: summed(rows, ({ model }) => model),
      key: summed(rows, (row) => row.key_hash),
      workspace: summed(rows, (row) => row.workspace_id),
    },
    keyNames,
    isPartial: rows.length < total,
    rowsRead: rows.length,
  }
}

async function rowsOf(
  api: Api,
  query: Readonly<Record<string, string>>,
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

async function keyNamesOf(api: Api, signal: AbortSignal): Promise<ReadonlyMap<string, string>> {
  const names = new Map<string, string>()
  for (let offset = 0; offset < KEYS_MAX; offset += KEY_PAGE) {
    const { data } = await api.get<{ data: readonly ApiKey[] }>(
      ['keys'],
      { offset, include_disabled: true },
      signal,
    )
    for (const { hash, name, label } of data) names.set(hash, `${name} ${label}`)
    if (data.length < KEY_PAGE) break
  }
  return names
}

function summed(rows: readonly ActivityRow[], nameOf: (row: ActivityRow) => string): readonly Group[] {
  return [...Map.groupBy(rows, nameOf)]
    .map(([name, all]) => ({ name, ...added(all) }))
    .sort((a, b) => b.usage - a.usage || b.requests - a.requests)
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
