import { Redis } from 'ioredis'
import t from 'tap'
import { createAdmission, type Admission } from '../../../src/server/limits/admission.ts'
import { openRateAuthority } from '../../../src/server/redis/rates.ts'
import { openState, type State } from '../../../src/server/redis/open.ts'
import { SILENT } from '../../support/log.ts'
import { excessOfSpans, keyOf, type Span } from '../../support/wire/rate-simulation.ts'
import { openTestRedis, REDIS_KINDS, type TestRedis } from '../../support/stores/redis.ts'
import { RATE_SLACK_MS } from '../../../src/schemas/limits/rate-limits.ts'

for (const kind of REDIS_KINDS) {
  t.test(`${kind}: two fronts under pressure admit no more than the bound, in no window`, async (t) => {
    const redis = await openTestRedis(t, kind)
    const fronts = [await front(t, redis), await front(t, redis)]
    let wasAway = true
    for (let round = 0; wasAway && round < ROUNDS_MAX; round++) {
      for (const one of fronts) one.wasAway = !one.state.isReachable
      const { admitted, ranMs } = await hammer(fronts, {
        limitRpm: 6_000,
        callers: 16,
        forMs: 1_000,
        atLeast: 600,
        hash: `round ${round}`,
      })
      wasAway = fronts.some((one) => one.wasAway)
      // A Redis that a busy machine makes late is away, and adds at most one burst, as below.
      const excess = excessOfSpans(admitted, 6_000, RATE_SLACK_MS)
      t.ok(excess <= (wasAway ? 600 : 0), `${admitted.length} in ${ranMs} ms, away: ${wasAway}`)
      t.ok(admitted.length >= 600, 'and at least the burst')
    }
  })

  t.test(`${kind}: a Redis that freezes for a while adds at most one burst`, async (t) => {
    const redis = await openTestRedis(t, kind)
    const fronts = [await front(t, redis), await front(t, redis)]
    setTimeout(() => redis.freeze(), 200)
    setTimeout(() => redis.thaw(), 700)
    const { admitted } = await hammer(fronts, { limitRpm: 6_000, callers: 8, forMs: 1_200 })
    t.ok(excessOfSpans(admitted, 6_000, RATE_SLACK_MS) <= 600, `${admitted.length} admitted`)
  })

  t.test(`${kind}: a flushed database adds at most one burst`, async (t) => {
    const redis = await openTestRedis(t, kind)
    const fronts = [await front(t, redis), await front(t, redis)]
    const outside = new Redis(redis.socketPath)
    t.teardown(() => outside.disconnect())
    const flushed = new Promise((resolve) => setTimeout(resolve, 300)).then(() => outside.flushall())
    const { admitted } = await hammer(fronts, { limitRpm: 6_000, callers: 8, forMs: 800 })
    await flushed
    t.ok(excessOfSpans(admitted, 6_000, RATE_SLACK_MS) <= 600, `${admitted.length} admitted`)
  })
}

interface Front {
  readonly admission: Admission
  readonly state: State
  /** It has done without Redis since this was set to false. */
  wasAway: boolean
}

async function front(t: Parameters<typeof openTestRedis>[0], redis: TestRedis): Promise<Front> {
  const state = openState({ url: null, socketPath: redis.socketPath, log: SILENT })
  t.teardown(() => state.close())
  await state.whenReachable(60_000)
  const admission = createAdmission({
    authority: openRateAuthority(state),
    fronts: { liveFronts: 2 },
    now: () => performance.now(),
  })
  const made: Front = { admission, state, wasAway: false }
  state.onChange((isReachable) => void (made.wasAway ||= !isReachable))
  return made
}

/** Rounds after which a machine whose Redis is late in each is not asked for more. */
const ROUNDS_MAX = 10
/** Milliseconds after which a slow machine is given up. */
const PATIENCE_MS = 60_000

/**
 * Callers that ask again as soon as they are answered, until so many were admitted; each takes turns over the
 * fronts.
 */
async function hammer(
  fronts: readonly Front[],
  {
    limitRpm,
    callers,
    forMs,
    atLeast = 0,
    hash = 'k'.repeat(64),
  }: { limitRpm: number; callers: number; forMs: number; atLeast?: number; hash?: string },
): Promise<{ admitted: readonly Span[]; ranMs: number }> {
  const admitted: Span[] = []
  const from = performance.now()
  const caller = async (first: number): Promise<void> => {
    const isEnough = (ranMs: number): boolean =>
      ranMs >= forMs && (admitted.length >= atLeast || ranMs >= PATIENCE_MS)
    for (let i = first; !isEnough(performance.now() - from); i += 1) {
      const startedAt = performance.now()
      const { failure } = await (fronts[i % fronts.length]?.admission.admit(keyOf(limitRpm, hash)) ??
        Promise.reject(new Error('no front')))
      if (failure === null) admitted.push({ startedAt, endedAt: performance.now() })
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
  await Promise.all(Array.from({ length: callers }, (_, i) => caller(i)))
  return { admitted, ranMs: performance.now() - from }
}
