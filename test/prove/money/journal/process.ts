/**
 * A front reduced to its money, or the process that recovers it: follows its order, and is killed on the way.
 */
import { recoverJournal } from '../../../../src/server/journal/recovery.ts'
import type { Lender } from '../../../../src/server/ports/money/lending.ts'
import { journalState } from '../../../../src/server/store/nodes/journals.ts'
import { openLender } from '../../../../src/server/store/money/lender.ts'
import { openStore, StoreSlow } from '../../../../src/server/store/base/open.ts'
import { TEST_BOOT } from '../../../support/money/journal.ts'
import { SILENT } from '../../../support/log.ts'
import { faultPoints } from './faults.ts'
import { SmallFront, type Order } from './small-front.ts'

/** So few that a recovery flushes more than once. */
const BATCH = 4
/** Of a step that a crowded machine is too slow for: what is proven is not how fast it is. */
const TRIES = 10

const order = JSON.parse(process.argv[2] ?? '') as Order
const points = faultPoints(order.fault, order.nth)
const store = openStore({ url: order.databaseUrl, poolMax: 1, applicationName: 'journal-proof' })
const lender = points.lender(patient(openLender(store, { log: SILENT })))
await (order.role === 'front' ? runFront() : recover())
await store.close()

async function recover(): Promise<void> {
  await recoverJournal(order.journalId, {
    folder: order.folder,
    lender,
    stateOf: (id) => again(() => journalState(store.sql, id)),
    bootId: TEST_BOOT,
    isRunning: () => false,
    log: SILENT,
    batchEntries: BATCH,
  })
}

async function runFront(): Promise<void> {
  const front = new SmallFront(order, points, lender)
  await front.open()
  for (let turn = 0; turn < order.turns; turn++) {
    await front.lend()
    front.takeSome()
    front.progressSome()
    front.endSome()
    front.giveBack()
    if (turn % 3 === 2) await front.flush()
  }
}

/** Each of them may be asked twice: the second time reports the result, and does nothing again. */
function patient(real: Lender): Lender {
  return {
    open: (owner) => again(() => real.open(owner)),
    lend: (ask) => again(() => real.lend(ask)),
    pulse: (accounts) => again(() => real.pulse(accounts)),
    flush: (flush) => again(() => real.flush(flush)),
    close: (closing) => again(() => real.close(closing)),
  }
}

async function again<T>(step: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await step()
    } catch (problem) {
      const isSlow =
        problem instanceof StoreSlow || (problem as { code?: unknown }).code === 'CONNECT_TIMEOUT'
      if (!isSlow || tries === TRIES) throw problem
    }
  }
}
