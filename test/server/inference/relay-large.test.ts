/** Passing large events on: in slices, as the caller reads, while the clock of the provider stands still. */
import { mock } from 'node:test'
import t from 'tap'
import { ok } from '../../../src/schemas/failures.ts'
import { AnswerBudget } from '../../../src/server/egress/answer-budget.ts'
import { FREE, stopClock } from '../../support/inference/relayed.ts'
import { Drains, Relay, type Relayed } from '../../../src/server/inference/relay.ts'
import { SLICE_UNITS_MAX } from '../../../src/server/upstream/inference/sliced-parts.ts'
import { callerBy } from '../../support/keys/callers.ts'
import type { WrittenPart, PartRead, PartStream } from '../../../src/dialects/parts.ts'
import type { InferenceSink } from '../../../src/server/upstream/inference/protocol.ts'

const STALL_MS = 1_000
const FIRST_OUTPUT_MS = 3_000
const stated = (text: string): WrittenPart => ({ kind: 'text', choice: 0, text })

/** A stream of one read. */
function streamOf(read: PartRead, hasOutput: () => boolean = () => true): PartStream {
  let isRead = false
  return {
    read: () => {
      isRead = true
      return read
    },
    get hasOutput() {
      return hasOutput()
    },
    get isDone() {
      return isRead
    },
    awaitsUsage: false,
    ...{ end: () => null, heldBytes: 0, usage: null, outputBytes: 0, finishReason: null, upstreamId: null },
    reported: {},
  }
}

interface Rig {
  readonly taken: string[]
  readonly run: Promise<Relayed>
  leave(): void
}

function open(stream: PartStream, sink: Partial<InferenceSink> = {}): Rig {
  const taken: string[] = []
  const leaving = new AbortController()
  const relay = new Relay({
    body: { next: () => Promise.resolve(ok(Buffer.from('x'))), close: () => undefined },
    stream,
    attempt: {
      sink: {
        take: (parts) => {
          taken.push(parts.map((part) => ('text' in part ? part.text : '')).join(''))
          return true
        },
        pass: () => true,
        room: () => Promise.resolve(),
        ...sink,
      },
      begin: () => undefined,
      mayChangeModel: () => false,
    },
    dropped: [],
    signal: leaving.signal,
    ...{ firstOutputMs: FIRST_OUTPUT_MS, stallMs: STALL_MS, onLeave: 'cancel', drains: new Drains() },
    room: new AnswerBudget(2 ** 20).room(callerBy('o')),
    budget: FREE,
    now: () => Date.now(),
  })
  return { taken, run: relay.run(), leave: () => leaving.abort() }
}

/** Nothing is left to do but what waits. */
async function settled(): Promise<void> {
  for (let nth = 0; nth < 20; nth++) await new Promise((resolve) => setImmediate(resolve))
}

const LONG = 'a'.repeat(3 * SLICE_UNITS_MAX) + 'b'

t.test('a long text is written in slices, with turns for other calls in between', async (t) => {
  let turns = 0
  let isOver = false
  const count = (): void => {
    turns++
    if (!isOver) setImmediate(count)
  }
  setImmediate(count)
  const { taken, run } = open(streamOf({ parts: [stated(LONG)], failure: null }))
  t.match(await run, { failure: null, hasBegun: true })
  isOver = true
  t.equal(taken.join(''), LONG)
  t.equal(taken.length, 4)
  t.ok(turns >= 3, `${turns} turns`)
})

t.test('slices wait for a slow caller, and the wait counts as the time of the caller', async (t) => {
  stopClock(t)
  const waits: (() => void)[] = []
  const texts: string[] = []
  const { run } = open(streamOf({ parts: [stated(LONG)], failure: null }), {
    take: (parts) => {
      for (const part of parts) if ('text' in part) texts.push(part.text)
      return false
    },
    room: () => new Promise((resolve) => waits.push(resolve)),
  })
  for (let nth = 1; nth < 4; nth++) {
    await settled()
    t.equal(waits.length, nth)
    t.equal(texts.length, nth)
    mock.timers.tick(10 * STALL_MS)
    waits.at(-1)?.()
  }
  t.match(await run, { failure: null, pausedMs: 30 * STALL_MS })
  t.equal(texts.join(''), LONG)
})

t.test('a caller who disconnects gets no more slices', async (t) => {
  let slices = 0
  const rig: Rig = open(streamOf({ parts: [stated(LONG)], failure: null }), {
    take: () => {
      slices++
      rig.leave()
      return true
    },
  })
  await rig.run
  t.equal(slices, 1)
})

t.test('time in a worker thread is not provider time, before and after the first output', async (t) => {
  stopClock(t)
  const answers: ((read: PartRead) => void)[] = []
  const rest = (): Promise<PartRead> => new Promise((resolve) => answers.push(resolve))
  let hasOutput = false
  const { taken, run } = open(streamOf({ parts: [], failure: null, rest }, () => hasOutput))
  await settled()
  mock.timers.tick(10 * FIRST_OUTPUT_MS)
  hasOutput = true
  answers[0]?.({ parts: [stated('Hi')], failure: null, rest })
  await settled()
  t.same(taken, ['Hi'])
  mock.timers.tick(10 * STALL_MS)
  answers[1]?.({ parts: [stated(' you')], failure: null })
  t.match(await run, { failure: null, hasBegun: true })
  t.same(taken, ['Hi', ' you'])
})
