import { mock } from 'node:test'
import t, { type Test } from 'tap'
import { Timers, TIMER_STEP_MS } from '../../../src/server/http/timers.ts'
import { pause } from '../../support/wait.ts'

/** A wheel that turns by the test alone. */
function wheel(t: Test): { readonly timers: Timers; pass(ms: number): void } {
  let now = 0
  mock.timers.enable({ apis: ['setInterval'] })
  t.teardown(() => mock.timers.reset())
  return {
    timers: new Timers(() => now),
    pass(ms) {
      for (const end = now + ms; now < end;) {
        now += TIMER_STEP_MS
        mock.timers.tick(TIMER_STEP_MS)
      }
    },
  }
}

t.test('timers fire in the order of their deadlines, never early, and then none is left', async (t) => {
  const { timers, pass } = wheel(t)
  const fired: number[] = []
  for (const ms of [9_000, 400, 3_000, 1, 6_000]) timers.start(ms, () => void fired.push(ms))
  pass(8_950)
  t.same(fired, [1, 400, 3_000, 6_000])
  pass(2 * TIMER_STEP_MS)
  t.same(fired, [1, 400, 3_000, 6_000, 9_000])
  t.equal(timers.count, 0)
})

t.test('a stopped timer does not fire, also when a timer of the same tick stops it', async (t) => {
  const { timers, pass } = wheel(t)
  const fired: string[] = []
  timers.start(1_000, () => fired.push('stopped')).stop()
  const pair = [timers.start(5_000, () => other(1)), timers.start(5_000, () => other(0))]
  const other = (index: number): void => {
    fired.push('one of two')
    pair[index]?.stop()
  }
  pass(10_000)
  t.same(fired, ['one of two'])
  t.equal(timers.count, 0)
})

t.test('a postponed timer fires at its last deadline, and no timer can be moved earlier', async (t) => {
  const { timers, pass } = wheel(t)
  const fired: string[] = []
  const far = timers.start(2_000, () => fired.push('far'))
  const near = timers.start(9_000, () => fired.push('near'))
  timers.start(1_000, () => {
    // Two rounds of the wheel.
    far.putOff(60_000)
    near.putOff(100)
  })
  for (const ms of [8_000, 10_000, 60_500]) timers.start(ms, () => fired.push(String(ms)))
  pass(62_000)
  t.same(fired, ['8000', 'near', '10000', '60500', 'far'])
  far.putOff(1)
  t.equal(timers.count, 0, 'a timer that has fired does not run again')
})

t.test('timers run again after a time without timers', async (t) => {
  // The wheel lets a process end while it turns.
  const awake = setInterval(() => undefined, 1_000)
  t.teardown(() => clearInterval(awake))
  const timers = new Timers()
  await new Promise<void>((resolve) => timers.start(1, resolve))
  await pause(3 * TIMER_STEP_MS)
  const began = performance.now()
  await new Promise<void>((resolve) => timers.start(60, resolve))
  t.ok(performance.now() - began >= 60)
})
