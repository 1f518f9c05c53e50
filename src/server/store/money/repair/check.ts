import { ok, type Outcome } from '../../../../schemas/failures.ts'
import type { Store } from '../../base/open.ts'
import { reach } from '../../base/translate.ts'
import { checkStatement, type SumName } from './check-queries.ts'

/** One difference between a stored value and the sum of its parts. */
export interface Difference {
  /** Id of an account, or the name of another subject: `activity …`, `lease …`, `ledger …`. */
  readonly subject: string
  /** A column, such as `daily_spent_nano`. */
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

/** Differences of one kind that are reported: a wrong rule makes one in every account. Decision. */
export const DIFFERENCES_MAX = 100

interface CheckRow extends Difference {
  /** 0 for a sum. */
  readonly kind: number
  readonly counter: string
  readonly total: number
}

/**
 * Computes every counter and roll-up again, in one snapshot, so that the result is exact while others write:
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
