import { Redis } from 'ioredis'
import t from 'tap'
import { createAdmission, type Admission } from '../../../src/server/limits/admission.ts'
import type { RateAuthority } from '../../../src/server/ports/rates.ts'
import { openRateAuthority } from '../../../src/server/redis/rates.ts'
import type { State } from '../../../src/server/redis/open.ts'
import { excessOfSpans, keyOf, type Span } from '../../support/wire/rate-simulation.ts'
import { openPatientState, openTestRedis, REDIS_KINDS, type TestRedis } from '../../support/stores/redis.ts'
import { RATE_SLACK_MS } from '../../../src/schemas/limits/rate-limits.ts'
import { until } from '../../support/wait.ts'

/** Ten a second, and the calls of a minute at once: an outage frees few of them. */
const LIMIT_RPM = 600
const BURST = LIMIT_RPM

for (const kind of REDIS_KINDS) {
  t.test(`${kind}: two fronts under load admit no more than the limit in any window`, async (t) => {
    const redis = await openTestRedis(t, kind)
    const fronts = [await front(t, redis), await front(t, redis)]
    const limitRpm = 6_000
    // A tenth of the limit is the burst: so many, and some that came free meanwhile.
    const admitted = await hammer(fronts, {
      limitRpm,
      burst: null,
      isOver: ({ admitted }) => admitted >= 700,
    })
    const excess = excessOfSpans(admitted, limitRpm, RATE_SLACK_MS)
    t.ok(excess <= 0, `${excess} too many of ${admitted.length}`)
  })

  t.test(`${kind}: a Redis that freezes for a while adds at most one burst`, async (t) => {
    const redis = await openTestRedis(t, kind)
    const fronts = [await front(t, redis), await front(t, redis)]
    const before = await hammer(fronts)
    for (const one of fronts) one.mayBeAway = true
    redis.freeze()
    const frozen = await hammer(fronts, { isOver: () => fronts.every(({ state }) => !state.isReachable) })
    const away = await hammer(fronts)
    redis.thaw()
    await until(() => fronts.every(({ state }) => state.isReachable))
    for (const one of fronts) one.mayBeAway = false
    const all = [...before, ...frozen, ...away, ...(await hammer(fronts))]
    const excess = excessOfSpans(all, LIMIT_RPM, RATE_SLACK_MS, BURST)
    t.ok(excess <= BURST, `${excess} too many of ${all.length}`)
  })

  t.test(`${kind}: a flushed database adds at most one burst`, async (t) => {
    const redis = await openTestRedis(t, kind)
    const fronts = [await front(t, redis), await front(t, redis)]
    const outside = new Redis(redis.socketPath)
    t.teardown(() => outside.disconnect())
    const before = await hammer(fronts)
    await outside.flushall()
    const after = await hammer(fronts)
    const excess = excessOfSpans([...before, ...after], LIMIT_RPM, RATE_SLACK_MS, BURST)
    t.ok(excess <= BURST, `${excess} too many of ${before.length} and ${after.length}`)
  })
}

const CALLERS = 32
/** Refused calls that show that nothing is left on either front, each of which gets every second call. */
const REFUSED_MIN = 2 * BURST
/** So many are not admitted unless all are; and so many no machine makes within what the tests wait for. */
const ADMITTED_MAX = 100 * BURST
const REFUSED_MAX = 20_000_000

interface Front {
  readonly admission: Admission
  readonly state: State
  /** Without it Redis is never late, however slow the machine is. */
  mayBeAway: boolean
}

async function front(t: Parameters<typeof openTestRedis>[0], redis: TestRedis): Promise<Front> {
  const state = await openPatientState(t, redis)
  const lender = openRateAuthority(state)
  const authority: RateAuthority = {
    get isReachable() {
      return !made.mayBeAway || lender.isReachable
    },
    get lastAnswerAt() {
      return lender.lastAnswerAt
    },
    lend: (ask) => lender.lend(made.mayBeAway ? ask : { ...ask, waitMsMax: 2 ** 30 }),
  }
  const admission = createAdmission({
    authority,
    fronts: { liveFronts: 2 },
    now: () => performance.now(),
  })
  const made: Front = { admission, state, mayBeAway: false }
  return made
}

interface Calls {
  readonly admitted: number
  readonly refused: number
}

interface Load {
  readonly limitRpm?: number
  readonly burst?: number | null
  readonly isOver?: (calls: Calls) => boolean
}

/** Nothing is left, and some of what comes free by time was used. */
const isUsedUp = ({ admitted, refused }: Calls): boolean => admitted >= 2 && refused >= REFUSED_MIN

/** Callers that ask again as soon as they are answered; each takes turns over the fronts. */
async function hammer(
  fronts: readonly Front[],
  { limitRpm = LIMIT_RPM, burst = BURST, isOver = isUsedUp }: Load = {},
): Promise<readonly Span[]> {
  const key = keyOf(limitRpm, undefined, burst)
  const admitted: Span[] = []
  let refused = 0
  const caller = async (first: number): Promise<void> => {
    for (let i = first; !isOver({ admitted: admitted.length, refused }); i += 1) {
      const startedAt = performance.now()
      const { failure } = await (fronts[i % fronts.length]?.admission.admit(key) ??
        Promise.reject(new Error('no front')))
      if (failure === null) admitted.push({ startedAt, endedAt: performance.now() })
      else refused++
      if (admitted.length > ADMITTED_MAX || refused > REFUSED_MAX)
        throw new Error(`never: ${isOver.toString()}, of ${admitted.length} admitted and ${refused} refused`)
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
  await Promise.all(Array.from({ length: CALLERS }, (_, i) => caller(i)))
  return admitted
}
