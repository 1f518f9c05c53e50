/** The instants at which a call is aborted for its time, with the timers fired by hand. */
import t from 'tap'
import { CallEnded } from '../../../../src/schemas/values/call-ended.ts'
import { DEADLINE_GRACE_MS } from '../../../../src/schemas/limits/limits.ts'
import { CallTime } from '../../../../src/server/http/call/call-time.ts'
import { ended, type TimerEnd } from '../../../../src/server/http/timers.ts'

interface Armed {
  readonly ms: number
  readonly fire: () => void
  isStopped: boolean
}

function openTime() {
  const armed: Armed[] = []
  const exchange = {
    isReceiving: false,
    expiries: 0,
    start(ms: number, end: TimerEnd) {
      const timer: Armed = { ms, fire: () => ended(end), isStopped: false }
      armed.push(timer)
      return { stop: () => void (timer.isStopped = true), putOff: () => undefined }
    },
    expire: () => void exchange.expiries++,
  }
  return { time: new CallTime(exchange), exchange, armed }
}

const LONG_MS = 60_000

t.test('an operation is aborted at its deadline, and the whole grace period starts then', (t) => {
  const { time, exchange, armed } = openTime()
  time.limit(0)
  armed[0]?.fire()
  t.match(time.signal.reason, new CallEnded('deadline'))
  t.equal(exchange.expiries, 0)
  t.equal(Math.round(armed[1]?.ms ?? 0), DEADLINE_GRACE_MS)
  armed[1]?.fire()
  t.equal(exchange.expiries, 1)
  t.end()
})

t.test('a deadline that was extended restarts its timer only when the timer fires', (t) => {
  const { time, exchange, armed } = openTime()
  time.limit(0)
  time.allow(LONG_MS)
  t.equal(armed.length, 1)
  armed[0]?.fire()
  t.notOk(time.hasEnded)
  t.ok((armed[1]?.ms ?? 0) > LONG_MS / 2)
  t.equal(exchange.expiries, 0)
  t.end()
})

t.test('a deadline that is earlier than the running timer gets a new timer', (t) => {
  const { time, armed } = openTime()
  time.limit(0)
  time.allow(LONG_MS)
  armed[0]?.fire()
  time.restart(performance.now())
  t.match(armed, [{}, { isStopped: true }, { ms: 0, isStopped: false }])
  armed[2]?.fire()
  t.ok(time.hasEnded)
  t.end()
})

t.test('the deadline restarts while the body is still arriving', (t) => {
  const { time, exchange, armed } = openTime()
  exchange.isReceiving = true
  time.limit(0)
  armed[0]?.fire()
  t.notOk(time.hasEnded)
  t.equal(armed.length, 2)
  t.end()
})

t.test('a finished call starts no timer, even when its time is restarted', (t) => {
  const { time, armed } = openTime()
  time.limit(LONG_MS)
  time.stop()
  time.restart(performance.now() - LONG_MS)
  t.match(armed, [{ isStopped: true }])
  t.equal(armed.length, 1)
  t.end()
})
