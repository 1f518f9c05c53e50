import fc from 'fast-check'
import t from 'tap'
import { REPLY_BEAT_MS, REPLY_STALL_MS } from '../../../../src/schemas/limits/limits.ts'
import { lendingBuffer } from '../../../../src/schemas/values/lent-bytes.ts'
import { REPLY_BYTES_PER_S_MIN, PartsWriter } from '../../../../src/server/http/reply/parts-writer.ts'
import type { WireResponse } from '../../../../src/server/http/reply/wire.ts'

const BODY_BYTES = 64 * 1024 * 1024

/** A writer whose reader takes so many bytes before each beat; `beat` lets one pass. */
function readAt(bytesPerBeat: number) {
  let [taken, isClosed] = [0, false]
  let writable: (offset: number) => boolean = () => true
  let beat = (): void => undefined
  const res = {
    tryEnd: () => [false, false],
    getWriteOffset: () => taken,
    onWritable: (more: typeof writable) => void (writable = more),
    pause: () => undefined,
    resume: () => undefined,
    close: () => void (isClosed = true),
  } as unknown as WireResponse
  const timers = {
    start(_ms: number, fire: () => void) {
      beat = fire
      return { stop: () => undefined, putOff: () => undefined }
    },
  }
  const parts = [Buffer.alloc(BODY_BYTES)]
  new PartsWriter({
    res,
    body: parts,
    timers,
    isLast: false,
    linger: (close) => close(),
    over: () => undefined,
    guard: (act) => act(),
  }).start(0)
  const pass = (beats: number): boolean => {
    for (let nth = 0; nth < beats && !isClosed; nth++) {
      if (bytesPerBeat > 0) writable((taken += bytesPerBeat))
      beat()
    }
    return isClosed
  }
  return { pass }
}

const WINDOW_BEATS = REPLY_STALL_MS / REPLY_BEAT_MS
const LEAST = (REPLY_BYTES_PER_S_MIN * REPLY_BEAT_MS) / 1_000

t.test('a reader that keeps the minimum rate is never disconnected', async (t) => {
  t.equal(readAt(LEAST).pass(4 * WINDOW_BEATS), false)
})

t.test('a reader that reads a byte now and then is disconnected, although it never stalls', async (t) => {
  for (const bytesPerBeat of [1, LEAST - 1]) {
    const { pass } = readAt(bytesPerBeat)
    t.equal(pass(WINDOW_BEATS - 1), false)
    t.equal(pass(1), true)
  }
})

t.test('a reader that reads nothing is disconnected', async (t) => {
  t.equal(readAt(0).pass(WINDOW_BEATS + 1), true)
})

interface Taking {
  readonly isLast: boolean
  readonly from: number
  /** Runs before the client takes what it did not take at once. */
  readonly turn?: () => void
}

/**
 * Sends a body to a client that takes so many bytes at a time. @returns what it got, and how often it was
 * handed something
 */
function taken(
  parts: readonly Uint8Array[],
  takes: readonly number[],
  { isLast, from, turn: nextTurn }: Taking,
) {
  const got: Buffer[] = [Buffer.concat(parts).subarray(0, from)]
  let [offset, turn, calls, isOver] = [from, 0, 0, false]
  let writable: (offset: number) => boolean = () => true
  const res = {
    tryEnd(bytes: Uint8Array, endsAt: number) {
      calls += 1
      const most = Math.min(bytes.length, takes[turn++ % takes.length] ?? 1)
      got.push(Buffer.from(bytes.subarray(0, most)))
      offset += most
      return [most === bytes.length, offset === endsAt]
    },
    getWriteOffset: () => offset,
    onWritable: (more: typeof writable) => void (writable = more),
    pause: () => undefined,
    resume: () => undefined,
    close: () => undefined,
  } as unknown as WireResponse
  const timers = { start: () => ({ stop: () => undefined, putOff: () => undefined }) }
  const writer = new PartsWriter({
    res,
    body: parts,
    timers,
    isLast,
    linger: (close) => close(),
    over: () => (isOver = true),
    guard: (act) => act(),
  })
  writer.start(from)
  nextTurn?.()
  const isCountRight = [writer.writtenBytes === offset]
  while (!writable(offset)) isCountRight.push(writer.writtenBytes === offset)
  isCountRight.push(writer.writtenBytes === offset)
  return { bytes: Buffer.concat(got), calls, isOver: () => isOver, isCounted: !isCountRight.includes(false) }
}

t.test('bytes that a client reads in a later turn no longer use lent memory', async (t) => {
  for (const isLast of [true, false]) {
    const lent = lendingBuffer(Buffer.alloc(1_000)).fill('x')
    const parts = [Buffer.from('head'), lent.subarray(10, 990), Buffer.from('tail')]
    const expected = Buffer.concat(parts)
    const { bytes } = taken(parts, [7], { isLast, from: 0, turn: () => void lent.fill(0) })
    t.ok(bytes.equals(expected))
  }
})

const PARTS = fc.array(
  fc.oneof(
    { weight: 8, arbitrary: fc.integer({ min: 0, max: 900 }) },
    { weight: 1, arbitrary: fc.constantFrom(65_535, 65_536, 65_537, 200_000) },
  ),
  { minLength: 1, maxLength: 120 },
)

t.test(
  'a client gets every byte once and in order, however the body is split and however much it reads at a time',
  async (t) => {
    const bytes = fc.oneof(
      fc.integer({ min: 1, max: 5_000 }),
      fc.constant(Infinity),
      fc.integer({ min: 60_000, max: 70_000 }),
    )
    const takes = fc.array(bytes, { minLength: 1, maxLength: 20 })
    await fc.assert(
      fc.asyncProperty(
        PARTS,
        takes,
        fc.boolean(),
        fc.double({ min: 0, max: 0.999, noNaN: true }),
        async (sizes, each, isLast, share) => {
          const parts = sizes.map((size, nth) => Buffer.alloc(size, `${nth}.`))
          const whole = Buffer.concat(parts)
          const { bytes, isOver, isCounted } = taken(parts, each, {
            isLast,
            from: Math.floor(share * whole.length),
          })
          await new Promise((resolve) => setImmediate(resolve))
          return isCounted && bytes.equals(whole) && (isOver() || whole.length === 0)
        },
      ),
      { numRuns: 200 },
    )
    t.pass()
  },
)

t.test('small parts are written together, and a large part in one write', async (t) => {
  const small = Array.from({ length: 2_000 }, () => Buffer.alloc(500))
  t.ok(taken(small, [Infinity], { isLast: false, from: 0 }).calls <= 16)
  t.equal(taken([Buffer.alloc(10_000_000)], [Infinity], { isLast: false, from: 0 }).calls, 1)
})
