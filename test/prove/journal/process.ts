/** A front reduced to its money, or whoever recovers it: does what its order says, and is killed on the way. */
import { recoverJournal } from '../../../src/server/journal/recovery.ts'
import { journalState } from '../../../src/server/store/journals.ts'
import { openLender } from '../../../src/server/store/lender.ts'
import { openStore } from '../../../src/server/store/open.ts'
import { TEST_BOOT } from '../../support/journal.ts'
import { SILENT } from '../../support/log.ts'
import { faultPoints } from './faults.ts'
import { SmallFront, type Order } from './small-front.ts'

/** So few that a recovery flushes more than once. */
const BATCH = 4

const order = JSON.parse(process.argv[2] ?? '') as Order
const points = faultPoints(order.fault, order.nth)
const store = openStore({ url: order.databaseUrl, poolMax: 1, applicationName: 'journal-proof' })
const lender = points.lender(openLender(store, SILENT))
await (order.role === 'front' ? runFront() : recover())
await store.close()

async function recover(): Promise<void> {
  await recoverJournal(order.journalId, {
    folder: order.folder, lender, stateOf: (id) => journalState(store.sql, id), bootId: TEST_BOOT, isRunning: () => false, log: SILENT,
    batchEntries: BATCH,
  })
}

async function runFront(): Promise<void> {
  const front = new SmallFront(order, points, lender)
  await front.open()
  for (let turn = 0; turn < order.turns; turn++) {
    await front.lend()
    front.takeSome()
    front.endSome()
    front.giveBack()
    if (turn % 3 === 2) await front.flush()
  }
}
