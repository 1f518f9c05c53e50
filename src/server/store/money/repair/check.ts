import { ok, type Outcome } from '../../../../schemas/failures.ts'
import { SPANS } from '../../../ports/money/money.ts'
import type { Store } from '../../base/open.ts'
import { reach } from '../../base/translate.ts'
import { capped, CONTRIBUTIONS, factsOf, inWindow, MONTHS } from './sums.ts'

/** One difference between a stored value and the sum of its parts. */
export interface Difference {
  /** Id of an account, or the name of another subject: `activity …`, `lease …`, `ledger …`. */
  readonly subject: string
  /** Name of a column, such as `daily_spent_nano`. */
  readonly counter: string
  /** The sum of the ledger, the leases or the credits; null = no sum. */
  readonly expected: string | null
  /** The stored value. */
  readonly found: string | null
}

/** Sums over all rows that were checked. Whole nano-USD. */
export interface LedgerSums {
  readonly rows: number
  readonly accounts: number
  readonly activityRows: number
  readonly leases: number
  /** First days of the months that are still stored, `YYYY-MM-DD`. */
  readonly months: readonly string[]
  readonly spentNano: bigint
  readonly byokNano: bigint
  /** Forfeits of known calls. */
  readonly forfeitedNano: bigint
  /** Lent to fronts, over all accounts. */
  readonly lentNano: bigint
  /** Held by open video jobs, over all accounts. */
  readonly heldNano: bigint
  /** Sums of dropped months in accounts of organizations. */
  readonly prunedNano: bigint
}

export interface LedgerCheck {
  readonly sums: LedgerSums
  /** The first DIFFERENCES_MAX of each kind, in the order of their subjects. */
  readonly differences: readonly Difference[]
  /** Number of all differences. */
  readonly count: number
}

/** Differences of one kind that are reported; a single bug can cause one in every account. Decision. */
export const DIFFERENCES_MAX = 100

interface CheckRow extends Difference {
  /** 0 for a sum. */
  readonly kind: number
  readonly counter: string
  readonly total: number
}

/**
 * Recomputes every counter and roll-up in one snapshot, so that the result is exact even while others write:
 * the spend of accounts in their current windows, from the ledger and the sums of its dropped months; lent
 * money, from the leases; an organization's limit, from its credits; activity, for the stored months. Nothing
 * is locked. Failure: store_unavailable.
 */
export function checkLedger(store: Store): Promise<Outcome<LedgerCheck>> {
  return reach(() =>
    store.sql.begin('ISOLATION LEVEL REPEATABLE READ READ ONLY', async (tx) => {
      await tx.unsafe(`SET LOCAL statement_timeout = 0; SET LOCAL work_mem = '64MB'`)
      const rows = await tx.unsafe<CheckRow[]>(checkStatement(DIFFERENCES_MAX))
      const totals = new Map(rows.map(({ kind, total }) => [kind, kind === 0 ? 0 : total]))
      const differences = rows
        .filter(({ kind }) => kind > 0)
        .map(({ subject, counter, expected, found }) => ({ subject, counter, expected, found }))
      const count = [...totals.values()].reduce((sum, total) => sum + total, 0)
      return ok({ sums: sumsOf(rows.filter(({ kind }) => kind === 0)), differences, count })
    }),
  )
}

function sumsOf(rows: readonly CheckRow[]): LedgerSums {
  const texts = new Map(rows.map(({ counter, found }) => [counter, found]))
  const nano = (name: SumName): bigint => BigInt(texts.get(name) ?? 0)
  return {
    rows: Number(nano('rows')),
    accounts: Number(nano('accounts')),
    activityRows: Number(nano('activityRows')),
    leases: Number(nano('leases')),
    months: (texts.get('months') ?? '').split(' ').filter((month) => month !== ''),
    spentNano: nano('spentNano'),
    byokNano: nano('byokNano'),
    forfeitedNano: nano('forfeitedNano'),
    lentNano: nano('lentNano'),
    heldNano: nano('heldNano'),
    prunedNano: nano('prunedNano'),
  }
}

const SPENT = SPANS.flatMap((span) =>
  (['spent', 'byok'] as const).map((what) => ({
    column: `${span}_${what}_nano`,
    // The sums of dropped months count only in the lifetime window.
    sum: capped(
      `COALESCE(sum(c.${what}) FILTER (WHERE ${inWindow(span)}), 0)${span === 'lifetime' ? ` + COALESCE(max(p.${what}_nano), 0)` : ''}`,
    ),
  })),
)

const LENT = SPANS.map((span) => ({
  column: `${span}_lent_nano`,
  sum: `COALESCE(sum(c.lent_nano) FILTER (WHERE ${inWindow(span)}), 0)`,
}))

const ROLLED_UP = [
  'requests',
  'tokens',
  'output_tokens',
  'cached_tokens',
  'milliseconds',
  'spent_nano',
  'byok_nano',
  'forfeited_nano',
].map((column) => ({ column }))

const COMPARED = 'v.counter, v.expected::text AS expected, v.found::text AS found'

/** This query and the following ones have the columns subject, counter, expected and found, and a row for each difference. */
const ACCOUNTS = `
  SELECT f.id AS subject, ${COMPARED}
  FROM accounts f JOIN (
    SELECT a.id, ${SPENT.map(({ column, sum }) => `${sum} AS ${column}`).join(', ')}
    FROM accounts a LEFT JOIN contributions c ON c.account_id = a.id LEFT JOIN ledger_pruned p ON p.account_id = a.id
    GROUP BY a.id) AS e ON e.id = f.id
  ${differing(SPENT)}`

const LEASES = `
  SELECT f.id AS subject, ${COMPARED}
  FROM accounts f JOIN (
    SELECT a.id, ${LENT.map(({ column, sum }) => `${sum} AS ${column}`).join(', ')}
    FROM accounts a LEFT JOIN leases c ON c.account_id = a.id GROUP BY a.id) AS e ON e.id = f.id
  ${differing(LENT)}`

const CREDITS = `
  SELECT COALESCE(l.account_id, 'o' || c.organization_id) AS subject, 'lifetime limit_nano' AS counter, c.amount::text AS expected,
    l.limit_nano::text AS found
  FROM (SELECT organization_id, sum(amount_nano) AS amount FROM credits GROUP BY organization_id) AS c
  FULL JOIN (SELECT * FROM account_limits WHERE account_id LIKE 'o%' AND span = 'lifetime') AS l
    ON l.account_id = 'o' || c.organization_id
  WHERE c.amount IS DISTINCT FROM l.limit_nano`

const ACTIVITY = `
  SELECT concat_ws(' ', 'activity', COALESCE(e.day, f.day), COALESCE(e.workspace_id, f.workspace_id), COALESCE(e.key_hash, f.key_hash),
    COALESCE(e.model, f.model)) AS subject, ${COMPARED}
  FROM (
    SELECT organization_id, day, workspace_id, key_hash, model, sum(requests) AS requests, sum(tokens) AS tokens,
      sum(output_tokens) AS output_tokens, sum(cached_tokens) AS cached_tokens,
      sum(milliseconds) AS milliseconds, ${capped('sum(paid)')} AS spent_nano, ${capped('sum(byok)')} AS byok_nano,
      ${capped('sum(forfeited)')} AS forfeited_nano
    FROM facts WHERE account_id IS NULL GROUP BY organization_id, day, workspace_id, key_hash, model) AS e
  FULL JOIN (SELECT * FROM activity WHERE day >= (SELECT min(first) FROM months)) AS f
    ON f.organization_id = e.organization_id AND f.day = e.day AND f.workspace_id = e.workspace_id AND f.key_hash = e.key_hash
      AND f.model = e.model
  ${differing(ROLLED_UP)}`

/** Rows whose owner is missing. */
const ORPHANS = `
  SELECT concat_ws(' ', 'lease', l.journal_id, l.account_id, l.day) AS subject, 'account' AS counter, 'an account' AS expected, 'none' AS found
  FROM leases l WHERE NOT EXISTS (SELECT FROM accounts a WHERE a.id = l.account_id)
  UNION ALL
  SELECT concat_ws(' ', 'lease', l.journal_id, l.account_id, l.day), 'journal', 'an open journal', COALESCE(j.state, 'none')
  FROM leases l LEFT JOIN journals j ON j.id = l.journal_id WHERE NOT l.is_hold AND j.state IS DISTINCT FROM 'open'
  UNION ALL
  SELECT concat_ws(' ', 'hold', l.journal_id, l.account_id, l.day), 'job', 'an open job', COALESCE(v.state, 'none')
  FROM leases l LEFT JOIN video_jobs v ON v.hold_id = l.journal_id
  WHERE l.is_hold AND (v.state IS NULL OR v.state NOT IN ('accepted', 'submitting', 'running', 'storing'))
  UNION ALL
  SELECT 'owner ' || o.account_id, 'account', 'an account', 'none'
  FROM (
    SELECT 'o' || id AS account_id FROM organizations UNION ALL SELECT 'w' || id FROM workspaces
    UNION ALL SELECT account_id FROM api_keys) AS o
  WHERE NOT EXISTS (SELECT FROM accounts a WHERE a.id = o.account_id)
  UNION ALL
  SELECT 'ledger', 'rows of an unknown ' || what, '0', sum(rows)::text
  FROM (
    SELECT u.rows, CASE WHEN u.account_id IS NOT NULL THEN 'account ' || u.account_id
      WHEN k.hash IS NULL THEN 'key ' || COALESCE(u.key_hash, '') ELSE 'workspace ' || COALESCE(u.workspace_id::text, '') END AS what
    FROM facts u
    LEFT JOIN api_keys k ON k.hash = u.key_hash AND k.organization_id = u.organization_id
    LEFT JOIN workspaces w ON w.id = u.workspace_id AND w.organization_id = u.organization_id
    LEFT JOIN accounts a ON a.id = u.account_id
    WHERE CASE WHEN u.account_id IS NOT NULL THEN a.id IS NULL ELSE k.hash IS NULL OR w.id IS NULL END) AS unknown
  GROUP BY what
  UNION ALL
  SELECT 'ledger', 'rows of which more was released than they cost', '0', sum(wrongly_released)::text
  FROM facts HAVING sum(wrongly_released) > 0`

const SUMS = {
  rows: 'SELECT sum(rows) FROM facts',
  accounts: 'SELECT count(*) FROM accounts',
  activityRows: 'SELECT count(*) FROM activity',
  leases: 'SELECT count(*) FROM leases',
  spentNano: 'SELECT sum(paid) FROM facts',
  byokNano: 'SELECT sum(byok) FROM facts',
  forfeitedNano: 'SELECT sum(forfeited) FROM facts WHERE key_hash IS NOT NULL',
  lentNano: 'SELECT sum(lent_nano) FROM leases WHERE NOT is_hold',
  heldNano: 'SELECT sum(lent_nano) FROM leases WHERE is_hold',
  prunedNano: `SELECT sum(spent_nano + byok_nano) FROM ledger_pruned WHERE account_id LIKE 'o%'`,
  months: `SELECT string_agg(first::text, ' ' ORDER BY first) FROM months`,
} as const

/** Rows of kind 0 are sums: `counter` holds their names, `found` their values. */
type SumName = keyof typeof SUMS

/**
 * One statement reads the ledger once: rows with kind, subject, counter, expected, found, and `total` of the
 * kind. @param countMax rows of one kind
 */
function checkStatement(countMax: number): string {
  const sums = Object.entries(SUMS).map(
    ([name, query]) =>
      `SELECT 0 AS kind, '' AS subject, '${name}' AS counter, NULL AS expected, (${query})::text AS found`,
  )
  const kinds = [ACCOUNTS, LEASES, CREDITS, ACTIVITY, ORPHANS].map(
    (query, nth) => `SELECT ${nth + 1}, subject, counter, expected, found FROM (${query}) AS of_kind`,
  )
  return `
    WITH facts AS MATERIALIZED (${factsOf('ledger')}), contributions AS MATERIALIZED (${CONTRIBUTIONS}), months AS (${MONTHS}),
    diffs AS (${[...sums, ...kinds].join(' UNION ALL ')})
    SELECT * FROM (
      SELECT *, (count(*) OVER (PARTITION BY kind))::int AS total, row_number() OVER (PARTITION BY kind ORDER BY subject, counter) AS nth FROM diffs) AS diffs
    WHERE nth <= ${countMax} ORDER BY kind, nth`
}

interface Column {
  readonly column: string
}

/** `e`: the sums of the parts; `f`: the stored values. A side without a row counts as 0. */
function differing(columns: readonly Column[]): string {
  const pairs = columns.map(
    ({ column }) => `('${column}', COALESCE(e.${column}, 0), COALESCE(f.${column}, 0))`,
  )
  return `CROSS JOIN LATERAL (VALUES ${pairs.join(', ')}) AS v (counter, expected, found) WHERE v.expected <> v.found`
}
