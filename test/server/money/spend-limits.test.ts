/** Calls that limits refuse, and what a front knows of a limit after its change. Design §6. */
import t from 'tap'
import type { Failure, Outcome } from '../../../src/schemas/failures.ts'
import { MONEY_TRIED_MS_MAX } from '../../../src/schemas/money/money-limits.ts'
import { openMoney, usd } from '../../support/money/money-front.ts'
import { MONEY_REFUSED_MS } from '../../../src/server/money/balances.ts'
import { BOOKS_FLUSH_MS } from '../../../src/server/money/journal-flush.ts'

const nameOf = (outcome: Outcome<unknown>): string => (outcome.ok ? 'ok' : outcome.failure.name)
const failureOf = (outcome: Outcome<unknown>): Failure => {
  if (outcome.ok) throw new Error('it is not refused')
  return outcome.failure
}

t.test('one call that can never fit does not delay others', async (t) => {
  const money = openMoney({ o1: { lifetime: 1_000 } })
  await money.runFor(5)
  const large = money.held({ nano: 1_001 })
  const small = money.held({ nano: 900 })
  t.equal(nameOf(await large), 'credit_exhausted')
  t.equal(nameOf(await small), 'ok')
})

t.test('a call with a bound above a limit is refused at once, and no money is borrowed for it', async (t) => {
  const money = openMoney({ w1: { daily: 1_000, lifetime: 5_000 } })
  const refused = failureOf(await money.held({ nano: 1_001 }, 10))
  t.match(refused, {
    name: 'budget_exceeded',
    metadata: { limit_source: 'budget', scope: 'workspace', interval: 'daily', limit: 0.000001, spend: 0 },
  })
  t.equal(money.lender.lentOf('w1'), 0)
})

t.test("a refusal names credit before the key's limit, and a broad budget before a narrow one", async (t) => {
  const both = openMoney({ o1: { lifetime: 10 }, k1: { lifetime: 10 }, w1: { daily: 10 } })
  t.equal(nameOf(await both.held({ nano: 11 })), 'credit_exhausted')
  const key = openMoney({ k1: { daily: 10 }, w1: { lifetime: 10 } })
  t.equal(nameOf(await key.held({ nano: 11 })), 'key_limit_exceeded')
  const budgets = openMoney({ w1: { daily: 10, monthly: 10, weekly: 10 } })
  t.equal(failureOf(await budgets.held({ nano: 11 })).metadata?.interval, 'monthly')
})

t.test('money spent here counts as used before it is booked, and idle money as available', async (t) => {
  const money = openMoney({ k1: { monthly: usd(10) } })
  await money.paid(usd(10), usd(4))
  t.equal(money.lender.asked.flush, 0)
  for (const _ of ['before', 'behind']) {
    const reported = failureOf(await money.held({ nano: usd(7) }))
    t.match(reported.metadata, { limit: 10, spend: 4 })
    t.match(reported.detail, /^4 of 10 USD is used, and this call may cost up to 7 USD[;.]/)
    await money.runFor(2 * BOOKS_FLUSH_MS + MONEY_REFUSED_MS)
  }
})

t.test('a call without a bound is refused when there is a limit', async (t) => {
  const money = openMoney({ k1: { lifetime: usd(1) } })
  t.match(failureOf(await money.held({ nano: null })), {
    name: 'cost_unbounded',
    metadata: { scope: 'key', limit_source: 'key_limit' },
  })
  t.equal(money.lender.asked.lend, 0)
})

t.test('accepts a free call when no credit is left', async (t) => {
  const money = openMoney({ o1: { lifetime: 0 } })
  await money.runFor(5)
  t.equal(nameOf(await money.held({ nano: 0 })), 'ok')
  t.equal(nameOf(await money.held({ nano: 1 })), 'credit_exhausted')
})

t.test('callers at an exhausted limit do not cause one request each', async (t) => {
  const money = openMoney({ o1: { lifetime: 1_000 } })
  await money.paid(1_000)
  await money.runFor(2 * BOOKS_FLUSH_MS)
  const before = money.lender.asked.lend
  for (let call = 0; call < 100; call++) t.equal(nameOf(await money.held({ nano: 1 }, 5)), 'credit_exhausted')
  t.ok(money.lender.asked.lend - before <= 4, `${money.lender.asked.lend - before} requests`)
})

t.test('a raised limit takes effect when its change arrives, however recent the last refusal', async (t) => {
  const money = openMoney({ o1: { lifetime: 1_000 } })
  await money.paid(1_000)
  await money.runFor(2 * BOOKS_FLUSH_MS)
  t.equal(nameOf(await money.held({ nano: 1 }, 5)), 'credit_exhausted')
  money.lender.limits.set('o1', { lifetime: 2_000 })
  t.equal(
    nameOf(await money.held({ nano: 1 }, 5)),
    'credit_exhausted',
    `remembered for ${MONEY_REFUSED_MS} ms`,
  )
  money.change({ n: 2, kind: 'organization', id: '1' })
  t.equal(nameOf(await money.held({ nano: 1 }, 10)), 'ok')
})

t.test('the limit of an account without one is requested once, and again after a change', async (t) => {
  const money = openMoney({ o1: {} })
  for (let call = 0; call < 3; call++) await money.paid(5)
  t.equal(money.lender.asked.lend, 1)
  money.lender.limits.set('o1', { lifetime: 4 })
  money.change({ n: 2, kind: 'organization', id: '1' })
  t.equal(nameOf(await money.held({ nano: 5 })), 'credit_exhausted')
})

t.test('an answer from before a change is not cached', async (t) => {
  const money = openMoney({ o1: {} }, undefined)
  await money.runFor(5)
  const first = money.held({ nano: 5 }, 1)
  money.change({ n: 2, kind: 'organization', id: '1' })
  await first
  await money.runFor(10)
  money.lender.limits.set('o1', { lifetime: 4 })
  t.equal(nameOf(await money.held({ nano: 5 })), 'credit_exhausted')
})

t.test('a call retries while other calls hold the missing money, and is then refused', async (t) => {
  const one = openMoney({ o1: { lifetime: 1_000 } })
  const other = openMoney({}, one, { id: 'f2' })
  const holding = await one.held({ nano: 600 })
  const waiting = other.held({ nano: 500 }, MONEY_TRIED_MS_MAX + 100)
  await waiting
  t.equal(nameOf(await waiting), 'credit_exhausted')
  await one.runFor(MONEY_REFUSED_MS)
  const again = other.held({ nano: 500 }, 2 * MONEY_TRIED_MS_MAX)
  if (holding.ok) holding.value.release()
  t.equal(nameOf(await again), 'ok')
})

for (const [kind, id, account] of [
  ['organization', '1', 'o1'],
  ['workspace', '1', 'w1'],
  ['key', 'a hash', 'k1'],
] as const) {
  t.test(`a raised limit of a ${kind} pays the next call`, async (t) => {
    const money = openMoney({ [account]: { lifetime: 100 } })
    t.notOk((await money.held({ nano: 200 })).ok)
    money.lender.limits.set(account, { lifetime: 1_000 })
    t.notOk((await money.held({ nano: 200 }, 1)).ok)
    money.change({ n: 2, kind, id })
    t.equal(nameOf(await money.held({ nano: 200 })), 'ok')
  })
}
