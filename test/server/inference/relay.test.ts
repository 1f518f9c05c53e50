/** Passing a provider's stream on: clocks, callers who leave, ends. Time is that of the test. */
import { mock } from 'node:test'
import t from 'tap'
import {
  DRAIN_MS_MAX,
  DRAINS_MAX,
  STREAM_BYTES_MAX,
  STREAM_HELD_BYTES_MAX,
  STREAM_MS_MAX,
  USAGE_MS_MAX,
} from '../../../src/schemas/inference/stream-limits.ts'
import { FIRST_OUTPUT_MS_DEFAULT, STALL_MS_DEFAULT } from '../../../src/schemas/models/provider-limits.ts'
import { CallEnded } from '../../../src/schemas/values/call-ended.ts'
import { AnswerBudget } from '../../../src/server/egress/answer-budget.ts'
import { callerBy } from '../../support/keys/callers.ts'
import { STREAM_PREFACE_BYTES_MAX, Drains, type RelayInput } from '../../../src/server/inference/relay.ts'
import { openRelayed as open, partStreamOf, stopClock, streamOf } from '../../support/inference/relayed.ts'

t.test('bytes before the first output are held until it arrives', async (t) => {
  stopClock(t)
  const { body, passed, run } = open()
  await body.feed('r')
  t.same(passed, [])
  await body.feed('o')
  t.same(passed, ['begin', 'r', 'o'])
  await body.feed('.')
  t.match(await run, { failure: null, hasBegun: true })
})

t.test('parts that are completed at the end are sent last, and not after a broken stream', async (t) => {
  stopClock(t)
  for (const [text, expected] of [
    ['.', ['begin', '.', 'finish']],
    ['r', []],
  ] as const) {
    const { body, passed, run } = open({ stream: partStreamOf() })
    await body.feed(text)
    await body.feed(null)
    t.equal((await run).failure === null, text === '.')
    t.same(passed, expected)
  }
})

t.test('bytes held for the first output stay intact when the next read reuses the memory', async (t) => {
  stopClock(t)
  const memory = Buffer.alloc(1)
  const stream = streamOf()
  const read = stream.read.bind(stream)
  stream.read = (bytes) => {
    memory.set(bytes)
    return { ...read(bytes), events: memory }
  }
  const { body, passed, run } = open({ stream })
  for (const text of ['r', 's', 'o', '.']) await body.feed(text)
  t.match(await run, { failure: null, hasBegun: true })
  t.same(passed, ['begin', 'r', 's', 'o', '.'])
})

t.test('comments extend neither the limit for the first output nor the one for the next event', async (t) => {
  stopClock(t)
  const before = open()
  mock.timers.tick(FIRST_OUTPUT_MS_DEFAULT - 1)
  await before.body.feed(':')
  mock.timers.tick(1)
  t.match(await before.run, { failure: { name: 'upstream_slow' }, hasBegun: false })
  const behind = open()
  await behind.body.feed('o')
  mock.timers.tick(STALL_MS_DEFAULT - 1)
  await behind.body.feed(':')
  mock.timers.tick(1)
  t.match(await behind.run, { failure: { name: 'upstream_slow' }, hasBegun: true })
  t.ok(behind.body.isClosed)
})

t.test('time in which the caller does not read does not count as the time of the provider', async (t) => {
  stopClock(t)
  const { body, run, block, resume } = open()
  block()
  await body.feed('o')
  mock.timers.tick(10 * STALL_MS_DEFAULT)
  t.notOk(body.isClosed)
  resume()
  await body.feed('.')
  t.match(await run, { failure: null, hasBegun: true, pausedMs: 10 * STALL_MS_DEFAULT, isDrained: false })
})

t.test('a stream is ended after STREAM_MS_MAX', async (t) => {
  stopClock(t)
  const { body, run } = open({ stallMs: 2 * STREAM_MS_MAX })
  await body.feed('o')
  mock.timers.tick(STREAM_MS_MAX)
  t.match(await run, { failure: { name: 'deadline_exceeded' }, hasBegun: true })
})

t.test('a drained stream is read to its end, for DRAIN_MS_MAX at most', async (t) => {
  stopClock(t)
  const whole = open({ onLeave: 'drain' })
  await whole.body.feed('o')
  whole.leave()
  await whole.body.feed('o')
  await whole.body.feed('.')
  t.match(await whole.run, { failure: null, hasBegun: true, pausedMs: 0, isDrained: true })
  const late = open({ onLeave: 'drain' })
  await late.body.feed('o')
  late.leave()
  mock.timers.tick(DRAIN_MS_MAX - 1)
  await late.body.feed('o')
  t.notOk(late.body.isClosed)
  mock.timers.tick(1)
  t.match(await late.run, { failure: { name: 'client_gone' } })
})

t.test('a cancelled stream closes its connection in the same turn', async (t) => {
  stopClock(t)
  for (const before of [null, ':', 'o']) {
    const { body, run, leave } = open()
    if (before !== null) await body.feed(before)
    leave()
    t.ok(body.isClosed)
    t.match(await run, { failure: { name: 'client_gone' }, isDrained: false })
  }
})

t.test('after its finished output, a stream is read for its usage, for USAGE_MS_MAX at most', async (t) => {
  stopClock(t)
  const finished = async (more: Partial<RelayInput> = {}) => {
    const one = open(more)
    await one.body.feed('o')
    await one.body.feed('f')
    one.leave()
    return one
  }
  const whole = await finished()
  t.notOk(whole.body.isClosed)
  await whole.body.feed('.')
  t.match(await whole.run, { failure: null, isDrained: true })
  const late = await finished()
  mock.timers.tick(USAGE_MS_MAX - 1)
  await late.body.feed(':')
  t.notOk(late.body.isClosed, 'comments do not lengthen it')
  mock.timers.tick(1)
  t.ok(late.body.isClosed)
  t.match(await late.run, { failure: { name: 'client_gone' } })
  const drains = new Drains()
  for (let nth = 0; nth < DRAINS_MAX; nth++) drains.begin()
  const many = await finished({ drains })
  t.ok(many.body.isClosed, 'within the places of drained streams')
  t.match(await many.run, { failure: { name: 'client_gone' }, isDrained: false })
})

t.test('a stream that a stopping node ends fails as draining, not as client_gone', async (t) => {
  stopClock(t)
  const ending = new AbortController()
  const { body, run } = open({ signal: ending.signal })
  await body.feed('o')
  ending.abort(new CallEnded('drain'))
  t.match(await run, { failure: { name: 'draining' } })
})

t.test('a stopping node waits neither for the end nor for the usage of a stream', async (t) => {
  stopClock(t)
  for (const onLeave of ['cancel', 'drain'] as const) {
    const ending = new AbortController()
    const { body, run } = open({ signal: ending.signal, onLeave })
    for (const text of ['o', 'f']) await body.feed(text)
    ending.abort(new CallEnded('drain'))
    t.ok(body.isClosed)
    t.match(await run, { failure: { name: 'draining' }, isDrained: false })
  }
})

t.test('a caller who disconnects after its stream does not delay the end of the drain', async (t) => {
  stopClock(t)
  const waiting = open({ onLeave: 'drain', stallMs: 10 * DRAIN_MS_MAX })
  waiting.block()
  await waiting.body.feed('o')
  waiting.leave()
  waiting.resume()
  const later = open({ onLeave: 'drain' })
  await later.body.feed('o')
  later.leave()
  later.block()
  const both = [waiting, later]
  for (const { body } of both) await body.feed('o')
  mock.timers.tick(DRAIN_MS_MAX - 1)
  for (const { body } of both) t.notOk(body.isClosed)
  mock.timers.tick(1)
  for (const { body, run } of both) {
    t.ok(body.isClosed)
    t.match(await run, { failure: { name: 'client_gone' } })
  }
})

t.test('a stream of more than STREAM_BYTES_MAX is cut, and comments count too. D12', async (t) => {
  stopClock(t)
  const piece = ':'.repeat(STREAM_BYTES_MAX / 8)
  const silent = { ...streamOf(), read: () => ({ events: null, failure: null }) }
  const { body, run } = open({ stream: silent })
  for (let nth = 0; nth < 8; nth++) await body.feed(piece)
  t.notOk(body.isClosed, 'so many bytes may come')
  await body.feed(':')
  t.match(await run, { failure: { name: 'upstream_too_large' }, hasBegun: false })
  t.ok(body.isClosed)
})

t.test('events before the first output are held up to STREAM_PREFACE_BYTES_MAX', async (t) => {
  stopClock(t)
  const most = 'r'.repeat(STREAM_PREFACE_BYTES_MAX)
  const sound = open()
  await sound.body.feed(most)
  await sound.body.feed('o')
  t.equal(sound.passed.join(''), `begin${most}o`)
  await sound.body.feed(most)
  await sound.body.feed('.')
  t.match(await sound.run, { failure: null, hasBegun: true }, 'after an output nothing is kept')
  const empty = open()
  await empty.body.feed(most)
  await empty.body.feed('r')
  t.match(await empty.run, { failure: { name: 'upstream_invalid' }, hasBegun: false })
  t.same(empty.passed, [])
})

/** A stream in whose event so many bytes wait as were read; `.` ends it, and a new line ends an event. */
function holding() {
  const stream = streamOf()
  return Object.assign(stream, {
    heldBytes: 0,
    hasOutput: true,
    read(bytes: Uint8Array) {
      const text = Buffer.from(bytes).toString()
      stream.isDone = text.endsWith('.')
      this.heldBytes = text.endsWith('\n') ? 0 : this.heldBytes + bytes.length
      return { events: null, failure: null }
    },
  })
}

t.test('a partly received event takes room from the budget, and returns it at its end. D19', async (t) => {
  stopClock(t)
  const budget = new AnswerBudget(4 * STREAM_HELD_BYTES_MAX)
  const room = (): RelayInput['room'] => budget.room(callerBy('o'))
  const begin = 'x'.repeat(STREAM_HELD_BYTES_MAX)
  const first = open({ stream: holding(), room: room() })
  await first.body.feed(begin)
  t.equal(budget.heldBytes, 0, 'a small one takes none')
  await first.body.feed('x')
  t.equal(budget.heldBytes, begin.length + 1)
  const second = open({ stream: holding(), room: room() })
  await second.body.feed(begin + begin)
  t.equal(budget.heldBytes, begin.length + 1, 'it waits for room')
  await first.body.feed('\n')
  t.equal(budget.heldBytes, 2 * begin.length, 'it has the room that the first gave back')
  await second.body.feed('.')
  t.match(await second.run, { failure: null })
  await first.body.feed('.')
  await first.run
  t.equal(budget.heldBytes, 0)
})

t.test(
  'a wait for room ends when the call ends, at the timeout of the provider, or when no room can become free',
  async (t) => {
    stopClock(t)
    const budget = new AnswerBudget(STREAM_HELD_BYTES_MAX)
    const piece = 'x'.repeat(STREAM_HELD_BYTES_MAX)
    const stuck = async (more: Partial<RelayInput> = {}) => {
      const one = open({ stream: holding(), room: budget.room(callerBy('o')), ...more })
      await one.body.feed(`${piece}x`)
      return one
    }
    const alone = await stuck()
    t.match(await alone.run, { failure: { name: 'busy' } }, 'what never fits is refused')
    const other = budget.room(callerBy('p'))
    t.ok(await other.more(1))
    const leaving = await stuck()
    leaving.leave()
    t.match(await leaving.run, { failure: { name: 'client_gone' } })
    const late = await stuck()
    mock.timers.tick(FIRST_OUTPUT_MS_DEFAULT)
    t.match(await late.run, { failure: { name: 'busy' } })
    t.ok(late.body.isClosed)
    other.give()
    t.equal(budget.heldBytes, 0)
  },
)

t.test('no more than DRAINS_MAX streams are drained', async (t) => {
  stopClock(t)
  const drains = new Drains()
  for (let nth = 0; nth < DRAINS_MAX; nth++) t.ok(drains.begin())
  const { body, run, leave } = open({ onLeave: 'drain', drains })
  await body.feed('o')
  leave()
  t.match(await run, { failure: { name: 'client_gone' } })
  drains.end()
  t.ok(drains.begin(), 'a stream that was not drained gives no place back')
})
