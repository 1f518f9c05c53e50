/** The answer to a call that a limit of money refuses. C14. */
import t from 'tap'
import { failureWords } from '../../src/schemas/failure-words.ts'
import { textOf } from '../../src/schemas/failures.ts'
import {
  costUnbounded,
  moneyRefused,
  withAffordable,
  type RefusedTokens,
  type RefusingLimit,
} from '../../src/schemas/money/money-refusals.ts'
import { remedyOf } from '../../src/schemas/remedies.ts'
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

t.test('a budget refusal has the amount used, the maximum cost of the call and the reset time', (t) => {
  const failure = failureOf(limitOf('workspace', 'daily'))
  t.equal(failure.name, 'budget_exceeded')
  t.equal(
    textOf(failure),
    "The workspace's daily budget does not cover this call. " +
      '9.99 of 10 USD is used, and this call may cost up to 0.02 USD; the limit resets at 2026-11-21T00:00:00Z. ' +
      'Make a smaller request, raise the budget, or wait until the limit resets.',
  )
  t.same(failure.metadata, {
    limit_source: 'budget',
    scope: 'workspace',
    limit: 10,
    spend: 9.99,
    max_cost: 0.02,
    interval: 'daily',
    reset_at: '2026-11-21T00:00:00Z',
  })
  t.end()
})

t.test('the refusal by a lifetime limit of a key, or by credit, has no reset time', (t) => {
  const key = failureOf(limitOf('key', 'lifetime'))
  t.equal(
    textOf(key),
    "The key's spending limit does not cover this call. 9.99 of 10 USD is used, and this call may cost up to 0.02 USD. " +
      "Make a smaller request, or raise the key's limit.",
    'a lifetime limit never resets',
  )
  t.same(key.metadata, {
    limit_source: 'key_limit',
    scope: 'key',
    limit: 10,
    spend: 9.99,
    max_cost: 0.02,
    interval: 'lifetime',
  })
  const credit = failureOf(limitOf('organization', 'lifetime'))
  t.match(
    textOf(credit),
    /^The organization's credit does not cover this call\. 9\.99 of 10 USD is used.* or add credit\.$/,
  )
  t.same(credit.metadata, {
    ...{ limit_source: 'credit', scope: 'organization', limit: 10, spend: 9.99, max_cost: 0.02 },
  })
  t.end()
})

t.test('a refusal names the amount that other calls reserve, because it counts against the limit', (t) => {
  const failure = failureOf(limitOf('workspace', 'monthly', { spentNano: 1_000_000_000, restNano: -1 }))
  t.match(
    textOf(failure),
    /1 of 10 USD is used, 9\.000000001 is reserved for calls in progress, and this call may cost/,
  )
  t.equal(failure.metadata?.held, 9.000000001)
  t.match(
    textOf(failure),
    / USD; the limit resets at \S+ Raise the budget, or wait until the limit resets\.$/,
  )
  t.end()
})

t.test('the refusal of a text call explains that its maximum cost is an upper bound', (t) => {
  const tokens = { member: 'max_tokens', affordable: 85, asked: null, byDefault: null }
  t.equal(
    textOf(withAffordable(failureOf(limitOf('key', 'lifetime')), 10_000_000, tokens)),
    "The key's spending limit does not cover this call. 9.99 of 10 USD is used, and this call may cost up to 0.02 USD " +
      '(an upper bound that counts at least one token per byte of the request). ' +
      "Set `max_tokens` to 85 or less, set `default_max_output_tokens` on the key, or raise the key's limit.",
  )
  t.end()
})

t.test('the remedies match the maximum of the call and the money that is left', (t) => {
  const failure = failureOf(limitOf('key', 'lifetime'))
  const cures = (more: Partial<RefusedTokens>, availableNano = 10_000_000): string => {
    const tokens = { member: 'max_tokens', affordable: 85, asked: null, byDefault: null, ...more }
    return textOf(withAffordable(failure, availableNano, tokens)).replace(/^.* request\)\. /, '')
  }
  t.equal(
    cures({}),
    "Set `max_tokens` to 85 or less, set `default_max_output_tokens` on the key, or raise the key's limit.",
  )
  t.equal(
    cures({ byDefault: 4096 }),
    "Set `max_tokens` to 85 or less, lower `default_max_output_tokens` (now 4096), or raise the key's limit.",
  )
  t.equal(cures({ asked: 300 }), "Lower `max_tokens` to 85 or less, or raise the key's limit.")
  t.equal(
    cures({ affordable: 15, member: 'max_output_tokens' }),
    "Set `max_output_tokens` to 15 or less, or raise the key's limit.",
    'a default is 16 at least',
  )
  t.equal(
    cures({ affordable: 0 }),
    'The remaining amount does not cover the prompt and one output token. ' +
      "Raise the key's limit, or use another key.",
  )
  t.equal(cures({ affordable: 0 }, 0), "Raise the key's limit, or use another key.")
  const budget = failureOf(limitOf('workspace', 'monthly'))
  const answer = withAffordable(budget, 1, {
    member: 'max_tokens',
    affordable: 85,
    asked: 300,
    byDefault: null,
  })
  t.match(textOf(answer), /, raise the budget, or wait until the limit resets\.$/)
  const none = withAffordable(budget, 1, { member: 'max_tokens', affordable: 0, asked: 1, byDefault: null })
  t.match(
    textOf(none),
    /one output token\. Raise the budget, or wait until the limit resets\.$/,
    'another key has the same budget',
  )
  t.equal(answer.metadata?.affordable_output_tokens, 85)
  t.end()
})

t.test('pages and dashboard name the three remedies, and no wait for a limit that never resets', (t) => {
  for (const name of ['credit_exhausted', 'key_limit_exceeded', 'budget_exceeded'] as const) {
    for (const words of [remedyOf(name), failureWords(name)?.remedy ?? ''])
      t.match(
        words,
        /`max_tokens`.*`default_max_output_tokens`.*(raise the [\w']+ (limit|budget)|add credit)/,
        name,
      )
    t.notMatch(failureWords(name)?.remedy, /wait|anew/)
  }
  t.match(remedyOf('key_limit_exceeded'), /a lifetime limit never resets\.$/)
  t.match(remedyOf('key_limit_exceeded'), / is 0 or too small, raise the key's limit, or use another key\./)
  t.end()
})

t.test('of several exceeded limits, reports the credit first, then the key, then the widest budget', (t) => {
  const budgets = SPANS.map((span) => limitOf('workspace', span))
  const [key, credit] = [limitOf('key', 'daily'), limitOf('organization', 'lifetime')]
  t.equal(failureOf(...budgets, key, credit).name, 'credit_exhausted')
  t.equal(failureOf(...budgets, key).name, 'key_limit_exceeded')
  for (const [index, span] of SPANS.entries())
    t.equal(failureOf(...budgets.slice(0, index + 1)).metadata?.interval, span)
  t.end()
})

t.test('a refusal for an unknown maximum cost names the owner of the first limit, in the same order', (t) => {
  const refused = costUnbounded(['workspace', 'key'], {})
  t.ok(
    !refused.ok &&
      textOf(refused.failure) ===
        'The maximum cost of this call is unknown, and the key has a spending limit. ' +
          'Send `max_tokens`, or set `default_max_output_tokens` on the key.',
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
    /^(?!.*max_uses.*max_uses).* spending limit: \/tools\/0\/max_uses has to bound it, expected a number\. Without a spending limit, the call is allowed\.$/,
    'what has no bound is named once',
  )
  t.end()
})
