import { randomUUID } from 'node:crypto'
import { openJournal } from '../../../src/server/journal/journal.ts'
import { createSpend, type FrontSpend } from '../../../src/server/money/spend.ts'
import type { EpochFeed } from '../../../src/server/ports/keys/keys.ts'
import { openLender } from '../../../src/server/store/money/lender.ts'
import type { Store } from '../../../src/server/store/base/open.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { TEST_BOOT } from './journal.ts'
import { SILENT } from '../log.ts'
import { imbalances } from './money.ts'
import type { Teardown } from '../teardown.ts'
import { REAL_TIMERS } from '../../../src/server/money/reservation.ts'

/** The money of one front as it is in a node: purses, a journal on disk, the books in Postgres. */
export interface RealSpend extends FrontSpend {
  /**
   * Gives everything back, and returns the books: rows in the order of their end, and those that do not
   * balance.
   */
  books(): Promise<Books>
}

export interface Books {
  readonly ledger: readonly LedgerRow[]
  readonly rows: readonly (readonly [kind: string, costNano: number, provider: string])[]
  readonly leases: number
  readonly imbalances: readonly unknown[]
}

interface LedgerRow {
  readonly request_id: string
  readonly kind: string
  readonly cost_nano: bigint
  readonly provider: string
  readonly tokens: bigint
  readonly model: string
  readonly is_byok: boolean
}

export async function openRealSpend(
  t: Teardown,
  store: Store,
  feed: Pick<EpochFeed, 'subscribe'> = DEAF,
): Promise<RealSpend> {
  const folder = temporaryFolder(t, 'books')
  const journal = openJournal({
    folder,
    id: randomUUID(),
    node: 'n',
    bootId: TEST_BOOT,
    holder: { pid: 1, startedAt: 'a test' },
    log: SILENT,
  })
  const spend = createSpend({
    lender: openLender(store, { log: SILENT }),
    journal,
    owner: { id: journal.id, node: 'n', bootId: TEST_BOOT },
    fronts: { liveFronts: 1 },
    feed,
    timers: UNHURRIED,
    log: SILENT,
    fenced: () => undefined,
  })
  let closing: Promise<void> | null = null
  const close = (): Promise<void> => (closing ??= spend.close())
  t.teardown(close)
  return {
    hold: (ask) => spend.hold(ask),
    dayAsked: spend.dayAsked,
    get reading() {
      return spend.reading
    },
    close,
    async books() {
      await close()
      const ledger = await store.sql<LedgerRow[]>`
        SELECT request_id, kind, cost_nano, provider, tokens, model, is_byok FROM ledger ORDER BY at, request_id, kind DESC`
      const [leases] = await store.sql`SELECT count(*)::int AS count FROM leases`
      const rows = ledger.map(({ kind, cost_nano, provider }) => [kind, Number(cost_nano), provider] as const)
      return { ledger, rows, leases: Number(leases?.['count']), imbalances: await imbalances(store.sql) }
    },
  }
}

const DEAF = { subscribe: () => () => undefined }

/**
 * A call waits half a minute for its money, and not a second: on a loaded machine the store may take longer
 * than that.
 */
const UNHURRIED = { ...REAL_TIMERS, now: () => performance.now() / 30 }
