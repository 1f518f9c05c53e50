import t from 'tap'
import { RATE_WAIT_MS_MAX } from '../../../src/schemas/limits/rate-limits.ts'
import { TokenLease, type LeaseDeps } from '../../../src/server/limits/token-lease.ts'
import type { RateInput, RateGrant } from '../../../src/server/ports/rates.ts'

/** An authority that answers when the test says, and a purse of so many requests a minute with it. */
function open({
  limitRpm = 60,
  later = setTimeout,
}: { readonly limitRpm?: number; readonly later?: LeaseDeps['later'] } = {}) {
  const asks: { ask: RateInput; reject(cause: Error): void }[] = []
  const clock = { now: 0, isReachable: true, lastAnswerAt: 0 }
  const purse = new TokenLease(
    {
      authority: {
        get isReachable() {
          return clock.isReachable
        },
        get lastAnswerAt() {
          return clock.lastAnswerAt
        },
        lend: (ask) => new Promise<RateGrant>((_, reject) => void asks.push({ ask, reject })),
      },
      fronts: { liveFronts: 1 },
      now: () => clock.now,
      epochNow: () => clock.now,
      meters: { rateDecision: () => undefined },
      request: () => undefined,
      later,
      forgotAt: () => 0,
    },
    { key: 'key', limitRpm, burst: limitRpm / 10 },
  )
  return { purse, clock, asks }
}

t.test('spending without the authority is owed even when an older request fails later', async (t) => {
  const { purse, clock, asks } = open()
  void purse.refill(0)
  const flight = purse.flush()
  Object.assign(clock, { now: 30_000, isReachable: false })
  let spent = 0
  while (purse.take(clock.now)?.failure === null) spent += 1
  t.equal(spent, 6)
  clock.isReachable = true
  purse.take(clock.now)
  asks[0]?.reject(new Error('too slow'))
  await flight
  purse.take(clock.now)
  void purse.flush()
  t.ok((asks[1]?.ask.giveBack ?? 0) <= -6, `${asks[1]?.ask.giveBack} were reported`)
})

t.test(
  'when the authority answers heartbeats but no requests, for example out of memory, calls continue at the share of the front',
  async (t) => {
    const { purse, clock, asks } = open()
    let admitted = 0
    for (let second = 0; second < 120; second += 1) {
      Object.assign(clock, { now: second * 1_000, lastAnswerAt: second * 1_000 })
      const taken = purse.take(clock.now) ?? purse.refill(clock.now)
      const flight = taken instanceof Promise ? purse.flush() : null
      asks.at(-1)?.reject(new Error('OOM command not allowed'))
      await flight
      if ((await taken).failure === null) admitted += 1
    }
    t.ok(admitted >= 118 && admitted <= 120, `${admitted} of 120`)
    t.equal(asks.length, 120, 'each asks whether it answers again')
  },
)

t.test('tokens used while the authority refused requests are reported once', async (t) => {
  const { purse, clock, asks } = open()
  const call = async (now: number): Promise<boolean> => {
    Object.assign(clock, { now, lastAnswerAt: now })
    const taken = purse.take(now) ?? purse.refill(now)
    const flight = taken instanceof Promise ? purse.flush() : null
    asks.at(-1)?.reject(new Error('OOM command not allowed'))
    await flight
    return (await taken).failure === null
  }
  await call(0)
  const spent = [await call(30_000), await call(30_001), await call(30_002)]
  t.same(spent, [true, true, true])
  await call(30_003)
  t.same(
    asks.map(({ ask }) => ask.giveBack),
    [0, 0, -1, -2, -3],
  )
})

t.test('no more is owed than was spent, however often the authority fails and returns', async (t) => {
  const { purse, clock, asks } = open({ limitRpm: 60_000, later: (run) => run() })
  let admitted = 0
  for (let turn = 1; turn <= 1_000; turn += 1) {
    Object.assign(clock, { now: 60_000 + turn, lastAnswerAt: 60_000 + turn })
    const calls = [0, 1].map(() => purse.take(clock.now) ?? purse.refill(clock.now))
    const flight = calls.some((call) => call instanceof Promise) ? purse.flush() : null
    asks.at(-1)?.reject(new Error('READONLY'))
    await flight
    for (const { failure } of await Promise.all(calls)) if (failure === null) admitted += 1
  }
  const owed = -(asks.at(-1)?.ask.giveBack ?? 0)
  t.ok(owed > 0 && owed <= admitted, `${owed} of ${admitted} are owed`)
})

t.test('a call that waited for the authority has only the rest of its time for its share', async (t) => {
  const waits: number[] = []
  const later: LeaseDeps['later'] = (run, ms) => {
    waits.push(ms)
    run()
  }
  const { purse, clock, asks } = open({ limitRpm: 6_000, later })
  const calls = Array.from({ length: 20 }, () => purse.refill(0))
  const flight = purse.flush()
  Object.assign(clock, { now: RATE_WAIT_MS_MAX - 40, isReachable: false })
  asks[0]?.reject(new Error('too slow'))
  await flight
  const failures = await Promise.all(calls.map(async (call) => (await call).failure))
  t.equal(failures.filter((failure) => failure === null).length, 9, 'nine have a token within 90 ms')
  t.ok(waits.length === 4 && Math.max(...waits) <= 40, waits.join())
  t.equal(purse.take(clock.now), null, 'and a new call may wait longer')
})

t.test('the window of a key has a new name, which nodes of an older version do not use', async (t) => {
  const { purse, asks } = open()
  void purse.refill(0)
  void purse.flush()
  t.match(asks[0]?.ask, { key: 'key:key', burst: 6 })
})
