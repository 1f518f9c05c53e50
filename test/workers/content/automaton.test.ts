import t from 'tap'
import {
  ARRAY,
  Automata,
  Automaton,
  byteReading,
  OBJECT,
  pairOf,
  SHARED_ACTIONS,
  vectorReading,
  type Reading,
} from '../../../src/workers/content/automaton.ts'
import { randomFrom, type Random } from '../../support/embeddings/random-answers.ts'
import { present } from '../../support/must.ts'

const DEEPEST = 3
const ACTIONS = [64, 65, 66, 67, SHARED_ACTIONS.comma, SHARED_ACTIONS.count, SHARED_ACTIONS.stop, 80]

const upTo = (random: Random, most: number): number => Math.floor(random() * most)

/** States that most bytes leave as they are, with stretches of bytes that lead elsewhere. */
function randomTable(random: Random, states: number): Uint8Array {
  const table = new Uint8Array(states * 256)
  for (let state = 0; state < states; state++) {
    const usual = random() < 0.8 ? state : upTo(random, states)
    table.fill(usual, state * 256, state * 256 + 256)
    for (let stretch = upTo(random, 12); stretch > 0; stretch--) {
      const from = upTo(random, 256)
      const isAction = random() < 0.5
      const next = isAction ? (ACTIONS[upTo(random, ACTIONS.length)] ?? 64) : upTo(random, states)
      table.fill(next, state * 256 + from, state * 256 + Math.min(256, from + 1 + upTo(random, 20) ** 2))
    }
  }
  return table
}

interface Start {
  readonly state: number
  readonly depth: number
  readonly at: number
  readonly end: number
}

/** A state in which a byte is counted, and the state after it, which differ in a few stretches of bytes. */
function countingTable(random: Random): Uint8Array {
  const table = randomTable(random, 2)
  const [state, other] = random() < 0.5 ? [0, 1] : [1, 0]
  const same = table.slice(state * 256, state * 256 + 256)
  table.set(random() < 0.7 ? same.map((next) => (next === other ? state : next)) : same, other * 256)
  const counted = 3 + upTo(random, 40)
  for (const one of [0, 256]) table[one + counted] = SHARED_ACTIONS.count
  if (random() < 0.3) table[upTo(random, 512)] = upTo(random, 2)
  return table
}

/** The full result of a reading. */
function read(
  reading: Reading,
  table: Uint8Array,
  { text, start }: { text: Uint8Array; start: Start },
): readonly unknown[] {
  const states = table.length / 256
  const automata = new Automata(reading, DEEPEST)
  for (let action = 64; action < SHARED_ACTIONS.stop; action++) automata.follow(action, action % states)
  const automaton = new Automaton(automata, table)
  automata.hold(text)
  automata.state = start.state
  automata.count = 5
  automata.levels.set([OBJECT, ARRAY, OBJECT])
  const stops: unknown[] = []
  automata.depth = start.depth
  for (let at = start.at; at < start.end; at++) {
    at = automata.read(automaton, at, start.end)
    stops.push(at, automata.state, automata.action, automata.depth, automata.count)
    stops.push(...automata.levels.subarray(0, automata.depth))
  }
  return stops
}

t.test('vector code stops where reading byte by byte stops, for any table and text', async (t) => {
  const seed = upTo(Math.random, 2 ** 32)
  const random = randomFrom(seed)
  const vectors = present(vectorReading())
  const bytes = byteReading()
  for (let nth = 0; nth < 6_000; nth++) {
    const isCounting = nth % 2 === 0
    const states = isCounting ? 2 : 1 + upTo(random, 12)
    const table = isCounting ? countingTable(random) : randomTable(random, states)
    const text = Buffer.alloc(1 + upTo(random, 150))
    const letters = 1 + upTo(random, 256)
    for (let at = 0; at < text.length; at++) text[at] = upTo(random, letters)
    const at = upTo(random, text.length)
    const end = at + upTo(random, text.length - at + 1)
    const start = { state: upTo(random, states), depth: upTo(random, DEEPEST + 1), at, end }
    const [fast, slow] = [vectors, bytes].map((reading) => read(reading, table, { text, start }))
    if (JSON.stringify(fast) !== JSON.stringify(slow)) t.fail(`seed ${seed}, ${nth}`)
  }
  t.pass(`seed ${seed}`)
})

t.test('the vector code finds each byte at each place after other bytes of its state', async (t) => {
  const [vectors, bytes] = [present(vectorReading()), byteReading()]
  const table = new Uint8Array(2 * 256).fill(1, 256)
  for (let stop = 0; stop < 256; stop++) {
    table.fill(0, 0, 256)
    table[stop] = SHARED_ACTIONS.stop
    const other = (stop + 1) % 256
    for (let length = 1; length < 40; length++) {
      const text = Buffer.alloc(length + 20, other).fill(stop, length)
      const start = { state: 0, depth: 0, at: 0, end: length + 1 }
      const [fast, slow] = [vectors, bytes].map((reading) => read(reading, table, { text, start }))
      if (fast?.[0] !== length || slow?.[0] !== length) t.fail(`${stop} at ${length}`)
      const before = read(vectors, table, { text, start: { ...start, end: length } })
      if (before[0] !== length || before[2] !== 0) t.fail(`${stop} after the end at ${length}`)
    }
  }
  t.pass()
})

t.test('the vector code finds the same pairs and words as a search byte by byte', async (t) => {
  const seed = upTo(Math.random, 2 ** 32)
  const random = randomFrom(seed)
  const readings = [present(vectorReading()), byteReading()].map((reading) => new Automata(reading, 1))
  const [one, other] = ['PK\x03\x04', 'PK\x05\x06'] as const
  const words = [Buffer.from(one).readUInt32LE(), Buffer.from(other).readUInt32LE()] as const
  for (let nth = 0; nth < 3_000; nth++) {
    const pairs = new Uint8Array(65_536)
    for (let pair = 0; pair < 4; pair++) pairs[pairOf(upTo(random, 4), upTo(random, 4))] = 1
    const text = Buffer.alloc(1 + upTo(random, 90))
    for (let at = 0; at < text.length; at++) text[at] = upTo(random, 9)
    for (let at = 0; at < text.length; at += 1 + upTo(random, 40))
      text.write([one, other, 'PK', 'PK\x03'][upTo(random, 4)] ?? '', at)
    const from = upTo(random, text.length)
    const [fast, slow] = readings.map((automata) => {
      automata.setPairs(pairs)
      const { bytes } = automata.hold(text)
      const pair = automata.pairIn(bytes, from, text.length - 1)
      return [Math.min(pair, text.length - 1), automata.wordIn(bytes, from, words)]
    })
    const places = [one, other].map((word) => text.indexOf(word, from)).filter((at) => at >= 0)
    if (JSON.stringify(fast) !== JSON.stringify(slow)) t.fail(`seed ${seed}, ${nth}`)
    if (fast?.[1] !== (places.length === 0 ? -1 : Math.min(...places))) t.fail(`seed ${seed}, ${nth}: word`)
  }
  t.pass(`seed ${seed}`)
})

t.test('a table that does not fit in memory is refused', async (t) => {
  const automata = new Automata(byteReading(), DEEPEST)
  t.throws(() => {
    for (let nth = 0; nth < 20; nth++) automata.add(new Uint8Array(40 * 256))
  }, /not enough space/)
  t.throws(() => new Automata(byteReading(), 20_000), /not enough space/)
})
