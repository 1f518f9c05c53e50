import t from 'tap'
import { RATE_SHARE_WAIT_MS_MAX } from '../../../src/schemas/limits/rate-limits.ts'
import { textOf } from '../../../src/schemas/failures.ts'
import { createAdmission, type Admission } from '../../../src/server/limits/admission.ts'
import { joinedHeaders, type Admitted } from '../../../src/server/limits/admitted.ts'
import {
  keyOf,
  ModelRedis,
  openFronts,
  Simulation,
  whenAnswered,
} from '../../support/wire/rate-simulation.ts'

const EPOCH = 1_700_000_000_000

t.test('a key without a limit is admitted at once, and its answers have no rate limit headers', async (t) => {
  const { admission, redis } = open()
  t.same(admission.admit(keyOf(null)), { failure: null, headers: null })
  t.equal(redis.steps, 0)
})

t.test('an admitted call returns policy, remaining and reset in both header formats', async (t) => {
  const { call } = open()
  t.same(await call(keyOf(600)), {
    failure: null,
    headers: {
      'RateLimit-Policy': '"requests";q=600;w=60;burst=60',
      RateLimit: '"requests";r=59;t=1',
      'X-RateLimit-Limit': '600',
      'X-RateLimit-Remaining': '59',
      'X-RateLimit-Reset': String(EPOCH + 1 + 100),
    },
  })
})

t.test('the headers of two limits of one call are joined as in the draft', async (t) => {
  const tokens = { RateLimit: '"tokens";r=5;t=3', 'X-RateLimit-Limit-Tokens': '9' }
  t.equal(joinedHeaders(null, tokens), tokens)
  t.same(joinedHeaders({ RateLimit: '"requests";r=59;t=1', 'X-RateLimit-Limit': '600' }, tokens), {
    RateLimit: '"requests";r=59;t=1, "tokens";r=5;t=3',
    'X-RateLimit-Limit': '600',
    'X-RateLimit-Limit-Tokens': '9',
  })
})

t.test('a refused call gets the time of the next attempt, in the headers and in the envelope', async (t) => {
  const { call } = open()
  const key = keyOf(10, undefined, 1)
  await call(key)
  const { failure, headers } = await call(key)
  t.match(headers, {
    'RateLimit-Policy': '"requests";q=10;w=60;burst=1',
    RateLimit: '"requests";r=0;t=6',
    'X-RateLimit-Remaining': '0',
    'X-RateLimit-Reset': /^17\d{11}$/,
  })
  t.match(failure, {
    name: 'rate_limited',
    fields: { limit: 10 },
    retryAfterS: 6,
    metadata: {
      limit_source: 'key_rate_limit',
      limit_kind: 'requests',
      limit: 10,
      reset_at: /^2023-11-14T22:13:2\d\.\d{3}Z$/,
      headers: {
        'X-RateLimit-Limit': '10',
        'X-RateLimit-Remaining': '0',
        'X-RateLimit-Reset': headers?.['X-RateLimit-Reset'],
      },
    },
  })
})

t.test('a single client that waits Retry-After is admitted, whatever the limit', async (t) => {
  for (const limitRpm of [1, 7, 13, 60, 599, 6_000]) {
    const { call, wait } = open()
    const key = keyOf(limitRpm)
    for (let i = 0; i < 5; i += 1) {
      let answer = await call(key)
      while (answer.failure === null) answer = await call(key)
      await wait((answer.failure.retryAfterS ?? 0) * 1000)
      t.equal((await call(key)).failure, null, `${limitRpm} a minute`)
    }
  }
})

t.test('a key known to be above its limit is refused at once, without the authority', async (t) => {
  const { admission, redis, call } = open()
  const key = keyOf(1)
  await call(key)
  await call(key)
  const steps = redis.steps
  for (let i = 0; i < 1_000; i += 1) t.notOk(admission.admit(key) instanceof Promise || undefined)
  t.equal(redis.steps, steps)
})

t.test('a refusal states the rate, the burst and when to try again', async (t) => {
  const { call } = open()
  const key = keyOf(10, undefined, 1)
  await call(key)
  const { failure } = await call(key)
  t.match(failure, { fields: { limit: 10, each: 6, burst: 1, retry: 6 } })
  t.equal(
    failure === null ? null : textOf(failure),
    'The key is over its limit of 10 requests a minute (one every 6 s, burst 1); try again in 6 s.',
  )
})

t.test('a refusal without the authority does not claim that the key is above its limit', async (t) => {
  const { redis, call } = open({ liveFronts: 2 })
  redis.mode = 'down'
  const { failure, headers } = await call(keyOf(60))
  t.equal(
    failure === null ? null : textOf(failure),
    'The Sluice process is over its limit of 30 requests a minute (one every 2 s, burst 5); try again in 2 s. ' +
      'The rate limit store did not answer. Until the store answers, each process applies its own share of ' +
      "the key's limit: the key may still be within its limit.",
  )
  t.match(failure, { name: 'rate_limited', metadata: { limit_source: 'key_rate_limit', limit: 60 } })
  t.match(headers, { 'RateLimit-Policy': '"requests";q=60;w=60;burst=10' })
})

t.test('calls of one turn share one request to the authority', async (t) => {
  const { admission, redis, wait } = open()
  const answers = Array.from({ length: 30 }, () => admission.admit(keyOf(600)))
  await wait(5)
  t.equal((await Promise.all(answers)).filter(({ failure }) => failure === null).length, 30)
  t.equal(redis.steps, 1)
})

t.test('as many waiting calls as there are tokens are admitted, in order', async (t) => {
  const { admission, wait } = open()
  const answers = Array.from({ length: 5 }, () => admission.admit(keyOf(20, undefined, 2)))
  await wait(5)
  t.same(
    (await Promise.all(answers)).map(({ failure }) => failure === null),
    [true, true, false, false, false],
  )
})

t.test('a changed limit takes effect with the next call', async (t) => {
  const { call } = open()
  await call(keyOf(1))
  t.ok((await call(keyOf(1))).failure, 'over the old limit')
  const raised = await call(keyOf(60_000))
  t.equal(raised.headers?.['X-RateLimit-Limit'], '60000')
  t.same(await call(keyOf(null)), { failure: null, headers: null }, 'and a limit that was taken away')
})

for (const [perS, tripsMax] of [
  [60, 0.7],
  [100, 0.5],
  [500, 0.15],
] as const) {
  t.test(`not every one of ${perS} steady calls per second asks the authority`, async (t) => {
    const { admission, redis, wait } = open()
    const key = keyOf(1_000_000)
    const call = async (): Promise<void> => {
      const answer = admission.admit(key)
      await wait(1_000 / perS)
      t.equal((await answer).failure, null)
    }
    for (let n = 0; n < perS / 2; n++) await call()
    const before = redis.steps
    for (let n = 0; n < perS; n++) await call()
    t.ok(redis.steps - before <= perS * tripsMax, `${redis.steps - before} steps`)
  })
}

t.test('a token that was borrowed ahead is not used after it expires', async (t) => {
  const { admission, redis, wait, call } = open()
  const key = keyOf(60_000)
  await borrowAhead({ admission, wait })
  const steps = redis.steps
  t.notOk(admission.admit(key) instanceof Promise, 'a balance is there')
  await wait(45)
  await call(key)
  t.equal(redis.steps, steps + 1, 'the authority was asked again')
})

t.test(
  'a stalled authority delays a call by 100 ms once; after that the share of the front decides at once',
  async (t) => {
    const { admission, redis, simulation, wait } = open()
    await wait(300)
    redis.mode = 'stalled'
    const at = simulation.now
    let answeredAt = 0
    whenAnswered(admission.admit(keyOf(60)), () => (answeredAt = simulation.now))
    await wait(150)
    t.ok(answeredAt > at && answeredAt - at <= 101, `answered after ${answeredAt - at} ms`)
    t.notOk(admission.admit(keyOf(60)) instanceof Promise)
  },
)

t.test('calls due soon are still admitted without the authority, at the rate of the share', async (t) => {
  const { admission, redis, simulation, wait } = open({ liveFronts: 2 })
  const key = keyOf(30_000)
  await wait(300)
  redis.mode = 'down'
  const admitted: number[] = []
  const refused: number[] = []
  const admit = (): void =>
    whenAnswered(admission.admit(key), ({ failure }) =>
      (failure === null ? admitted : refused).push(simulation.now),
    )
  // Of the last answer of the authority.
  const from = 250
  for (let i = 0; i < 20; i += 1) admit()
  await wait(100)
  // 250 a second: one each 4 ms, from an empty share on.
  t.ok(20 * 4 < RATE_SHARE_WAIT_MS_MAX)
  t.same([admitted.length, refused.length], [20, 0])
  t.ok(admitted.every((at, nth) => at - from >= 4 * nth - 1))
  for (let i = 0; i < 100; i += 1) admit()
  t.ok(refused.length >= 60, 'those who would wait for longer are refused at once')
  await wait(100)
  t.equal(admitted.length + refused.length, 120)
})

t.test('without the authority a front admits its share, and not all at once', async (t) => {
  const { admission, redis, simulation } = open({ liveFronts: 2 })
  redis.mode = 'down'
  const admitted: number[] = []
  for (let i = 0; i < 2_000; i += 1) {
    whenAnswered(admission.admit(keyOf(600)), ({ failure }) => {
      if (failure === null) admitted.push(simulation.now)
    })
    await simulation.runUntil(simulation.now + 10)
  }
  t.ok((admitted[0] ?? 0) >= 190, 'it begins empty')
  t.ok(admitted.length >= 97 && admitted.length <= 100, `${admitted.length} in 20 s at half of 600 a minute`)
})

t.test('a client that waits Retry-After without the authority is admitted', async (t) => {
  const { admission, redis, wait, call } = open({ liveFronts: 3 })
  redis.mode = 'down'
  const refused = await call(keyOf(60))
  await wait((refused.failure?.retryAfterS ?? 0) * 1000)
  t.equal((await call(keyOf(60))).failure, null)
  t.notOk(admission.admit(keyOf(60)) instanceof Promise)
})

t.test('after an outage the authority decides again from the next call on', async (t) => {
  const { redis, wait, call } = open()
  redis.mode = 'down'
  t.ok((await call(keyOf(600))).failure)
  redis.mode = 'up'
  await wait(300)
  t.equal((await call(keyOf(600))).failure, null)
  t.equal(redis.steps > 0, true)
})

t.test('spending without the authority is reported to it later', async (t) => {
  const { redis, wait, call } = open()
  const key = keyOf(60)
  redis.mode = 'down'
  await wait(30_000)
  let spent = 0
  while ((await call(key)).failure === null) spent += 1
  redis.mode = 'up'
  await wait(300)
  t.equal(spent, 10, 'the burst had filled up')
  t.ok((await call(key)).failure, 'and is not free a second time')
})

t.test(
  'more keys than a front can keep leases for all get answers, and a forgotten key gets no new burst without the authority',
  async (t) => {
    const { redis, wait, call } = open({ leasesMax: 10 })
    for (let i = 0; i < 100; i += 1) t.equal((await call(keyOf(600, `key-${i}`))).failure, null)
    redis.mode = 'down'
    await wait(60_000)
    for (let i = 0; i < 30; i += 1) await call(keyOf(600, `key-${i}`))
    t.ok((await call(keyOf(600, 'key-0'))).failure, 'its purse was forgotten a moment ago')
  },
)

t.test('every decision is counted by its source', async (t) => {
  const seen: string[] = []
  const { redis, call } = open({
    meters: { rateDecision: (decision, source) => void seen.push(`${decision} ${source}`) },
  })
  for (let i = 0; i < 3; i += 1) await call(keyOf(1))
  redis.mode = 'down'
  await call(keyOf(1, 'other'))
  t.same(seen, ['admitted authority', 'refused authority', 'refused purse', 'refused fallback'])
})

const BURSTS: readonly (readonly [text: string, limitRpm: number, burst: number | null, atOnce: number])[] = [
  ['a burst of one', 60, 1, 1],
  ['a burst of the whole limit', 60, 60, 60],
  ['the default of a low limit', 3, null, 3],
  ['the default of ten', 60, null, 10],
  ['the default of a tenth', 600, null, 60],
]

for (const [text, limitRpm, burst, atOnce] of BURSTS) {
  t.test(`${text} is admitted at once, and then calls at the rate of the limit`, async (t) => {
    const { call, wait } = open()
    const key = keyOf(limitRpm, undefined, burst)
    let answer = await call(key)
    t.equal(answer.headers?.['RateLimit-Policy'], `"requests";q=${limitRpm};w=60;burst=${atOnce}`)
    let admitted = 0
    for (; answer.failure === null; answer = await call(key)) admitted += 1
    t.equal(admitted, atOnce)
    for (let i = 0; i < 3; i += 1) {
      await wait(60_000 / limitRpm)
      t.equal((await call(key)).failure, null, 'one is free')
      t.ok((await call(key)).failure, 'and no second one')
    }
  })
}

t.test("the operator's burst applies to keys without their own, and is capped at their limit", async (t) => {
  const { call } = open({ burst: 20 })
  const policyOf = async (key: ReturnType<typeof keyOf>): Promise<string | undefined> =>
    (await call(key)).headers?.['RateLimit-Policy']
  t.match(await policyOf(keyOf(600, 'a')), /burst=20$/)
  t.match(await policyOf(keyOf(600, 'b', 5)), /burst=5$/)
  t.match(await policyOf(keyOf(12, 'c')), /burst=12$/)
})

t.test('a changed burst takes effect with the next call', async (t) => {
  const { call } = open()
  for (const burst of [1, 2, 60]) {
    const { headers } = await call(keyOf(60, undefined, burst))
    t.match(headers?.['RateLimit-Policy'], new RegExp(`burst=${burst}$`))
  }
})

for (const [fronts, burst, atOnce] of [
  [2, 10, 10],
  [4, 60, 60],
  [4, 2, 4],
  [3, 1, 3],
] as const) {
  t.test(`without the authority ${fronts} fronts share a burst of ${burst}`, async (t) => {
    const simulation = new Simulation()
    const redis = new ModelRedis(simulation, () => 0.5)
    redis.mode = 'down'
    const key = keyOf(60, undefined, burst)
    const all = openFronts(simulation, redis, fronts)
    await simulation.runUntil(120_000)
    let admitted = 0
    for (const front of all)
      for (let i = 0; i < 100; i += 1)
        whenAnswered(front.admit(key), ({ failure }) => void (admitted += failure === null ? 1 : 0))
    t.equal(admitted, atOnce)
  })
}

type More = Partial<Parameters<typeof createAdmission>[0]> & { liveFronts?: number }

function open({ liveFronts = 1, ...more }: More = {}): {
  admission: Admission
  redis: ModelRedis
  simulation: Simulation
  wait(ms: number): Promise<void>
  call(key: ReturnType<typeof keyOf>): Promise<Admitted>
} {
  const simulation = new Simulation()
  const redis = new ModelRedis(simulation, () => 0.5)
  const admission = createAdmission({
    authority: redis.connect(),
    fronts: { liveFronts },
    now: () => simulation.now,
    epochNow: () => EPOCH + simulation.now,
    schedule: (flush) => simulation.after(0, flush),
    later: (run, ms) => simulation.after(ms, run),
    ...more,
  })
  const wait = (ms: number): Promise<void> => simulation.runUntil(simulation.now + ms)
  const call = async (key: ReturnType<typeof keyOf>): Promise<Admitted> => {
    const answer = admission.admit(key)
    let isAnswered = false
    whenAnswered(answer, () => (isAnswered = true))
    while (!isAnswered) await wait(2)
    return answer
  }
  return { admission, redis, simulation, wait, call }
}

/** Uses the key until the front borrows more than it needs, and stops right after a block came. */
async function borrowAhead({
  admission,
  wait,
}: {
  admission: Admission
  wait(ms: number): Promise<void>
}): Promise<void> {
  for (let i = 0; i < 60; i += 1) {
    for (let j = 0; j < 10; j += 1) void admission.admit(keyOf(60_000))
    await wait(2)
  }
}
