import t from 'tap'
import { PlainNumbers } from '../../src/workers/plain-numbers.ts'
import { endOfNumbers } from '../../src/workers/number-list.ts'
import { randomFrom, type Random } from '../support/embeddings/random-answers.ts'

const pick = (random: Random, from: readonly string[]): string =>
  from[Math.floor(random() * from.length)] ?? ''
const digits = (random: Random, most: number): string =>
  String(Math.floor(random() * 1e17))
    .padStart(17, '0')
    .slice(0, 1 + random() * most)

function plainNumber(random: Random): string {
  return `${pick(random, ['', '-'])}${digits(random, 1)}.${digits(random, 17)}`
}

function otherNumber(random: Random): string {
  const odd = ['0', '-3', '12.5', '-1.5e-05', '9e9', '123456.75', '0.5 ', '\t0.25', '0.1\r\n']
  return random() < 0.9 ? plainNumber(random) : pick(random, odd)
}

const listOf = (random: Random, one: (random: Random) => string, between: readonly string[]): string =>
  Array.from({ length: 40 + random() * 400 }, () => one(random) + pick(random, between)).join('')

/** Digits, points and commas in any order, and what a list never holds. */
const ODD_BYTES = [...'0.,-+eE \n\t]x:', '\u{e9}', '\0']

function isListOfFinite(text: string): boolean {
  try {
    return (JSON.parse(`[${text}]`) as number[]).every(
      (value) => typeof value === 'number' && Number.isFinite(Math.fround(value)),
    )
  } catch {
    return false
  }
}

t.test(
  'numbers with one digit before the point are read to the last steps, with white space behind commas and without',
  async (t) => {
    const random = randomFrom(7)
    for (const between of [[','], [', '], [',\n        '], [',', ', ', ', \n ']]) {
      const text = listOf(random, plainNumber, between)
      const bytes = Buffer.from(`xx${text}`)
      const end = new PlainNumbers(bytes).endFrom(2)
      t.ok(bytes.length - end < 48, JSON.stringify(between))
      t.equal(bytes[end - 1], ','.charCodeAt(0))
    }
  },
)

t.test(
  'what was read over is a list of finite numbers for a parser, whichever bytes were put into it',
  async (t) => {
    const seed = Math.floor(Math.random() * 2 ** 32)
    const random = randomFrom(seed)
    for (let nth = 0; nth < 500; nth++) {
      const plain = listOf(random, plainNumber, [',', ', ', ',\n'])
      const at = Math.floor(random() * Math.min(plain.length, 150))
      const text = plain.slice(0, at) + pick(random, ODD_BYTES) + plain.slice(at + Math.floor(random() * 2))
      const bytes = Buffer.from(text)
      const read = bytes.subarray(0, new PlainNumbers(bytes).endFrom(0)).toString()
      if (read !== '' && !(read.endsWith(',') && isListOfFinite(read.slice(0, -1)))) t.fail(`seed ${seed}`)
    }
    t.pass(`seed ${seed}`)
  },
)

t.test(
  'a list that mixes both ways ends where it ends, and one with a fault in it is not taken',
  async (t) => {
    const seed = Math.floor(Math.random() * 2 ** 32)
    const random = randomFrom(seed)
    for (let nth = 0; nth < 300; nth++) {
      const list = `${listOf(random, otherNumber, [',', ', '])}0.5]`
      const at = Math.floor(random() * list.length)
      const broken = list.slice(0, at) + pick(random, ODD_BYTES) + list.slice(at + 1)
      for (const text of [list, broken]) {
        const end = endOf(Buffer.from(`[${text} behind it`))
        const isRight = end === -1 ? text !== list : isListOfFinite(`[${text}`.slice(1, end - 1))
        if (!isRight) t.fail(`seed ${seed}, ${end}: ${text}`)
      }
    }
    t.pass(`seed ${seed}`)
  },
)

t.test('a list longer than the memory of the code is read in windows', async (t) => {
  const text = `[${'0.12345,-1.5, '.repeat(20_000)}0.5]`
  t.equal(endOf(Buffer.from(text)), text.length)
  const at = text.length - 30
  t.equal(endOf(Buffer.from(`${text.slice(0, at)}x${text.slice(at + 1)}`)), -1)
})

const PLAIN = '0.12345,-0.5, 0.0625,-1.25,\n0.9876543,0.1,-0.33333333, 4.75,0.0009765625,-2.5,0.6,'

/** What is wrong with what is taken of these bytes, if anything. */
function mistake(text: string): string | null {
  const bytes = Buffer.from(text, 'latin1')
  const read = text.slice(0, new PlainNumbers(bytes).endFrom(0))
  return read === '' || (read.endsWith(',') && isListOfFinite(read.slice(0, -1)))
    ? null
    : JSON.stringify(text)
}

t.test(
  'every byte at every place of a step, and across its border, is taken only where a parser takes it',
  async (t) => {
    for (let shift = 0; shift < 16; shift++) {
      const text = `0.${'7'.repeat(shift)}1,${PLAIN}`
      for (let at = 0; at < 50; at++) {
        for (let byte = 0; byte < 256; byte++) {
          const wrong = mistake(text.slice(0, at) + String.fromCharCode(byte) + text.slice(at + 1))
          if (wrong !== null) t.fail(wrong)
        }
      }
    }
    t.pass()
  },
)

t.test(
  'every four of the bytes that numbers are made of, across the border of two steps, are taken only where a parser takes them',
  async (t) => {
    const signs = ['0', '5', '.', '-', ',', ' ', '\n']
    const fours = signs.flatMap((a) =>
      signs.flatMap((b) => signs.flatMap((c) => signs.map((d) => a + b + c + d))),
    )
    for (let at = 11; at < 19; at++) {
      for (const four of fours) {
        const wrong = mistake(PLAIN.slice(0, at) + four + PLAIN.slice(at + 4))
        if (wrong !== null) t.fail(wrong)
      }
    }
    t.pass()
  },
)

function endOf(bytes: Buffer): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  return endOfNumbers({ bytes, view, plain: new PlainNumbers(bytes) }, 1)
}
