/**
 * How calls are paid by one front: by the clock of a simulation, with an authority and a journal in memory.
 * Design §6.
 */
import t from 'tap'
import type { Outcome } from '../../../src/schemas/failures.ts'
import { costOf, isWritten, openMoney, usd } from '../../support/money/money-front.ts'
import { LEND_ACCOUNTS_MAX, MONEY_WAITING_MAX } from '../../../src/server/money/borrowing.ts'
import { BOOKS_FLUSH_MS } from '../../../src/server/money/journal-flush.ts'

const nameOf = (outcome: Outcome<unknown>): string => (outcome.ok ? 'ok' : outcome.failure.name)

t.test('pays a call without asking the authority while the balance lasts', async (t) => {
  const money = openMoney({ o1: { lifetime: usd(10) } })
  await money.paid(1_000, 400)
  const { lend } = money.lender.asked
  const second = money.hold({ nano: 600 })
  t.notOk(second instanceof Promise)
  t.equal(money.lender.asked.lend, lend)
})

t.test('thousands of calls per second do not each send a request to the store', async (t) => {
  const money = openMoney({
    o1: { lifetime: usd(1_000) },
    w1: { daily: usd(900) },
    k1: { monthly: usd(800) },
  })
  for (let second = 0; second < 5; second++) {
    for (let call = 0; call < 100; call++) {
      const held = await money.held({ nano: 50_000 }, 10)
      if (held.ok) held.value.settle(costOf(20_000))
      await money.runFor(10)
    }
  }
  t.equal(money.spend.reading.takes, 500)
  t.ok(money.lender.asked.lend <= 12, `${money.lender.asked.lend} requests for money`)
})

t.test('a call without any limit takes no money, and its usage is booked', async (t) => {
  const money = openMoney()
  await money.runFor(5)
  const held = money.hold({ nano: null })
  t.notOk(held instanceof Promise)
  if (!(held instanceof Promise) && held.ok) held.value.settle(costOf(700))
  await money.runFor(2 * BOOKS_FLUSH_MS)
  t.equal(money.lender.asked.lend, 0)
  t.match(money.lender.usage, [
    { costNano: 700, paid: { organization: false, workspace: false, key: false } },
  ])
})

t.test('a call that listed several models is booked under the one that answered. D11', async (t) => {
  const money = openMoney()
  await money.runFor(5)
  for (const more of [{ model: 'other' }, {}]) {
    const held = money.hold({ nano: null })
    if (!(held instanceof Promise) && held.ok) held.value.settle(costOf(700, more))
  }
  await money.runFor(2 * BOOKS_FLUSH_MS)
  const [first, second] = money.lender.usage
  t.equal(first?.model, 'other')
  t.not(second?.model, 'other')
})

t.test('takes of one turn are written together, and callers are notified only afterwards', async (t) => {
  const money = openMoney()
  await money.runFor(5)
  const { writes } = money.journal
  const received: number[] = []
  for (let call = 0; call < 20; call++) {
    void Promise.resolve(money.hold({ nano: 1 })).then(
      async (held) => held.ok && (await isWritten(held.value)) && received.push(money.journal.open.size),
    )
  }
  t.same([money.journal.open.size, money.spend.reading.takes, money.spend.reading.open], [0, 0, 20])
  await money.runFor(0)
  t.same(
    received,
    Array.from({ length: 20 }, () => 20),
  )
  t.same([money.journal.writes - writes, money.spend.reading.takes], [1, 20])
})

t.test('takes that cannot be written leave no record, and their money is free for the next', async (t) => {
  const money = openMoney({ o1: { lifetime: 1_000 } })
  await money.paid(1_000, 0)
  await money.runFor(5)
  const held = [money.hold({ nano: 400 }), money.hold({ nano: 600 })].flatMap((one) =>
    one instanceof Promise || !one.ok ? [] : [one.value],
  )
  money.journal.isFull = true
  const written = held.map(isWritten)
  await money.runFor(0)
  t.same(await Promise.all(written), [false, false])
  t.same(await Promise.all(held.map(isWritten)), [false, false])
  for (const one of held) one.settle(costOf(100))
  t.same([money.spend.reading.open, money.spend.reading.takes, money.journal.open.size], [0, 1, 0])
  money.journal.isFull = false
  t.equal(nameOf(await money.held({ nano: 1_000 })), 'ok')
  await money.runFor(2 * BOOKS_FLUSH_MS)
  t.match(money.lender.usage, [{ costNano: 0 }])
})

t.test('a call that ends before its take is written journals take and settlement, or neither', async (t) => {
  const money = openMoney({ o1: { lifetime: 1_000 } })
  await money.paid(1_000, 0)
  for (const isFull of [false, true]) {
    const held = money.hold({ nano: 700 })
    money.journal.isFull = isFull
    if (held instanceof Promise || !held.ok) throw new Error('the money is there')
    held.value.settle(costOf(300))
  }
  money.journal.isFull = false
  await money.runFor(2 * BOOKS_FLUSH_MS)
  t.same(
    money.lender.usage.map(({ costNano }) => costNano),
    [0, 300],
  )
  t.same([money.spend.reading.open, money.journal.open.size], [0, 0])
})

t.test('the unused money of a call is available to the next call', async (t) => {
  const money = openMoney({ o1: { lifetime: 1_000 } })
  for (let call = 0; call < 10; call++) await money.paid(1_000 - call * 100, 100)
  t.equal(nameOf(await money.held({ nano: 1 })), 'credit_exhausted')
})

t.test('a released call leaves its accounts unchanged, and nothing in the ledger', async (t) => {
  const money = openMoney({ o1: { lifetime: 1_000 }, k1: { lifetime: 1_000 } })
  const held = await money.held({ nano: 1_000 })
  if (held.ok) held.value.release()
  await money.closed()
  t.equal(money.lender.spentOf('o1'), 0)
  t.same(money.lender.usage, [])
})

t.test('a call takes money from all of its accounts, or from none', async (t) => {
  const money = openMoney({ o1: { lifetime: 1_000 }, w1: { lifetime: 500 }, k1: { lifetime: 2_000 } })
  t.equal(nameOf(await money.held({ nano: 600 })), 'budget_exceeded')
  t.equal(money.spend.reading.open, 0)
  await money.paid(500)
})

t.test('a cost above the bound is capped, and the excess is reported as an overrun', async (t) => {
  const money = openMoney({ o1: { lifetime: 1_000 } })
  await money.paid(600, 900)
  await money.runFor(2 * BOOKS_FLUSH_MS)
  t.match(money.lender.usage, [{ costNano: 600, overrunNano: 300 }])
  t.match(money.spend.reading, { overruns: 1, spentNano: 600 })
})

t.test('a call under own credentials is charged to the accounts that count BYOK', async (t) => {
  const money = openMoney({ o1: { lifetime: 1_000 }, w1: { lifetime: 1_000 }, k1: { lifetime: 1_000 } })
  const held = await money.held({
    nano: null,
    bound: { paidNano: 100, anyNano: 300 },
    money: { workspaceCountsByok: true },
  })
  if (held.ok) held.value.settle(costOf(250, { isByok: true }))
  await money.runFor(2 * BOOKS_FLUSH_MS)
  t.match(money.lender.usage, [
    { costNano: 250, overrunNano: 0, paid: { organization: false, workspace: true, key: false } },
  ])
  t.equal(money.lender.spentOf('w1'), 250)
})

t.test('a second end of a call has no effect', async (t) => {
  const money = openMoney({ o1: { lifetime: 1_000 } })
  const held = await money.held({ nano: 1_000 })
  if (held.ok) {
    held.value.settle(costOf(100))
    held.value.release()
    held.value.settle(costOf(100))
  }
  await money.runFor(2 * BOOKS_FLUSH_MS)
  t.equal(money.lender.usage.length, 1)
  t.equal(nameOf(await money.held({ nano: 901 })), 'credit_exhausted')
})

t.test('the requests of one turn are sent as one, and only one is in flight at a time', async (t) => {
  const money = openMoney({ o1: { lifetime: usd(1) }, w1: { lifetime: usd(1) } })
  await money.runFor(5)
  for (let call = 0; call < 400; call++) void money.hold({ nano: 10 })
  await money.runFor(0)
  for (let call = 0; call < 100; call++) void money.hold({ nano: 10 })
  t.equal(money.lender.asked.lend, 1)
  await money.runFor(30)
  t.same(
    money.lender.asks.map(({ accounts }) => accounts.map(({ needNano }) => needNano)),
    [
      [4_000, 4_000],
      [1_000, 1_000],
    ],
  )
  t.equal(money.spend.reading.open, 500)
})

t.test('waiting calls are served in order', async (t) => {
  const money = openMoney({ o1: { lifetime: 1_000 } })
  await money.runFor(5)
  const order: number[] = []
  for (let call = 0; call < 5; call++)
    void Promise.resolve(money.hold({ nano: 200 })).then((held) => held.ok && order.push(call))
  await money.runFor(30)
  t.same(order, [0, 1, 2, 3, 4])
})

t.test('a small call does not take the balance that a large call is waiting to complete', async (t) => {
  const money = openMoney({ o1: { lifetime: usd(1) } })
  await money.paid(1_000, 0)
  await money.held({ nano: 1_500 }, 1)
  const small = money.hold({ nano: 800 })
  t.ok(small instanceof Promise)
  await money.runFor(30)
  t.equal(money.lender.asks[1]?.accounts[0]?.needNano, 500)
  t.same(
    [...money.journal.open.values()].map(({ amounts }) => amounts.organization),
    [1_500, 800],
  )
})

t.test('a call gets money that another call of its front returns', async (t) => {
  const money = openMoney({ o1: { lifetime: 1_000 } })
  const first = await money.held({ nano: 900 })
  const second = money.held({ nano: 900 }, 200)
  await money.runFor(50)
  if (first.ok) first.value.settle(costOf(100))
  t.equal(nameOf(await second), 'ok')
})

t.test('calls above the maximum that may wait are refused', async (t) => {
  const money = openMoney({ o1: { lifetime: usd(1) } })
  await money.runFor(5)
  for (let call = 0; call < MONEY_WAITING_MAX; call++) void money.hold({ nano: 1 })
  t.equal(nameOf(await money.held({ nano: 1 })), 'busy')
})

t.test('one request lists a limited number of accounts, and all calls are served', async (t) => {
  const keys = Array.from({ length: 2 * LEND_ACCOUNTS_MAX + 10 }, (_, i) => `${i}`)
  const money = openMoney(Object.fromEntries(keys.map((key) => [`k${key}`, { lifetime: 10 }])))
  await money.runFor(5)
  const held = keys.map((owner) => money.held({ nano: 10, owner }, 60))
  t.ok((await Promise.all(held)).every(({ ok }) => ok))
  t.ok(money.lender.asks.every(({ accounts }) => accounts.length <= LEND_ACCOUNTS_MAX + 2))
})
