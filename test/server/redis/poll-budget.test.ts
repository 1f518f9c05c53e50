import t from 'tap'
import type { RateInput, RateAuthority, RateGrant } from '../../../src/server/ports/rates.ts'
import {
  VIDEO_POLL_ASK_MS_MAX,
  VIDEO_POLL_BURST_MS,
  VIDEO_POLL_LAG_MS,
  openPollBudget,
} from '../../../src/server/redis/poll-budget.ts'
import { openRateAuthority } from '../../../src/server/redis/rates.ts'
import { openPatientState, openTestRedis } from '../../support/stores/redis.ts'

t.setTimeout(600_000)

/** A budget with a clock of its own, and an authority that answers what the test says. */
function budgetOf({
  lend,
  liveRunners = 1,
}: { readonly lend?: (ask: RateInput) => Promise<RateGrant>; readonly liveRunners?: number } = {}) {
  const clock = { now: 0 }
  const authority: RateAuthority = {
    isReachable: lend !== undefined,
    lastAnswerAt: 0,
    lend: lend ?? (() => Promise.reject(new Error('away'))),
  }
  return { clock, budget: openPollBudget({ authority, runners: { liveRunners }, now: () => clock.now }) }
}

t.test('Redis grants the polls for the whole installation, with their own burst', async (t) => {
  const asks: RateInput[] = []
  const { budget } = budgetOf({
    async lend(ask) {
      asks.push(ask)
      return { granted: 3, remaining: 0, retryAfterMs: 12, resetAfterMs: 50 }
    },
  })
  t.same(await budget.take('veo', 40, 5), { granted: 3, retryAfterMs: 12 })
  const burst = (40 * VIDEO_POLL_BURST_MS) / 1_000
  const limitRpm = 60 * 40 * (1 - (VIDEO_POLL_BURST_MS + VIDEO_POLL_LAG_MS) / 1_000)
  t.same(asks, [
    { key: 'polls:veo', limitRpm, burst, want: 5, giveBack: 0, waitMsMax: VIDEO_POLL_ASK_MS_MAX },
  ])
})

for (const [liveRunners, perSecond] of [
  [1, 100],
  [4, 100],
  [2, 0.5],
  [16, 3],
] as const) {
  t.test(
    `without Redis ${liveRunners} runners together make at most ${perSecond} polls a second`,
    async (t) => {
      const { clock, budget } = budgetOf({ liveRunners })
      let granted = 0
      for (clock.now = 0; clock.now < 60_000; clock.now += 10)
        granted += (await budget.take('veo', perSecond, 50)).granted
      const share = (60 * perSecond) / liveRunners
      t.ok(granted <= share + 1, `${granted} of ${share}`)
      t.ok(granted >= 0.83 * share - 1, `${granted} of ${share}`)
    },
  )
}

t.test('without Redis the share starts at zero, and the time of the next poll is reported', async (t) => {
  const { clock, budget } = budgetOf()
  const { granted, retryAfterMs } = await budget.take('veo', 2, 1)
  t.equal(granted, 0)
  clock.now = retryAfterMs
  t.equal((await budget.take('veo', 2, 1)).granted, 1)
})

t.test('when Redis does not answer, the runner uses its own share', async (t) => {
  const { clock, budget } = budgetOf({ lend: () => Promise.reject(new Error('slow')) })
  await budget.take('veo', 10, 1)
  clock.now = 1_000
  t.equal((await budget.take('veo', 10, 1)).granted, 1)
})

t.test("providers do not use up each other's polls", async (t) => {
  const { clock, budget } = budgetOf()
  await budget.take('veo', 10, 1)
  await budget.take('sora', 10, 1)
  clock.now = 118
  t.same(
    [await budget.take('veo', 10, 1), await budget.take('sora', 10, 1)].map(({ granted }) => granted),
    [1, 1],
  )
})

t.test('with a real Redis two runners together get the polls of one', async (t) => {
  const redis = await openTestRedis(t)
  const state = await openPatientState(t, redis)
  const open = () =>
    openPollBudget({
      authority: patient(openRateAuthority(state)),
      runners: { liveRunners: 2 },
      now: () => performance.now(),
    })
  const startedAt = performance.now()
  const grants = await Promise.all([open(), open()].map((budget) => budget.take('veo', 100, 10)))
  const granted = grants.reduce((sum, one) => sum + one.granted, 0)
  const burst = (100 * VIDEO_POLL_BURST_MS) / 1_000
  // What becomes free between the two asks is theirs too.
  t.ok(granted >= burst && granted <= burst + Math.ceil((performance.now() - startedAt) / 10), `${granted}`)
})

/** Waits for Redis as long as it takes: what a runner does without it is not what is asked. */
function patient(authority: RateAuthority): RateAuthority {
  return {
    get isReachable() {
      return authority.isReachable
    },
    get lastAnswerAt() {
      return authority.lastAnswerAt
    },
    lend: (ask) => authority.lend({ ...ask, waitMsMax: 60_000 }),
  }
}
