/** A timer that is put off; time is that of the test. */
import { mock } from 'node:test'
import t from 'tap'
import { MovingTimer } from '../../../src/server/structures/moving-timer.ts'

function open() {
  mock.timers.enable({ apis: ['setTimeout', 'Date'] })
  t.teardown(() => mock.timers.reset())
  let fired = 0
  const timer = new MovingTimer(
    () => void fired++,
    () => Date.now(),
  )
  return { timer, fired: () => fired, tick: (ms: number) => mock.timers.tick(ms) }
}

t.afterEach(() => mock.timers.reset())

t.test('a postponed timer fires once, at its last deadline', async (t) => {
  const { timer, fired, tick } = open()
  timer.start(100)
  for (let nth = 0; nth < 10; nth++) {
    tick(60)
    timer.start(100)
  }
  tick(99)
  t.equal(fired(), 0)
  tick(1)
  t.equal(fired(), 1)
  tick(1_000)
  t.equal(fired(), 1)
  timer.start(10)
  tick(10)
  t.equal(fired(), 2, 'a timer that has fired can start again')
})

t.test('a timer can be moved to an earlier deadline', async (t) => {
  const { timer, fired, tick } = open()
  timer.start(1_000)
  timer.start(10)
  tick(10)
  t.equal(fired(), 1)
  tick(1_000)
  t.equal(fired(), 1)
})

t.test('a stopped timer does not fire, and runs again after a start', async (t) => {
  const { timer, fired, tick } = open()
  timer.start(100)
  timer.stop()
  tick(50)
  timer.start(100)
  tick(99)
  t.equal(fired(), 0)
  tick(1)
  t.equal(fired(), 1)
  timer.start(100)
  timer.close()
  tick(1_000)
  t.equal(fired(), 1)
})

t.test('waits for a time longer than the maximum of a Node timer', async (t) => {
  const { timer, fired, tick } = open()
  timer.start(2 ** 31 + 1_000)
  tick(2 ** 31)
  t.equal(fired(), 0)
  tick(1_000)
  t.equal(fired(), 1)
})
