/**
 * What a front does with money that no call needs: flushes, gives back, ends a day. By the clock of a
 * simulation. Design §6.
 */
import t from 'tap'
import type { Outcome } from '../../../src/schemas/failures.ts'
import {
  COST_NANO_MAX,
  LEND_REPEAT_MS,
  MONEY_IDLE_MS,
  MONEY_TRY_MS,
} from '../../../src/schemas/money/money-limits.ts'
import { MONEY_BALANCES_MAX, Balances } from '../../../src/server/money/balances.ts'
import type { GiveBack } from '../../../src/server/ports/money/journal.ts'
import { keptLog } from '../../support/log.ts'
import { costOf, moneyWorld, openMoney, usd } from '../../support/money/money-front.ts'
import { MONEY_WAIT_MS_MAX } from '../../../src/server/money/borrowing.ts'
import { BOOKS_FLUSH_ENTRIES_MAX, BOOKS_FLUSH_MS } from '../../../src/server/money/journal-flush.ts'

const nameOf = (outcome: Outcome<unknown>): string => (outcome.ok ? 'ok' : outcome.failure.name)

t.test('money unused for ten seconds is returned, and money that calls hold is kept', async (t) => {
  const money = openMoney({ o1: { lifetime: 10_000 } })
  await money.paid(6_000, 1_000)
  const open = await money.held({ nano: 2_000 })
  t.equal(money.lender.lentOf('o1') > 2_000, true)
  await money.runFor(MONEY_IDLE_MS + 3 * BOOKS_FLUSH_MS)
  t.equal(money.lender.lentOf('o1'), 2_000)
  if (open.ok) open.value.release()
  await money.runFor(MONEY_IDLE_MS + 3 * BOOKS_FLUSH_MS)
  t.equal(money.lender.lentOf('o1'), 0)
  t.equal(money.spend.reading.heldNano, 0)
})

t.test('the unused money of expensive calls is returned in amounts that fit a journal record', (t) => {
  const entries: GiveBack[] = []
  const balances = new Balances({ giveBack: (entry) => void entries.push(entry) })
  balances.advance('2026-11-20')
  const balance = balances.of('workspace', '1', 0)
  if (balance === null) throw new Error('there is room')
  balance.settle(0, COST_NANO_MAX)
  balance.settle(0, COST_NANO_MAX)
  balances.giveBackAll()
  t.same(
    entries.map(({ amountNano }) => amountNano),
    [COST_NANO_MAX, COST_NANO_MAX],
  )
  for (const entry of entries) balances.booked(entry)
  t.same([balance.balanceNano, balance.returningNano, balances.giveBacks], [0, 0, 1])
  t.end()
})

t.test('idle money is returned at once when another front is refused that money', async (t) => {
  const one = openMoney({ o1: { lifetime: 1_000 } })
  const other = openMoney({}, one, { id: 'f2' })
  await one.paid(1_000, 200)
  t.equal(nameOf(await other.held({ nano: 800 }, 500)), 'ok')
})

t.test('when two fronts each hold a part of the money they need, one of them gets all of it', async (t) => {
  const one = openMoney({ o1: { lifetime: 1_000 } })
  const other = openMoney({}, one, { id: 'f2' })
  await one.paid(600, 0)
  await other.paid(400, 0)
  const held = await Promise.all([one.held({ nano: 800 }, 600), other.held({ nano: 800 }, 600)])
  t.equal(held.filter(({ ok }) => ok).length, 1)
})

t.test('a front that held and booked nothing for days books its next call on the current day', async (t) => {
  const money = openMoney()
  await money.runFor(5)
  money.lender.today = '2026-11-23'
  money.clock.aheadMs = 3 * 86_400_000
  await money.runFor(2 * BOOKS_FLUSH_MS)
  await money.paid(700)
  const { pulse } = money.lender.asked
  await money.runFor(2 * BOOKS_FLUSH_MS)
  t.match(money.lender.usage, [{ day: '2026-11-23' }])
  await money.runFor(5 * BOOKS_FLUSH_MS)
  t.ok(money.lender.asked.pulse <= pulse + 2, 'once it knows the day it asks nothing more')
})

t.test('the end of a day returns its money, and running calls are charged to their own day', async (t) => {
  const money = openMoney({ w1: { daily: 1_000 } })
  await money.paid(800, 100)
  const open = await money.held({ nano: 700 })
  money.lender.today = '2026-11-21'
  await money.runFor(2 * BOOKS_FLUSH_MS)
  await money.paid(1_000)
  if (open.ok) open.value.settle(costOf(300))
  await money.runFor(2 * BOOKS_FLUSH_MS)
  t.equal(money.lender.spentOf('w1', 'daily', '2026-11-20'), 400)
  t.equal(money.lender.spentOf('w1', 'daily', '2026-11-21'), 1_000)
  t.equal(money.lender.lentOf('w1'), 0)
  t.same(money.lender.violations, [])
})

t.test('a request for money also reveals a new day, and the call gets all its money that day', async (t) => {
  const money = openMoney({ o1: { lifetime: 2_000 }, w1: { daily: 1_000 } })
  await money.paid(500, 0)
  money.lender.today = '2026-11-21'
  t.equal(nameOf(await money.held({ nano: 900 }, 20)), 'ok')
  t.match(
    [...money.journal.open.values()],
    [{ day: '2026-11-21', amounts: { organization: 900, workspace: 900 } }],
  )
})

t.test('a store calendar that is set back does not set the day of a front back', async (t) => {
  const money = openMoney({ o1: { lifetime: 2_000 }, k2: { lifetime: 2_000 } })
  money.lender.today = '2026-11-21'
  await money.paid(500)
  money.lender.today = '2026-11-20'
  const held = await money.held({ nano: 500, owner: '2' })
  t.ok(held.ok)
  t.ok([...money.journal.open.values()].every(({ day }) => day === '2026-11-21'))
})

t.test("the front's own clock returns the money of an ended day, once", async (t) => {
  const money = openMoney({ o1: { lifetime: 1_000 } })
  await money.paid(1_000, 0)
  money.clock.aheadMs = 13 * 3_600_000
  await money.runFor(3 * BOOKS_FLUSH_MS)
  t.equal(money.lender.lentOf('o1'), 0)
  await money.paid(1_000, 0)
  await money.runFor(3 * BOOKS_FLUSH_MS)
  t.notOk(money.hold({ nano: 1_000 }) instanceof Promise, "the authority's day has not ended")
})

t.test(
  'money lent for a day that ends before it arrives is returned, and pays nothing on the next day',
  async (t) => {
    let latencyMs = 1
    const money = openMoney(
      {},
      moneyWorld({ w1: { daily: 1_000 } }, () => latencyMs),
    )
    await money.paid(500, 0)
    latencyMs = BOOKS_FLUSH_MS + 50
    const held = money.held({ nano: 900 }, 10 * BOOKS_FLUSH_MS)
    await money.runFor(latencyMs + 1)
    latencyMs = 1
    money.lender.today = '2026-11-21'
    t.equal(nameOf(await held), 'ok')
    t.match([...money.journal.open.values()], [{ day: '2026-11-21', amounts: { workspace: 900 } }])
    await money.runFor(2 * BOOKS_FLUSH_MS)
    t.same([...money.lender.leases], [['f1/w1|2026-11-21', 900]])
  },
)

t.test('books are sent in batches, and an outage loses and doubles nothing', async (t) => {
  const money = openMoney({ o1: { lifetime: usd(1) } })
  await money.paid(usd(0.5), 0)
  const calls = 2 * BOOKS_FLUSH_ENTRIES_MAX + 5
  for (let call = 0; call < calls; call++) await money.paid(100)
  money.lender.mode = 'lossy'
  await money.runFor(3 * BOOKS_FLUSH_MS)
  money.lender.mode = 'away'
  await money.runFor(3 * BOOKS_FLUSH_MS)
  t.ok(money.spend.reading.flushLagS > 0)
  money.lender.mode = 'up'
  await money.runFor(5 * BOOKS_FLUSH_MS)
  t.equal(money.lender.spentOf('o1'), calls * 100)
  t.equal(money.spend.reading.flushedEntries, calls + 1)
  t.equal(money.spend.reading.flushLagS, 0)
})

for (const mode of ['late', 'lossy'] as const) {
  t.test(`entries are booked once when a full batch is ${mode}, and a smaller one follows`, async (t) => {
    const money = openMoney({ o1: { lifetime: usd(1) } })
    await money.paid(usd(0.5), 0)
    await money.runFor(2 * BOOKS_FLUSH_MS)
    money.lender.mode = mode
    const calls = BOOKS_FLUSH_ENTRIES_MAX + 5
    const open = await Promise.all(Array.from({ length: calls }, () => money.held({ nano: 100 })))
    for (const held of open) if (held.ok) held.value.settle(costOf(100))
    const before = money.lender.asked.flush
    while (money.lender.asked.flush === before) await money.runFor(1)
    await money.runFor(5)
    money.lender.mode = 'up'
    await money.runFor(10 * BOOKS_FLUSH_MS)
    t.equal(money.lender.spentOf('o1'), calls * 100)
    t.equal(money.lender.usage.length, calls + 1)
    t.equal(money.spend.reading.flushLagS, 0)
    t.same(money.lender.violations, [])
  })
}

t.test('reports every outage of the books once', async (t) => {
  const log = keptLog()
  const money = openMoney({}, moneyWorld({}), { log })
  for (let outage = 0; outage < 2; outage++) {
    await money.paid(1)
    money.lender.mode = 'away'
    await money.runFor(4 * BOOKS_FLUSH_MS)
    money.lender.mode = 'up'
    await money.runFor(2 * BOOKS_FLUSH_MS)
  }
  t.same(
    log.events.map(({ event }) => event),
    ['money.flush_failed', 'money.flush_failed'],
  )
})

t.test('the books are sent at most five times a second, however many calls end', async (t) => {
  const money = openMoney()
  await money.runFor(5)
  for (let call = 0; call < 1_000; call++) {
    await money.paid(1)
    await money.runFor(2)
  }
  const { flushes, flushLagS } = money.spend.reading
  t.ok(flushes <= 2_000 / BOOKS_FLUSH_MS + 1, `${flushes} flushes`)
  t.ok(flushLagS <= (2 * BOOKS_FLUSH_MS) / 1_000, `${flushLagS} s`)
})

t.test('a drain returns all money and ends the journal', async (t) => {
  const money = openMoney({ o1: { lifetime: 1_000 }, k1: { lifetime: 1_000 } })
  await money.paid(900, 100)
  await money.closed()
  t.equal(money.lender.leases.size, 0)
  t.equal(money.lender.asked.close, 1)
  t.equal(money.lender.spentOf('o1'), 100)
  t.equal(nameOf(await money.held({ nano: 1 })), 'draining')
})

t.test('a drain that cannot read its journal leaves it open, so that lent money stays lent', async (t) => {
  const money = openMoney({ o1: { lifetime: 1_000 } })
  await money.paid(900, 100)
  money.journal.isUnreadable = true
  await money.closed()
  t.equal(money.lender.asked.close, 0)
})

t.test('a call that ends while the last batch of a drain is applied is still booked', async (t) => {
  const money = openMoney({ o1: { lifetime: 1_000 } })
  await money.paid(100)
  const open = await money.held({ nano: 900 })
  if (!open.ok) throw new Error('the money is there')
  // The batch is a millisecond on its way, and its answer another.
  money.simulation.after(2, () => open.value.settle(costOf(300)))
  await money.closed()
  t.same([money.lender.asked.close, money.lender.usage.map(({ costNano }) => costNano)], [1, [100, 300]])
})

t.test('a drain leaves running calls to the recovery of the journal', async (t) => {
  const money = openMoney({ o1: { lifetime: 1_000 } })
  await money.held({ nano: 900 })
  await money.closed()
  t.equal(money.lender.asked.close, 0)
  t.equal(money.lender.lentOf('o1'), 900)
})

t.test('a drain returns the money that running calls do not hold', async (t) => {
  const money = openMoney({ o1: { lifetime: 1_000 } })
  await money.paid(900, 100)
  await money.held({ nano: 300 })
  await money.closed()
  t.equal(money.lender.lentOf('o1'), 300)
})

t.test('calls that wait for money when the drain begins are refused', async (t) => {
  const money = openMoney({ o1: { lifetime: 1_000 } })
  await money.runFor(5)
  const held = money.held({ nano: 900 })
  await money.closed()
  t.equal(nameOf(await held), 'draining')
})

t.test('a front with a closed journal takes no more money', async (t) => {
  const money = openMoney({ o1: { lifetime: 1_000 } })
  await money.paid(900)
  money.lender.close(money.journal.closing(0))
  await money.runFor(2 * BOOKS_FLUSH_MS)
  t.equal(nameOf(await money.held({ nano: 1 })), 'store_unavailable')
  t.ok(money.fenced())
})

t.test('a front without limits learns from the books answer that its journal was closed', async (t) => {
  const money = openMoney()
  await money.paid(1)
  money.lender.close({ journalId: 'f1', rest: null, open: [], isComplete: true })
  await money.runFor(2 * BOOKS_FLUSH_MS)
  t.ok(money.fenced())
  t.equal(nameOf(await money.held({ nano: 1 })), 'store_unavailable')
})

t.test('a front starts without its store, and can pay as soon as the store is available', async (t) => {
  const money = openMoney({ o1: { lifetime: 1_000 } })
  money.lender.mode = 'away'
  t.equal(nameOf(await money.held({ nano: 1 }, MONEY_WAIT_MS_MAX + MONEY_TRY_MS)), 'store_unavailable')
  money.lender.mode = 'up'
  t.equal(nameOf(await money.held({ nano: 1 }, 3 * LEND_REPEAT_MS)), 'ok')
})

t.test('a front reports that it has asked for the day, also when its store is unavailable', async (t) => {
  for (const mode of ['up', 'away'] as const) {
    const money = openMoney({})
    money.lender.mode = mode
    let isAsked = false
    void money.spend.dayAsked.then(() => (isAsked = true))
    t.notOk(isAsked)
    await money.runFor(BOOKS_FLUSH_MS)
    t.ok(isAsked, mode)
  }
})

t.test('a front keeps balances of at most MONEY_BALANCES_MAX accounts', async (t) => {
  const money = openMoney({})
  await money.runFor(5)
  const limited = { isKeyLimited: true }
  for (let key = 0; key < MONEY_BALANCES_MAX; key++)
    void money.hold({ nano: 1, owner: `${key}`, money: limited, deadlineMs: 1 })
  await money.runFor(50)
  t.equal(money.spend.reading.waiting, 0)
  t.equal(nameOf(await money.held({ nano: 1, owner: 'one more', money: limited }, 1)), 'busy')
  t.equal(nameOf(await money.held({ nano: 1, owner: '7', money: limited }, 50)), 'ok')
})
