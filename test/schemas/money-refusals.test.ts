/** What a call is told that a limit of money refuses. C14. */
import t from 'tap'
import { textOf } from '../../src/schemas/failures.ts'
import { costUnbounded, moneyRefused, type RefusingLimit } from '../../src/schemas/money/money-refusals.ts'
import { SPANS, type AccountKind, type Span } from '../../src/server/ports/money/money.ts'

const MIDNIGHT = Date.UTC(2026, 10, 21)

function limitOf(kind: AccountKind, span: Span, more: Partial<RefusingLimit['limit']> = {}): RefusingLimit {
  const limit = {
    span,
    limitNano: 10_000_000_000,
    spentNano: 9_990_000_000,
    restNano: 10_000_000,
    resetsAtMs: span === 'lifetime' ? null : MIDNIGHT,
    ...more,
  }
  return { kind, limit, boundNano: 20_000_000 }
}

const failureOf = (...refusing: readonly RefusingLimit[]) => {
  const refused = moneyRefused(refusing)
  if (refused.ok) throw new Error('it is a refusal')
  return refused.failure
}

t.test('a budget says how much of it is used, what the call may cost and when it resets', (t) => {
  const failure = failureOf(limitOf('workspace', 'daily'))
  t.equal(failure.name, 'budget_exceeded')
  t.equal(
    textOf(failure),
    'The daily budget of the workspace does not cover this call. ' +
      '9.99 of 10 USD are used, and it may cost up to 0.02; the limit resets at 2026-11-21T00:00:00Z.',
  )
  t.same(failure.metadata, {
    limit_source: 'budget',
    scope: 'workspace',
    limit: 10,
    spend: 9.99,
    interval: 'daily',
    reset_at: '2026-11-21T00:00:00Z',
  })
  t.end()
})

t.test('a key without an interval and credit never reset', (t) => {
  const key = failureOf(limitOf('key', 'lifetime'))
  t.equal(
    textOf(key),
    'The limit of the key does not cover this call. 9.99 of 10 USD are used, and it may cost up to 0.02.',
  )
  t.same(key.metadata, {
    limit_source: 'key_limit',
    scope: 'key',
    limit: 10,
    spend: 9.99,
    interval: 'lifetime',
  })
  const credit = failureOf(limitOf('organization', 'lifetime'))
  t.match(
    textOf(credit),
    /^The credit of the organization does not cover this call\. 9\.99 of 10 USD are used/,
  )
  t.same(credit.metadata, { limit_source: 'credit', scope: 'organization', limit: 10, spend: 9.99 })
  t.end()
})

t.test('what other calls hold is told, or a limit would seem to have room', (t) => {
  const failure = failureOf(limitOf('workspace', 'monthly', { spentNano: 1_000_000_000, restNano: -1 }))
  t.match(textOf(failure), /1 of 10 USD are used, 9\.000000001 are held for calls under way, and it may cost/)
  t.end()
})

t.test("of several limits credit is told, then the key's, then the broadest budget", (t) => {
  const budgets = SPANS.map((span) => limitOf('workspace', span))
  const [key, credit] = [limitOf('key', 'daily'), limitOf('organization', 'lifetime')]
  t.equal(failureOf(...budgets, key, credit).name, 'credit_exhausted')
  t.equal(failureOf(...budgets, key).name, 'key_limit_exceeded')
  for (const [index, span] of SPANS.entries())
    t.equal(failureOf(...budgets.slice(0, index + 1)).metadata?.interval, span)
  t.end()
})

t.test('a cost without a bound names whose limit it meets, in the same order', (t) => {
  const refused = costUnbounded(['workspace', 'key'], {})
  t.ok(
    !refused.ok &&
      textOf(refused.failure) ===
        'The maximum cost of this call is unknown, and the key has a limit of money.',
  )
  t.match(refused, {
    failure: { name: 'cost_unbounded', metadata: { limit_source: 'key_limit', scope: 'key' } },
  })
  const unpriced = costUnbounded(['organization'], { unpriced: 'acme/m' })
  t.match(
    unpriced.ok ? '' : textOf(unpriced.failure),
    /no price for acme\/m: .*`"free": true`/,
    'an endpoint without a price is named, with the remedy',
  )
  const unbounded = { path: '/tools/0/max_uses', message: 'has to bound it', expected: 'a number' }
  const issued = costUnbounded(['key'], { unbounded })
  t.match(issued, { failure: { metadata: { issues: [unbounded] } } })
  t.match(
    issued.ok ? '' : textOf(issued.failure),
    /^(?!.*max_uses.*max_uses).* limit of money: \/tools\/0\/max_uses has to bound it, expected a number\. Without a limit the call passes\.$/,
    'what has no bound is named once',
  )
  t.end()
})
