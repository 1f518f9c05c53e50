import t from 'tap'
import { RatePurse } from '../../../src/server/limits/rate-purse.ts'
import type { RateAsk, RateGrant } from '../../../src/server/ports/rates.ts'

/** An authority that answers when the test says, and a purse of 60 requests a minute with it. */
function open() {
  const asks: { ask: RateAsk; reject(cause: Error): void }[] = []
  const clock = { now: 0, isReachable: true }
  const purse = new RatePurse({
    authority: {
      get isReachable() { return clock.isReachable },
      lastAnswerAt: 0,
      lend: (ask) => new Promise<RateGrant>((_, reject) => void asks.push({ ask, reject })),
    },
    fronts: { liveFronts: 1 },
    now: () => clock.now,
    epochNow: () => clock.now,
    meters: { rateDecision: () => undefined },
    ask: () => undefined,
    forgotAt: () => 0,
  }, 'key', 60)
  return { purse, clock, asks }
}

t.test('what was spent without the authority is owed though an older question of it fails afterwards', async (t) => {
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
  t.ok((asks[1]?.ask.giveBack ?? 0) <= -6, `${asks[1]?.ask.giveBack} were told`)
})
