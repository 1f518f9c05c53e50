/** Places and tokens of calls to models, counted by Redis for all fronts. D29. */
import { setImmediate as turn } from 'node:timers/promises'
import { Redis } from 'ioredis'
import t from 'tap'
import { FRONT_HUNG_MS } from '../../../src/schemas/limits/limits.ts'
import { TOKENS_OWED_MS_MAX } from '../../../src/schemas/limits/rate-limits.ts'
import { NO_CALL_LIMITS } from '../../../src/schemas/limits/model-calls.ts'
import { CALL_RENEW_MS, createModelCalls } from '../../../src/server/limits/model-calls.ts'
import type { CallAuthority, LimitedCall } from '../../../src/server/ports/model-calls.ts'
import { CALL_LEASE_MS, openCallAuthority } from '../../../src/server/redis/model-calls.ts'
import { present } from '../../support/must.ts'
import { openPatientState, openTestRedis, REDIS_KINDS, type TestRedis } from '../../support/stores/redis.ts'
import { until } from '../../support/wait.ts'
import { keyOf } from '../../support/wire/rate-simulation.ts'

/** Nothing in these tests is meant to be late. */
const PATIENT = 60_000
const SET = 'sluice:calls:{w}:key:k'
const STATE = 'sluice:tokens:{w}:key:k'
const HOUR_US = 3_600_000_000
/** Twice as much is more than one: the rest is for a machine that stands still meanwhile. */
const MOST_OF_A_LEASE_US = (2 / 3) * CALL_LEASE_MS * 1_000

t.setTimeout(600_000)

for (const kind of REDIS_KINDS) {
  t.test(`${kind}: 500 concurrent calls on four fronts never hold more than ten slots`, async (t) => {
    const { redis, outside } = await open(t, kind)
    const fronts = await Promise.all(
      Array.from({ length: 4 }, async () => {
        const authority = await connect(t, redis)
        const calls = createModelCalls({
          authority: {
            ...authority,
            isReachable: true,
            take: (call, want) => authority.take(call, want, PATIENT),
          },
          fronts: { liveFronts: 4 },
          now: () => performance.now(),
        })
        t.teardown(() => calls.close())
        return calls
      }),
    )
    const limits = { ...NO_CALL_LIMITS, max_parallel: 10 }
    const key = { ...keyOf(null), callLimits: { key: limits, workspace: { ...limits, max_parallel: 11 } } }
    const admit = (n: number) => present(fronts[n % 4]).admit({ key, estimate: () => 0 })
    const all = await Promise.all(Array.from({ length: 500 }, (_, n) => admit(n)))
    t.equal(all.filter(({ failure }) => failure === null).length, 10)
    for (const one of all) one.end(0)
    let [underWay, most, admitted] = [0, 0, 0]
    const call = async (n: number): Promise<void> => {
      const one = await admit(n)
      if (one.failure !== null) return
      most = Math.max(most, (underWay += 1))
      admitted += 1
      for (let turns = n % 7; turns > 0; turns -= 1) await turn()
      underWay -= 1
      one.end(0)
    }
    for (let wave = 0; wave < 5; wave += 1)
      await Promise.all(Array.from({ length: 100 }, (_, n) => call(wave * 100 + n)))
    t.ok(most <= 10 && admitted >= 50, `${admitted} admitted, ${most} at once`)
    await until(async () => (await outside.keys('sluice:calls:*')).length === 0)
  })

  t.test(`${kind}: the slots of a dead front are free when its lease has ended`, async (t) => {
    const { authority, outside } = await open(t, kind)
    const held = Array.from({ length: 100 }, (_, n) => placed(`a:${n}`, 100))
    for (const one of held) t.match(await take(authority, one), { isGranted: true })
    t.match(await take(authority, placed('b:1', 100)), { isGranted: false, by: { max: 100 } })
    await pass(outside, CALL_LEASE_MS * 1_000)
    t.match(await take(authority, placed('b:1', 100)), { isGranted: true })
    t.same(await outside.zrange(SET, 0, -1), ['b:1'])
  })

  t.test(`${kind}: a live front keeps its slots, and gets them back after Redis has lost them`, async (t) => {
    t.ok(CALL_RENEW_MS + FRONT_HUNG_MS < CALL_LEASE_MS, 'a front that hangs is dead before its lease ends')
    const { authority, outside } = await open(t, kind)
    t.match(await take(authority, placed('a:1', 1)), { isGranted: true })
    await pass(outside, MOST_OF_A_LEASE_US)
    authority.renew('{w}:key:k', ['a:1'])
    await pass(outside, MOST_OF_A_LEASE_US)
    t.match(await take(authority, placed('b:1', 1)), { isGranted: false })
    await outside.flushall()
    authority.renew('{w}:key:k', ['a:1'])
    t.match(await take(authority, placed('b:1', 1)), { isGranted: false })
    authority.giveBack(placed('a:1', 1), 0)
    t.match(await take(authority, placed('b:1', 1)), { isGranted: true })
  })

  t.test(`${kind}: after the clock is set back, a slot is held for one lease at most`, async (t) => {
    const { authority, outside } = await open(t, kind)
    await take(authority, placed('a:1', 1))
    await pass(outside, -HOUR_US)
    t.match(await take(authority, placed('b:1', 1)), { isGranted: false })
    await pass(outside, (CALL_LEASE_MS + 1_000) * 1_000)
    t.match(await take(authority, placed('b:1', 1)), { isGranted: true })
  })

  t.test(`${kind}: under a lower maximum, admits no call until enough calls have ended`, async (t) => {
    const { authority } = await open(t, kind)
    for (const id of ['a', 'b', 'c']) await take(authority, placed(id, 3))
    for (const id of ['a', 'b']) {
      t.match(await take(authority, placed('d', 2)), { isGranted: false, by: { max: 2 } })
      authority.giveBack(placed(id, 3), 0)
    }
    t.match(await take(authority, placed('d', 2)), { isGranted: true })
  })

  t.test(`${kind}: tokens of one minute can be used at once, and more wait the reported time`, async (t) => {
    const { authority } = await open(t, kind)
    const call = metered('a', 6_000)
    const passed = stopwatch()
    t.match(await take(authority, call, 5_000), { isGranted: true, left: [{ remaining: 1_000 }] })
    const refused = await take(authority, call, 6_000)
    t.match(refused, { isGranted: false, by: { perMinute: 6_000 } })
    if (!('retryAfterMs' in refused)) return
    // What becomes free between the two is theirs too: a hundred a second.
    const { left, retryAfterMs } = refused
    const passedMs = passed()
    t.ok(left.remaining >= 1_000 && left.remaining <= 1_000 + passedMs / 10, `${left.remaining} left`)
    t.ok(retryAfterMs <= 50_000 && retryAfterMs >= 50_000 - passedMs, `${retryAfterMs} ms`)
    authority.giveBack(call, -5_000)
    t.match(await take(authority, call, 6_000), { isGranted: true })
  })

  t.test(`${kind}: tokens beyond the estimate are owed, up to one minute beyond the burst`, async (t) => {
    const { authority } = await open(t, kind)
    const call = metered('a', 6_000)
    await take(authority, call, 1)
    const passed = stopwatch()
    authority.giveBack(call, 1_000_000)
    const refused = await take(authority, call, 1)
    const most = TOKENS_OWED_MS_MAX + 10
    const least = most - passed()
    t.ok('retryAfterMs' in refused && refused.retryAfterMs <= most && refused.retryAfterMs >= least)
  })

  t.test(`${kind}: after a clock set back, refuses calls for at most TOKENS_OWED_MS_MAX`, async (t) => {
    const { authority, outside } = await open(t, kind)
    await take(authority, metered('a', 6_000), 6_000)
    await outside.set(STATE, String((Date.now() + 7_200_000) * 1_000))
    const refused = await take(authority, metered('a', 6_000), 1)
    t.ok('retryAfterMs' in refused && refused.retryAfterMs <= TOKENS_OWED_MS_MAX + 10)
  })

  t.test(`${kind}: a call refused by one limit takes nothing of the others`, async (t) => {
    const { authority, outside } = await open(t, kind)
    const call = {
      ...placed('a', 1),
      tokens: [
        { owner: '{w}:key:k', perMinute: 60 },
        { owner: '{w}:workspace', perMinute: 50 },
      ],
    }
    t.match(await take(authority, call, 55), { isGranted: false, by: { owner: '{w}:workspace' } })
    t.same(await outside.keys('*'), [])
    t.match(await take(authority, call, 50), { isGranted: true, left: [{ remaining: 10 }, { remaining: 0 }] })
    authority.giveBack(call, -50)
    await until(async () => (await outside.keys('*')).length === 0)
  })
}

function placed(id: string, max: number): LimitedCall {
  return { id, places: [{ owner: '{w}:key:k', max }], tokens: [] }
}

function metered(id: string, perMinute: number): LimitedCall {
  return { id, places: [], tokens: [{ owner: '{w}:key:k', perMinute }] }
}

function take(authority: CallAuthority, call: LimitedCall, want = 0) {
  return authority.take(call, want, PATIENT)
}

/** @returns the milliseconds that passed at most, by a clock that may read a little less than that of Redis */
function stopwatch(): () => number {
  const began = performance.now()
  return () => performance.now() - began + 20
}

/** So much time passes for the leases of places. */
async function pass(outside: Redis, us: number): Promise<void> {
  for (const id of await outside.zrange(SET, 0, -1)) await outside.zincrby(SET, -us, id)
  await outside.persist(SET)
}

type Test = Parameters<typeof openTestRedis>[0]

async function open(t: Test, kind: (typeof REDIS_KINDS)[number]) {
  const redis = await openTestRedis(t, kind)
  const outside = new Redis(redis.socketPath)
  t.teardown(() => outside.disconnect())
  return { redis, outside, authority: await connect(t, redis) }
}

async function connect(t: Test, redis: TestRedis): Promise<CallAuthority> {
  const state = await openPatientState(t, redis)
  const authority = openCallAuthority(state)
  // A script that Redis has not run before is sent twice, and then runs after the commands sent after it.
  authority.giveBack(placed('a:0', 1), 0)
  authority.renew('{w}:warm', ['a:0'])
  await until(async () => (await state.redis.del('sluice:calls:{w}:warm')) === 1)
  return authority
}
