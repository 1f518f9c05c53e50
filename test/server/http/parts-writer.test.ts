import t from 'tap'
import { REPLY_BEAT_MS, REPLY_BYTES_PER_S_MIN, REPLY_STALL_MS } from '../../../src/schemas/limits.ts'
import { PartsWriter } from '../../../src/server/http/parts-writer.ts'
import type { WireResponse } from '../../../src/server/http/wire.ts'

const BODY_BYTES = 64 * 1024 * 1024

/** A writer whose reader takes so many bytes before each beat; `beat` lets one pass. */
function readAt(bytesPerBeat: number) {
  let [taken, isClosed] = [0, false]
  let writable: (offset: number) => boolean = () => true
  let beat = (): void => undefined
  const res = {
    tryEnd: () => [false, false],
    onWritable: (more: typeof writable) => void (writable = more),
    pause: () => undefined,
    resume: () => undefined,
    close: () => void (isClosed = true),
  } as unknown as WireResponse
  const timers = {
    start(_ms: number, fire: () => void) {
      beat = fire
      return { stop: () => undefined }
    },
  }
  const parts = [Buffer.alloc(BODY_BYTES)]
  new PartsWriter({ res, parts, timers, isLast: false, over: () => undefined, guard: (act) => act() }).start(0)
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

t.test('a reader that keeps the least rate is waited for', async (t) => {
  t.equal(readAt(LEAST).pass(4 * WINDOW_BEATS), false)
})

t.test('a reader that takes a byte now and then is cut, though it never stalls', async (t) => {
  for (const bytesPerBeat of [1, LEAST - 1]) {
    const { pass } = readAt(bytesPerBeat)
    t.equal(pass(WINDOW_BEATS - 1), false)
    t.equal(pass(1), true)
  }
})

t.test('a reader that takes nothing is cut', async (t) => {
  t.equal(readAt(0).pass(WINDOW_BEATS + 1), true)
})
