/** A stream that uses up its turn of the loop goes on in later turns. Time is that of the test. */
import { mock } from 'node:test'
import t from 'tap'
import { STALL_MS_DEFAULT } from '../../../src/schemas/models/provider-limits.ts'
import { CallEnded } from '../../../src/schemas/values/call-ended.ts'
import { STREAM_TURN_BYTES_MAX, LoopBudget } from '../../../src/server/structures/loop-budget.ts'
import type { RelayInput } from '../../../src/server/inference/relay.ts'
import { openRelayed, stopClock, turn } from '../../support/inference/relayed.ts'

/** A budget of which each slice is a turn; the test lets the turns begin. */
function turns() {
  let go: (() => void) | null = null
  let isSpent = false
  const budget: RelayInput['budget'] = {
    get isSpent() {
      return isSpent
    },
    used: () => void (isSpent = true),
    next: () =>
      new Promise((resolve) => {
        go = () => {
          isSpent = false
          go = null
          resolve()
        }
      }),
  }
  return {
    budget,
    get isWaiting(): boolean {
      return go !== null
    },
    async begin(): Promise<void> {
      go?.()
      await turn()
    },
  }
}

/** Larger than one slice. */
const READ = `o${'x'.repeat(9_000)}`

t.test('the rest of a read is sent in the next turn, in order', async (t) => {
  stopClock(t)
  const each = turns()
  const { body, passed, run } = openRelayed({ budget: each.budget })
  await body.feed(READ)
  t.ok(each.isWaiting)
  t.ok(passed.join('').length < READ.length)
  await each.begin()
  t.equal(passed.join(''), `begin${READ}`)
  await body.feed('y')
  t.equal(passed.join(''), `begin${READ}`, 'a read in a used turn waits too')
  await each.begin()
  t.equal(passed.join(''), `begin${READ}y`)
  await body.feed('.')
  await each.begin()
  t.match(await run, { failure: null, hasBegun: true })
})

t.test('a read that takes long to process is passed on in smaller slices, and no byte is lost', async (t) => {
  stopClock(t)
  const text = `o${Array.from({ length: 20_000 }, (_, nth) => nth % 10).join('')}.`
  let nowMs = 0
  const { body, passed, run } = openRelayed({ now: () => nowMs++ * 2 })
  await body.feed(text)
  await run
  t.equal(passed.join(''), `begin${text}`)
  t.ok(passed.length > 8)
})

t.test('a pause by Sluice does not count as the time of the provider', async (t) => {
  stopClock(t)
  const each = turns()
  const { body, passed, run } = openRelayed({ budget: each.budget })
  await body.feed(READ)
  mock.timers.tick(10 * STALL_MS_DEFAULT)
  t.notOk(body.isClosed)
  await each.begin()
  t.equal(passed.join(''), `begin${READ}`)
  await body.feed('.')
  await each.begin()
  t.match(await run, { failure: null, pausedMs: 10 * STALL_MS_DEFAULT })
})

t.test('a caller who disconnects during a pause closes the connection and gets no more', async (t) => {
  stopClock(t)
  const each = turns()
  const { body, passed, run, leave } = openRelayed({ budget: each.budget })
  await body.feed(READ)
  const before = passed.join('')
  leave()
  t.ok(body.isClosed)
  await each.begin()
  t.match(await run, { failure: { name: 'client_gone' }, isDrained: false })
  t.equal(passed.join(''), before)
})

t.test('a node that stops during a pause ends the stream as drained', async (t) => {
  stopClock(t)
  const each = turns()
  const ending = new AbortController()
  const { body, run } = openRelayed({ budget: each.budget, signal: ending.signal })
  await body.feed(READ)
  ending.abort(new CallEnded('drain'))
  await each.begin()
  t.match(await run, { failure: { name: 'draining' } })
})

t.test('a stream aborted during a pause fails with its cause, even after the rest arrived', async (t) => {
  stopClock(t)
  for (const why of ['client_gone', 'drain'] as const) {
    const each = turns()
    const ending = new AbortController()
    const { body, run } = openRelayed({ budget: each.budget, signal: ending.signal })
    await body.feed(READ)
    body.hasCome = true
    ending.abort(new CallEnded(why))
    await each.begin()
    t.match(await run, { failure: { name: why === 'drain' ? 'draining' : 'client_gone' } })
  }
})

t.test('a stream that is drained during a pause is read to its end', async (t) => {
  stopClock(t)
  const each = turns()
  const { body, run, leave } = openRelayed({ budget: each.budget, onLeave: 'drain' })
  await body.feed(READ)
  leave()
  await each.begin()
  t.notOk(body.isClosed)
  await body.feed('.')
  await each.begin()
  t.match(await run, { failure: null, isDrained: true })
})

t.test('a slow client delays the rest of a read, which is then sent in order', async (t) => {
  stopClock(t)
  const { body, passed, run, block, resume } = openRelayed()
  block()
  await body.feed(READ)
  t.ok(passed.join('').length < READ.length)
  resume()
  await turn()
  t.equal(passed.join(''), `begin${READ}`)
  await body.feed('.')
  t.match(await run, { failure: null })
})

t.test('a fast stream uses at most STREAM_TURN_BYTES_MAX in each turn', async (t) => {
  stopClock(t)
  const over: (() => void)[] = []
  const clock = { now: () => 0, afterTurn: (run: () => void) => void over.push(run), later: () => undefined }
  const { body, passed, run } = openRelayed({ budget: new LoopBudget(clock).stream('o') })
  const text = `o${'x'.repeat(STREAM_TURN_BYTES_MAX * 2)}.`
  await body.feed(text)
  let reads = 0
  for (; over.length > 0; reads++) {
    t.ok(passed.join('').length < STREAM_TURN_BYTES_MAX * 2 * (reads + 1), 'a turn and its last slice')
    over.shift()?.()
    await turn()
  }
  t.ok(reads > 1)
  t.match(await run, { failure: null })
  t.equal(passed.join(''), `begin${text}`)
})
