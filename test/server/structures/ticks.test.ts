/** Functions that are called again and again; the clock is the test's. */
import t from 'tap'
import { JOINED_MS_MAX, STEP_MS, Ticks } from '../../../src/server/structures/ticks.ts'

/** A clock that stands where the test puts it, and counts how often it woke its process. */
function open(startMs: number) {
  let now = startMs
  let wakes = 0
  let pending: { at: number; run: () => void } | null = null
  const ticks = new Ticks({
    now: () => now,
    after(ms, run) {
      const own = { at: now + ms, run }
      pending = own
      return () => {
        if (pending === own) pending = null
      }
    },
  })
  const pass = (ms: number): void => {
    const until = now + ms
    while (pending !== null && pending.at <= until) {
      const { at, run } = pending
      now = Math.max(now, at)
      pending = null
      wakes++
      run()
    }
    now = until
  }
  return {
    ticks,
    pass,
    /** The process stands still meanwhile. */
    stall: (ms: number) => void (now += ms),
    wakes: () => wakes,
    isArmed: () => pending !== null,
  }
}

t.test('functions with different periods share their wake-ups, whenever they started', async (t) => {
  const { ticks, pass, wakes } = open(123)
  const calls = { second: 0, late: 0, two: 0 }
  ticks.every(1_000, () => calls.second++)
  pass(333)
  ticks.every(1_000, () => calls.late++)
  pass(333)
  ticks.every(2_000, () => calls.two++)
  pass(10_000)
  t.equal(calls.second, 10)
  t.equal(calls.late, 10)
  t.equal(calls.two, 5)
  t.equal(wakes(), 10)
})

t.test('a tick without a function or with a stopped one does not wake the process', async (t) => {
  const { ticks, pass, wakes, isArmed } = open(0)
  const slow = ticks.every(4 * STEP_MS, () => undefined)
  pass(40 * STEP_MS + 1)
  t.equal(wakes(), 10)
  slow.stop()
  t.equal(isArmed(), false)
})

t.test('after a pause of the process, each function runs once and then on its schedule again', async (t) => {
  const { ticks, pass, stall } = open(0)
  const at: number[] = []
  let count = 0
  ticks.every(1_000, () => at.push(count))
  pass(1_200)
  stall(60_000)
  count++
  pass(10)
  t.same(at, [0, 1])
  count++
  pass(1_000)
  t.same(at, [0, 1, 2])
})

t.test('a function that another one has stopped is not called', async (t) => {
  const { ticks, pass } = open(0)
  let calls = 0
  ticks.every(1_000, () => second.stop())
  const second = ticks.every(1_000, () => calls++)
  pass(5_000)
  t.equal(calls, 0)
})

t.test('other periods run by a timer of their own', async (t) => {
  const { ticks, isArmed } = open(0)
  // Timers of ticks do not keep the process alive.
  const alive = setInterval(() => undefined, 1_000)
  await new Promise<void>((resolve) => {
    let calls = 0
    const quick = ticks.every(5, () => {
      if (++calls < 3) return
      quick.stop()
      resolve()
    })
  })
  clearInterval(alive)
  const long = ticks.every(JOINED_MS_MAX + STEP_MS, () => t.fail('it is due much later'))
  t.equal(isArmed(), false)
  long.stop()
})
