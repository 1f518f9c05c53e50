import type { JournalOptions } from '../../../src/server/journal/journal.ts'
import type { RecoveryOptions } from '../../../src/server/journal/recovery.ts'
import type { TakeProgress } from '../../../src/server/ports/money/lending.ts'
import type { AccountKind } from '../../../src/server/ports/money/money.ts'
import { journalState } from '../../../src/server/store/nodes/journals.ts'
import { openLender } from '../../../src/server/store/money/lender.ts'
import type { Store } from '../../../src/server/store/base/open.ts'
import { openFolder } from '../files/storage.ts'
import { keptLog, SILENT } from '../log.ts'
import { openTestStore } from '../stores/postgres.ts'
import { journalIn, someProgress, TEST_BOOT } from './journal.ts'
import { imbalances, makeOwners, openTake, setLimit, settlement, type Owners } from './money.ts'

const PAID = { organization: true, workspace: true, key: true }
export const BOUND = 1_000
export const COST = 400
export const LENT = 10_000

export interface DeadFrontOptions extends Partial<JournalOptions> {
  /** The progress that the open call reported, in order. */
  readonly last?: readonly Partial<TakeProgress>[]
}

export interface DeadFront {
  readonly store: Store
  readonly folder: string
  readonly id: string
  readonly owners: Owners
  readonly options: Omit<RecoveryOptions, 'wait'>
  readonly log: ReturnType<typeof keptLog>
}

/** A front that was lent money, settled two calls, left one open, and died. */
export async function deadFront(
  t: Parameters<typeof openFolder>[0],
  { last = [], ...more }: DeadFrontOptions = {},
): Promise<DeadFront> {
  const { bootId = TEST_BOOT } = more
  const store = await openTestStore(t)
  const folder = await openFolder(t)
  const owners = await makeOwners(store)
  for (const account of Object.values(owners.accounts)) await setLimit(store.sql, account, 'lifetime', LENT)
  const lender = openLender(store, { log: SILENT })
  const journal = journalIn(folder, more)
  const { id } = journal
  const day = await lender.open({ id, node: 'a-node', bootId })
  const kinds: readonly AccountKind[] = ['organization', 'workspace', 'key']
  const accounts = kinds.map((kind) => ({
    accountId: owners.accounts[kind],
    needNano: LENT,
    leastNano: 1,
    useNano: 0,
  }))
  await lender.lend({ journalId: id, sequence: 1, day, liveFronts: 1, accounts })
  const takes = [1, 2, 3].map(() => journal.take(openTake(owners, day, BOUND)))
  for (const take of takes.slice(1)) journal.settle(take, settlement(owners, day, COST))
  journal.write()
  for (const progress of last) {
    journal.progress(takes[0] ?? 0, someProgress(COST, { paid: PAID, ...progress }))
    journal.write()
  }
  journal.close()
  const log = keptLog()
  const stateOf = (of: string) => journalState(store.sql, of)
  return {
    store,
    folder,
    id,
    owners,
    log,
    options: { folder, lender, stateOf, bootId, isRunning: () => false, log },
  }
}

/**
 * Sums of the ledger by kind, what the key's account counts and has lent, and whether all of the books
 * balance.
 */
export async function booksOf({ store: { sql }, owners }: DeadFront) {
  const rows = await sql<{ kind: string; nano: string }[]>`
    SELECT kind, sum(cost_nano - released_nano)::text AS nano FROM ledger GROUP BY kind ORDER BY kind`
  const [account] = await sql<{ spent: string; lent: string }[]>`
    SELECT lifetime_spent_nano AS spent, lifetime_lent_nano AS lent FROM accounts WHERE id = ${owners.accounts.key}`
  const ledger = Object.fromEntries(rows.map(({ kind, nano }) => [kind, Number(nano)]))
  return { ledger, spent: Number(account?.spent), lent: Number(account?.lent), wrong: await imbalances(sql) }
}
