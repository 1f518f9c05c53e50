/** Four budgets, a key's limit and credit at once, each in turn the tightest. */
import { keyAccount, organizationAccount, workspaceAccount } from '../../../../src/schemas/money/accounts.ts'
import { until } from '../../../support/nodes/node.ts'
import { pause } from '../../../support/nodes/spawned.ts'
import type { SpendStand } from './spend-stand.ts'

/** Milliseconds in which every front has heard of a new day. */
const HEARD_MSOnce = 600
const INTERVALS = ['lifetime', 'monthly', 'weekly', 'daily'] as const

export interface Turn {
  readonly name: 'daily' | 'weekly' | 'monthly' | 'lifetime' | 'key' | 'credit'
  /** The authority's calendar during it. */
  readonly day: string
  readonly expected: Readonly<Record<string, unknown>>
}

/** Each day gives the windows before it some spend, so that a wider limit can be the tighter one. */
export const TURNS: readonly Turn[] = [
  {
    name: 'daily',
    day: '2031-07-08',
    expected: {
      limit_source: 'budget',
      scope: 'workspace',
      interval: 'daily',
      reset_at: '2031-07-09T00:00:00Z',
    },
  },
  {
    name: 'weekly',
    day: '2031-07-09',
    expected: {
      limit_source: 'budget',
      scope: 'workspace',
      interval: 'weekly',
      reset_at: '2031-07-14T00:00:00Z',
    },
  },
  {
    name: 'monthly',
    day: '2031-07-21',
    expected: {
      limit_source: 'budget',
      scope: 'workspace',
      interval: 'monthly',
      reset_at: '2031-08-01T00:00:00Z',
    },
  },
  {
    name: 'lifetime',
    day: '2031-08-05',
    expected: { limit_source: 'budget', scope: 'workspace', interval: 'lifetime' },
  },
  { name: 'key', day: '2031-08-06', expected: { limit_source: 'key_limit', scope: 'key' } },
  { name: 'credit', day: '2031-08-07', expected: { limit_source: 'credit', scope: 'organization' } },
]

export interface TightLimits {
  readonly bench: SpendStand
  /** Of the key that has a limit. */
  readonly hash: string
  readonly turn: Turn
  /** USD that the tightest limit leaves, and by which each wider one leaves more. */
  readonly restUsd: number
}

/** Begins the day of a turn, and sets its limits. */
export async function tighten(limits: TightLimits): Promise<void> {
  const { bench, turn } = limits
  await turnPage(bench, turn.day)
  await pause(HEARD_MSOnce)
  await untilTurned(bench, turn.day)
  await setLimits(limits)
}

/** The calendar of the authority, which no front looks at by itself. */
async function turnPage({ store }: SpendStand, day: string): Promise<void> {
  await store.sql.unsafe(
    `CREATE OR REPLACE FUNCTION utc_today() RETURNS date LANGUAGE sql VOLATILE AS $$ SELECT '${day}'::date $$`,
  )
}

/**
 * What a front holds of an older day it gives back as soon as it hears of this one: until then it counts in
 * the wider windows.
 */
async function untilTurned({ store }: SpendStand, day: string): Promise<void> {
  await until('all fronts have heard of the day', async () => {
    const [row] = await store.sql<
      { count: number }[]
    >`SELECT count(*)::int AS count FROM leases WHERE day < ${day}::date`
    return row?.count === 0
  })
}

/** All limits leave more than the turn's own; those of the workspace decrease strictly, as they must. */
async function setLimits({ bench, hash, turn, restUsd: rest }: TightLimits): Promise<void> {
  const { organization_id: organizationId, workspace_id: workspaceId } = bench.stand.keys
  const spent = await spentUsd(bench, workspaceAccount(workspaceId), turn.day)
  const restOf = (name: Turn['name']): number => (name === turn.name ? rest : 3 * rest)
  for (const interval of INTERVALS)
    await bench.manage('DELETE', `/workspaces/${workspaceId}/budgets/${interval}`)
  let above = Number.POSITIVE_INFINITY
  for (const interval of INTERVALS) {
    const limit = Math.min(spent[interval] + restOf(interval), above * 0.99)
    above = limit
    await bench.manage('PUT', `/workspaces/${workspaceId}/budgets/${interval}`, { limit_usd: round(limit) })
  }
  const key = await spentUsd(bench, keyAccount(hash), turn.day)
  await bench.manage('PATCH', `/keys/${hash}`, { limit: round(key.lifetime + restOf('key')) })
  const credit = await spentUsd(bench, organizationAccount(organizationId), turn.day)
  const { data } = await bench.manage('GET', '/credits')
  const { total_credits: total } = data as { total_credits: number }
  const wanted = round(total === 0 ? restOf('credit') : credit.lifetime + restOf('credit') - total)
  if (wanted !== 0) await bench.manage('POST', '/credits', { amount_usd: wanted, note: turn.name })
}

function round(usd: number): number {
  return Math.round(usd * 1e6) / 1e6
}

/** What counts in the windows of a day. */
async function spentUsd(
  { store }: SpendStand,
  id: string,
  day: string,
): Promise<Record<(typeof INTERVALS)[number], number>> {
  const [row] = await store.sql<{ daily: number; weekly: number; monthly: number; lifetime: number }[]>`
    SELECT CASE WHEN day = ${day}::date THEN daily_spent_nano ELSE 0 END / 1e9::float8 AS daily,
      CASE WHEN date_trunc('week', day) = date_trunc('week', ${day}::date) THEN weekly_spent_nano ELSE 0 END / 1e9::float8 AS weekly,
      CASE WHEN date_trunc('month', day) = date_trunc('month', ${day}::date) THEN monthly_spent_nano ELSE 0 END / 1e9::float8 AS monthly,
      lifetime_spent_nano / 1e9::float8 AS lifetime
    FROM accounts WHERE id = ${id}`
  if (row === undefined) throw new Error(`there is no account ${id}`)
  return row
}

/** Limits that are exceeded. An account keeps the windows of an older day until it is lent something. */
export async function overspent({ store }: SpendStand, day: string): Promise<readonly string[]> {
  const rows = await store.sql<{ id: string; span: string }[]>`
    SELECT a.id, l.span FROM accounts a JOIN account_limits l ON l.account_id = a.id
    WHERE l.limit_nano < CASE l.span
      WHEN 'daily' THEN CASE WHEN a.day = ${day}::date THEN a.daily_spent_nano + a.daily_lent_nano ELSE 0 END
      WHEN 'weekly' THEN CASE WHEN date_trunc('week', a.day) = date_trunc('week', ${day}::date)
        THEN a.weekly_spent_nano + a.weekly_lent_nano ELSE 0 END
      WHEN 'monthly' THEN CASE WHEN date_trunc('month', a.day) = date_trunc('month', ${day}::date)
        THEN a.monthly_spent_nano + a.monthly_lent_nano ELSE 0 END
      ELSE a.lifetime_spent_nano + a.lifetime_lent_nano END`
  return rows.map(({ id, span }) => `${span} of ${id}`)
}
