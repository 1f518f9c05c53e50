import t from 'tap'
import { nextTryIn, retryAfterMsOf, WEBHOOK_DELAYS_MS } from '../../src/schemas/webhooks/webhook-schedule.ts'
import { WEBHOOK_RETRY_AFTER_MS_MAX } from '../../src/server/runner/webhooks/sender.ts'

const NOW = Date.UTC(2026, 2, 18, 12, 0, 0)

function next(tries: number, random: number, retryAfterMs: number | null = null): number | null {
  return nextTryIn(
    { tries, retryAfterMs },
    { delaysMs: WEBHOOK_DELAYS_MS, retryAfterMsMax: WEBHOOK_RETRY_AFTER_MS_MAX, random: () => random },
  )
}

t.test('eight attempts are made, with the delays of the contract between them', async (t) => {
  const delays = Array.from({ length: 8 }, (_, nth) => next(nth + 1, 0))
  t.same(delays, [5_000, 300_000, 1_800_000, 7_200_000, 18_000_000, 36_000_000, 36_000_000, null])
})

t.test('a delay is at least the scheduled one, and at most a fifth longer', async (t) => {
  for (const [nth, delayMs] of WEBHOOK_DELAYS_MS.entries()) {
    for (const random of [0, 0.25, 0.5, 0.999_999]) {
      const isWithin =
        (next(nth + 1, random) ?? 0) >= delayMs && (next(nth + 1, random) ?? Infinity) <= delayMs * 1.2
      t.ok(isWithin, `${delayMs} at ${random}`)
    }
  }
})

t.test(
  'Retry-After delays an attempt by at most a day, and never makes it earlier or adds an attempt',
  async (t) => {
    t.equal(next(1, 0, 60_000), 60_000)
    t.equal(next(2, 0.5, 1_000), 330_000)
    t.equal(next(1, 0, 10 * WEBHOOK_RETRY_AFTER_MS_MAX), WEBHOOK_RETRY_AFTER_MS_MAX)
    t.equal(next(8, 0, 1_000), null)
  },
)

t.test('Retry-After is accepted as seconds or as a date, and in no other form', async (t) => {
  t.equal(retryAfterMsOf('120', NOW), 120_000)
  t.equal(retryAfterMsOf('0', NOW), 0)
  t.equal(retryAfterMsOf('Wed, 18 Mar 2026 12:01:00 GMT', NOW), 60_000)
  t.equal(retryAfterMsOf('Wed, 18 Mar 2026 11:00:00 GMT', NOW), 0)
  const none = [
    null,
    '',
    '-1',
    '1.5',
    '1e3',
    '+1',
    ' 1',
    '0x10',
    '9999999999',
    'soon',
    '2026-03-18',
    'Wed, 99 Mar 2026 12:00:00 GMT',
    '1, 2',
  ]
  t.same(
    none.map((text) => retryAfterMsOf(text, NOW)),
    none.map(() => null),
  )
})
