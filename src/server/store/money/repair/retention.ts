import { FRONT_LIVE_MS } from '../../../../schemas/limits/limits.ts'
import { ACCOUNTS_TURNED_AT_ONCE } from '../../../../schemas/operator/retention-limits.ts'
import { SPANS } from '../../../ports/money/money.ts'
import type { Log } from '../../../ports/observe.ts'
import type { PruneEnd, PruneStep } from '../../../ports/operator/retention.ts'
import type { Store } from '../../base/open.ts'
import { renewLease } from '../../base/retention-lease.ts'
import { beginClosing, drop, sumSome, type Closing, type Hold, type Month } from './closing.ts'
import { inWindow, MONTHS } from './sums.ts'

/**
 * Times that the sums of a month are begun anew in one run, when another transaction writes to it meanwhile.
 * Decision.
 */
const CLOSED_ANEW_MAX = 3

export interface PrunedMonths {
  readonly months: number
  readonly rows: number
  /**
   * Due months that stay while journals of dead nodes, money lent in them, or jobs that began in them may
   * still change them.
   */
  readonly held: number
}

const NONE: PrunedMonths = { months: 0, rows: 0, held: 0 }

interface DueMonth extends Month {
  readonly isHeld: boolean
}

/**
 * Drops whole months of the ledger that are older than the current one and `keptMonths` before it. The sums
 * of each account are added to `ledger_pruned` in the transaction that drops, so that `checkLedger` stays
 * exact; activity stays. Months of current windows stay in any case. Several runs at once do no harm.
 * @param keptMonths 0 = without end. Throws the errors of Postgres: a reader that holds the ledger too long
 * leaves the month to the next run.
 */
export async function pruneLedger(store: Store, keptMonths: number): Promise<PrunedMonths> {
  const done = { ...NONE }
  for await (const { months, rows, held } of pruneMonths(store, keptMonths, () => Promise.resolve(true))) {
    done.months += months
    done.rows += rows
    done.held += held
  }
  return done
}

/** Does the same as `pruneLedger` under the runner's lease, with rests between the steps. */
export function ledgerMonths({
  store,
  keptMonths,
  log,
}: {
  readonly store: Store
  readonly keptMonths: number
  readonly log: Log
}): PruneStep {
  return {
    kind: 'ledger',
    keptFor: keptMonths < 1 ? null : { count: keptMonths, unit: 'months' },
    async *run(lease) {
      let held = 0
      const steps = pruneMonths(store, keptMonths, (tx) => renewLease(tx, lease))
      for (;;) {
        const step = await steps.next()
        if (step.done === true) {
          if (held > 0) log.info('retention.ledger_held', { months: held })
          return step.value
        }
        held += step.value.held
        yield step.value.rows
      }
    },
    async due() {
      let rows = 0
      for (const { partition, isHeld } of keptMonths < 1 ? [] : await monthsDue(store, keptMonths))
        if (!isHeld) rows += await rowsOf(store, partition)
      return rows
    },
    async oldest() {
      const [row] = await store.sql.unsafe<{ at: Date | null }[]>(
        `SELECT min(first)::timestamp AT TIME ZONE 'UTC' AS at FROM (${MONTHS}) AS m`,
      )
      return row?.at ?? null
    },
  }
}

/** Each step is a short transaction, and yields its counts. */
async function* pruneMonths(
  store: Store,
  keptMonths: number,
  hold: Hold,
): AsyncGenerator<PrunedMonths, PruneEnd, void> {
  if (keptMonths < 1) return 'done'
  let isLost = false
  const holding: Hold = async (tx) => {
    isLost ||= !(await hold(tx))
    return !isLost
  }
  for (const month of await monthsDue(store, keptMonths)) {
    if (month.isHeld) yield { ...NONE, held: 1 }
    else yield* pruneMonth({ store, month, hold: holding })
    if (isLost) return 'lost'
  }
  return 'done'
}

async function* pruneMonth(closing: Closing): AsyncGenerator<PrunedMonths, void, void> {
  for (let after: string | null = ''; after !== null; yield NONE)
    after = await turnAccounts(closing.store, closing.month, after)
  if (!(await beginClosing(closing))) return
  for (let anew = 0; anew < CLOSED_ANEW_MAX; anew++) {
    let summed = await sumSome(closing)
    for (; summed === 'more'; summed = await sumSome(closing)) yield NONE
    if (summed === 'gone') return
    yield NONE
    const rows = await drop(closing)
    if (rows !== null) {
      yield { months: 1, rows, held: 0 }
      return
    }
  }
  yield { ...NONE, held: 1 }
}

/**
 * Due months, oldest first. A ledger row may still come from a journal that was open in the month and whose
 * front is dead, and from a job that is open since then, with a hold or without a limit: its cost counts in
 * the window of its acceptance.
 */
async function monthsDue({ sql }: Store, keptMonths: number): Promise<readonly DueMonth[]> {
  return sql<DueMonth[]>`
    SELECT partition, first::text AS first,
      EXISTS (SELECT FROM leases WHERE day < next)
      OR EXISTS (SELECT FROM video_jobs WHERE hold_day < next AND state IN ('accepted', 'submitting', 'running', 'storing'))
      OR EXISTS (
        SELECT FROM journals j WHERE state = 'open' AND opened_at < next AND NOT EXISTS (
          SELECT FROM fronts f WHERE f.id = j.id AND f.heartbeat_at > clock_timestamp() - ${FRONT_LIVE_MS} * interval '1 ms')) AS "isHeld"
    FROM (${sql.unsafe(MONTHS)}) AS partitions
    WHERE first < date_trunc('month', utc_today()) - ${keptMonths} * interval '1 month'
    ORDER BY first`
}

/**
 * Moves accounts that were not used since the month to the current windows, as their next use would.
 * @param after id of the last account of the previous batch @returns id of the last account of this batch;
 * null when there are no more
 */
async function turnAccounts(store: Store, { first }: Month, after: string): Promise<string | null> {
  const sets = SPANS.filter((span) => span !== 'lifetime').flatMap((span) =>
    ['spent', 'byok', 'lent'].map(
      (what) => `${span}_${what}_nano = CASE WHEN ${inWindow(span)} THEN a.${span}_${what}_nano ELSE 0 END`,
    ),
  )
  const turned = await store.sql.begin((tx) =>
    tx.unsafe<{ id: string }[]>(
      `
    WITH due AS (
      SELECT id FROM accounts WHERE id > $2 AND day < $1::date + interval '1 month 6 days' AND day < utc_today()
      ORDER BY id LIMIT ${ACCOUNTS_TURNED_AT_ONCE} FOR UPDATE)
    UPDATE accounts a SET ${sets.join(', ')}, day = c.day FROM due, (SELECT utc_today() AS day) AS c WHERE a.id = due.id RETURNING a.id`,
      [first, after],
    ),
  )
  return turned.length < ACCOUNTS_TURNED_AT_ONCE
    ? null
    : turned.map(({ id }) => id).reduce((last, id) => (id > last ? id : last), '')
}

function rowsOf(store: Store, partition: string): Promise<number> {
  return store.sql.begin('READ ONLY', async (tx) => {
    await tx.unsafe('SET LOCAL statement_timeout = 0')
    const [row] = await tx<{ rows: number }[]>`SELECT count(*)::float8 AS rows FROM ${tx(partition)}`
    return row?.rows ?? 0
  })
}
