import t from 'tap'
import { Timers, TIMER_STEP_MS } from '../../../src/server/http/timers.ts'
import { pause } from '../../support/wait.ts'

// The wheel lets a process end while it turns.
const awake = setInterval(() => undefined, 1_000)
t.teardown(() => clearInterval(awake))

/**
 * A clock that runs fifty times as fast, and that stands while the loop is blocked: a wheel may be late by
 * one round.
 */
const fast = (): Timers => {
  let now = 0
  const clock = setInterval(() => void (now += 500), 10)
  t.teardown(() => clearInterval(clock))
  return new Timers(() => now)
}

t.test('timers fire in the order of their ends, none early, and then none runs', async (t) => {
  const timers = fast()
  const fired: number[] = []
  await new Promise<void>((resolve) => {
    for (const ms of [9_000, 400, 3_000, 1, 6_000]) timers.start(ms, () => fired.push(ms) === 5 && resolve())
  })
  t.same(fired, [1, 400, 3_000, 6_000, 9_000])
  t.equal(timers.count, 0)
})

t.test('a stopped timer does not fire, also when another one of its step stops it', async (t) => {
  const timers = fast()
  const fired: string[] = []
  timers.start(1_000, () => fired.push('stopped')).stop()
  const pair = [timers.start(5_000, () => other(1)), timers.start(5_000, () => other(0))]
  const other = (index: number): void => {
    fired.push('one of two')
    pair[index]?.stop()
  }
  await new Promise<void>((resolve) => timers.start(10_000, resolve))
  t.same(fired, ['one of two'])
  t.equal(timers.count, 0)
})

t.test('a timer that is put off fires at its last end, and none is put forward', async (t) => {
  const timers = fast()
  const fired: string[] = []
  const far = timers.start(2_000, () => fired.push('far'))
  const near = timers.start(9_000, () => fired.push('near'))
  timers.start(1_000, () => {
    // Two rounds of the wheel.
    far.putOff(60_000)
    near.putOff(100)
  })
  for (const ms of [8_000, 10_000, 60_500]) timers.start(ms, () => fired.push(String(ms)))
  await new Promise<void>((resolve) => timers.start(62_000, resolve))
  t.same(fired, ['8000', 'near', '10000', '60500', 'far'])
  far.putOff(1)
  t.equal(timers.count, 0, 'a timer that has fired does not run again')
})

t.test('timers run again after a time without any', async (t) => {
  const timers = new Timers()
  await new Promise<void>((resolve) => timers.start(1, resolve))
  await pause(3 * TIMER_STEP_MS)
  const began = performance.now()
  await new Promise<void>((resolve) => timers.start(60, resolve))
  t.ok(performance.now() - began >= 60)
})
