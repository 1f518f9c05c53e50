/**
 * A slice holds a session's thread about as long whatever it is made of. Each time is the best of some
 * rounds, and only their ratio counts.
 */
import t from 'tap'
import { CONTENT_SLICE_BYTES_MAX, createContentScanner } from '../../../src/workers/content/scanner.ts'
import { HARD_MARKS } from '../../support/corpus/hard-files.ts'

const ROUNDS = 12
/** Of the time of prose, which is read for signs of Markdown and CSV. */
const RATIO_MAX = 12

/** Milliseconds of the second slice, which is no file's beginning. */
function sliceMs(file: Uint8Array): number {
  const rounds = Array.from({ length: ROUNDS }, () => {
    const scanner = createContentScanner()
    scanner.push(file.subarray(0, CONTENT_SLICE_BYTES_MAX))
    const from = performance.now()
    scanner.push(file.subarray(CONTENT_SLICE_BYTES_MAX))
    return performance.now() - from
  })
  return Math.min(...rounds)
}

const prose = sliceMs(
  Buffer.alloc(
    2 * CONTENT_SLICE_BYTES_MAX,
    'The quick brown fox jumps over the lazy dog, and then it sleeps; really.\n',
  ),
)

for (const { name, make } of HARD_MARKS) {
  t.test(`${name}: a slice takes no more than ${RATIO_MAX} times that of prose`, async (t) => {
    const ms = sliceMs(make(2 * CONTENT_SLICE_BYTES_MAX))
    t.ok(ms <= RATIO_MAX * prose, `${ms.toFixed(2)} ms, ${(ms / prose).toFixed(1)} times`)
  })
}
