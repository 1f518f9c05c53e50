/** Paid calls while the store or the journal is away, and callers that leave. Design §6. */
import t from 'tap'
import type { Outcome } from '../../../src/schemas/failures.ts'
import { MONEY_IDLE_MS } from '../../../src/schemas/money/money-limits.ts'
import { openMoney } from '../../support/money/money-front.ts'
import { MONEY_WAIT_MS_MAX } from '../../../src/server/money/borrowing.ts'
import { BOOKS_FLUSH_MS } from '../../../src/server/money/journal-flush.ts'

const nameOf = (outcome: Outcome<unknown>): string => (outcome.ok ? 'ok' : outcome.failure.name)

t.test('a caller who disconnects while money is requested takes none', async (t) => {
  const money = openMoney({ o1: { lifetime: 1_000 } })
  await money.runFor(5)
  const caller = new AbortController()
  const held = money.held({ nano: 1_000, signal: () => caller.signal })
  caller.abort()
  t.equal(nameOf(await held), 'client_gone')
  t.equal(money.journal.open.size, 0)
  await money.paid(1_000)
})

t.test('a store that does not answer fails calls within a second, and lends only once', async (t) => {
  const money = openMoney({ o1: { lifetime: 1_000 } })
  await money.runFor(5)
  money.lender.mode = 'lossy'
  t.equal(nameOf(await money.held({ nano: 400 }, MONEY_WAIT_MS_MAX + 50)), 'store_unavailable')
  money.lender.mode = 'up'
  await money.runFor(1_000)
  t.equal(money.lender.asks.length, 1)
  t.equal(money.lender.lentOf('o1'), 400)
  t.notOk(money.hold({ nano: 400 }) instanceof Promise)
})

t.test('money that was lent after the callers disconnected is found later, and is returned', async (t) => {
  const money = openMoney({ o1: { lifetime: 1_000 } })
  await money.runFor(5)
  money.lender.mode = 'lossy'
  await money.held({ nano: 400, deadlineMs: 50 }, 100)
  await money.runFor(2 * MONEY_IDLE_MS)
  t.equal(money.lender.lentOf('o1'), 400)
  money.lender.mode = 'up'
  await money.runFor(MONEY_IDLE_MS)
  t.equal(money.lender.lentOf('o1'), 0)
})

t.test('lent money can be spent while the store is unavailable', async (t) => {
  const money = openMoney({ o1: { lifetime: 1_000 } })
  await money.paid(1_000, 0)
  money.lender.mode = 'away'
  t.equal(nameOf(await money.held({ nano: 1_001, deadlineMs: 100 }, 200)), 'store_unavailable')
  for (let call = 0; call < 10; call++) await money.paid(100)
  t.equal(nameOf(await money.held({ nano: 1 }, MONEY_WAIT_MS_MAX + 50)), 'store_unavailable')
})

t.test('a full disk stops paid calls, and the money borrowed for them stays available', async (t) => {
  const money = openMoney({ o1: { lifetime: 1_000 } })
  await money.paid(1_000, 0)
  money.journal.isFull = true
  t.equal(nameOf(await money.held({ nano: 1_000 })), 'store_unavailable')
  t.equal(nameOf(await money.held({ nano: 0 })), 'store_unavailable')
  money.journal.isFull = false
  t.equal(nameOf(await money.held({ nano: 1_000 })), 'ok')
})

t.test('a caller who disconnected before money was requested takes none', async (t) => {
  const money = openMoney({ o1: { lifetime: 1_000 } })
  await money.runFor(5)
  t.equal(nameOf(await money.held({ nano: 1, signal: () => AbortSignal.abort() })), 'client_gone')
  t.equal(money.lender.asked.lend, 0)
})

t.test('while the journal cannot be written no money is requested', async (t) => {
  const money = openMoney({ o1: { lifetime: 1_000 } })
  await money.paid(100, 0)
  money.journal.isFull = true
  t.equal(nameOf(await money.held({ nano: 100 })), 'store_unavailable')
  t.equal(nameOf(await money.held({ nano: 900 })), 'store_unavailable')
  t.equal(money.lender.asked.lend, 1)
  money.journal.isFull = false
  t.equal(nameOf(await money.held({ nano: 900 })), 'ok')
})

t.test('a journal that cannot be read again stops paid calls, although it can be written', async (t) => {
  const money = openMoney({ o1: { lifetime: 1_000 } })
  await money.paid(100, 0)
  money.journal.isUnreadable = true
  await money.runFor(2 * BOOKS_FLUSH_MS)
  t.equal(nameOf(await money.held({ nano: 100 })), 'store_unavailable')
  t.ok(money.spend.reading.isJournalBroken)
})
