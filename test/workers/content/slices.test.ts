/**
 * A slice holds a session's thread about as long whatever it is made of. Each time is the best of some
 * rounds, and only their ratio counts.
 */
import t from 'tap'
import { Automata, Automaton, byteReading } from '../../../src/workers/content/automaton.ts'
import { CONTENT_SLICE_BYTES_MAX, createContentScanner } from '../../../src/workers/content/scanner.ts'
import { HARD_MARKS } from '../../support/corpus/hard-files.ts'

const ROUNDS = 12
/** Rounds for a machine that does other things: what compiles the loops there may come late. */
const ROUNDS_MAX = 2_000
/** Of the time in which a table is read over a slice byte by byte. */
const RATIO_MAX = 8

/** Milliseconds of the second slice, which is not the beginning of a file. */
function sliceMs(file: Uint8Array): number {
  const scanner = createContentScanner()
  scanner.push(file.subarray(0, CONTENT_SLICE_BYTES_MAX))
  return msOf(() => scanner.push(file.subarray(CONTENT_SLICE_BYTES_MAX)))
}

const automata = new Automata(byteReading(), 1)
const automaton = new Automaton(automata, new Uint8Array(256))
automata.hold(new Uint8Array(CONTENT_SLICE_BYTES_MAX))

/** Milliseconds of a slice that is read byte by byte, by a table that does nothing. */
const bytesMs = (): number => msOf(() => automata.read(automaton, 0, CONTENT_SLICE_BYTES_MAX))

function msOf(run: () => unknown): number {
  const from = performance.now()
  run()
  return performance.now() - from
}

for (const { name, make } of HARD_MARKS) {
  t.test(`${name}: a slice takes no more than ${RATIO_MAX} times that of its bytes`, async (t) => {
    const file = make(2 * CONTENT_SLICE_BYTES_MAX)
    let [ms, bytes] = [Infinity, Infinity]
    for (let round = 0; round < ROUNDS || (ms > RATIO_MAX * bytes && round < ROUNDS_MAX); round++) {
      bytes = Math.min(bytes, bytesMs())
      ms = Math.min(ms, sliceMs(file))
    }
    t.ok(ms <= RATIO_MAX * bytes, `${ms.toFixed(2)} ms, ${(ms / bytes).toFixed(1)} times`)
  })
}
