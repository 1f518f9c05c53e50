import t from 'tap'
import { scanMemory, ScanWindow } from '../../src/workers/scan-memory.ts'
import { randomFrom } from '../support/embeddings/random-answers.ts'
import { inScanMemory, numberText, pick, plainNumber } from '../support/embeddings/vector-texts.ts'

type State = 'start' | 'minus' | 'first' | 'point' | 'fraction'

/** The grammar of plain numbers, byte by byte: where each kind of byte leads. */
const STATES: Readonly<Record<State, Readonly<Record<string, State>>>> = {
  start: { ' ': 'start', '\n': 'start', '-': 'minus', '0': 'first' },
  minus: { '0': 'first' },
  first: { '.': 'point' },
  point: { '0': 'fraction' },
  fraction: { '0': 'fraction', ',': 'start' },
}
const STEPS = new Map(
  Object.entries(STATES).map(([state, steps]) => [
    state as State,
    Array.from({ length: 256 }, (_, byte) => {
      const char = String.fromCharCode(byte)
      return steps[/\d/.test(char) ? '0' : char]
    }),
  ]),
)

/** The first byte that is wrong, or the end. */
function expected(bytes: Uint8Array, from = 0): number {
  let state: State = 'start'
  for (let at = from; at < bytes.length; at++) {
    const next: State | undefined = STEPS.get(state)?.[bytes[at] ?? 0]
    if (next === undefined) return at
    state = next
  }
  return bytes.length
}

const LONG =
  '0.12345,-0.5, 0.0625,-1.25,\n0.9876543,0.1,-0.33333333, 4.75,0.0009765625,-2.5,0.6,-0.0123456789012,' +
  '9.87654321,\n    -0.5,0.25,-0.125, 0.0625,-0.03125,0.015625,-0.0078125,0.00390625,-0.001953125,7.0,'

t.test('checks every byte at every place of three rounds as the grammar requires', async (t) => {
  for (const shift of [0, 1, 5, 15]) {
    const bytes = inScanMemory(Buffer.from(`0.${'7'.repeat(shift)}1,${LONG}`), shift)
    const reader = (): number => new ScanWindow(bytes).endOfNumbers(0)
    for (let at = 0; at < 140; at++) {
      const kept = bytes[at] ?? 0
      for (let byte = 0; byte < 256; byte++) {
        bytes[at] = byte
        if (reader() !== expected(bytes)) t.fail(JSON.stringify(bytes.toString('latin1')))
      }
      bytes[at] = kept
    }
  }
  t.pass()
})

t.test('checks all four-byte number sequences across all vector and round borders', async (t) => {
  const signs = [...'05.-, \n'].map((sign) => sign.charCodeAt(0))
  const bytes = inScanMemory(Buffer.from(LONG))
  for (const border of [16, 32, 48, 64, 80, 128]) {
    for (let at = border - 4; at <= border; at++) {
      const kept = bytes.subarray(at, at + 4).slice()
      for (let nth = 0; nth < signs.length ** 4; nth++) {
        for (let place = 0, rest = nth; place < 4; place++, rest = Math.floor(rest / signs.length))
          bytes[at + place] = signs[rest % signs.length] ?? 0
        if (new ScanWindow(bytes).endOfNumbers(0) !== expected(bytes)) t.fail(bytes.toString('latin1'))
      }
      bytes.set(kept, at)
    }
  }
  t.pass()
})

t.test('every length at every offset is read within its bytes, whatever follows them', async (t) => {
  for (const behind of ['0.5,', ',,,,', ']']) {
    const text = Buffer.from(LONG + behind.repeat(20))
    for (let place = 0; place < 64; place++) {
      const there = inScanMemory(text, place)
      for (let length = 0; length <= 200; length++) {
        const bytes = there.subarray(0, length)
        if (new ScanWindow(bytes).endOfNumbers(0) !== expected(bytes)) t.fail(`${place}, ${length}`)
      }
    }
  }
  t.pass()
})

t.test('bytes outside the Wasm memory are read like bytes in it', async (t) => {
  const seed = Math.floor(Math.random() * 2 ** 32)
  const random = randomFrom(seed)
  for (let nth = 0; nth < 200; nth++) {
    const plain = numberText(random, plainNumber, [',', ', ', ',\n'])
    const at = Math.floor(random() * plain.length)
    const bytes = Buffer.from(plain.slice(0, at) + pick(random, [...'0.,-+eE \n\t]x']) + plain.slice(at))
    const from = plain.indexOf(',') + 1
    const ends = [bytes, inScanMemory(bytes, nth)].map((each) => new ScanWindow(each).endOfNumbers(from))
    const wanted = expected(bytes, from)
    if (ends.some((end) => end !== wanted))
      t.fail(`seed ${seed}, ${ends.join()}, ${wanted}: ${bytes.toString()}`)
  }
  t.pass(`seed ${seed}`)
})

t.test('the lent memory is a single region, and reading other bytes does not change it', async (t) => {
  const memory = scanMemory()
  t.equal(scanMemory(), memory)
  t.equal(memory.length, 65_536)
  const kept = inScanMemory(Buffer.from(LONG))
  const other = Buffer.from(LONG.replace('4.75', '4.7.').repeat(400))
  t.equal(new ScanWindow(other).endOfNumbers(0), LONG.indexOf('4.75') + 3)
  t.equal(kept.toString(), LONG)
  t.equal(new ScanWindow(kept).endOfNumbers(0), LONG.length)
})
