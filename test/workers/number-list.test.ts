import t from 'tap'
import { endOfNumbers, NumberBytes } from '../../src/workers/number-list.ts'
import { randomFrom, type Random } from '../support/embeddings/random-answers.ts'
import { inScanMemory, numberText, pick, plainNumber } from '../support/embeddings/vector-texts.ts'

function otherNumber(random: Random): string {
  const odd = ['0', '-3', '12.5', '-1.5e-05', '9e9', '123456.75', '0.5 ', '\t0.25', '0.1\r\n']
  return random() < 0.9 ? plainNumber(random) : pick(random, odd)
}

/** Digits, points and commas in any order, and what a list never holds. */
const ODD_BYTES = [...'0.,-+eE \n\t]x:', '\u{e9}', '\0']

function isListOfFinite(text: string): boolean {
  try {
    const values = JSON.parse(text) as unknown[]
    return values.every((value) => typeof value === 'number' && Number.isFinite(Math.fround(value)))
  } catch {
    return false
  }
}

/** Ends of the list that begins the text, copied to the code and where it lies in its memory. */
function endsOf(text: string): readonly number[] {
  const bytes = Buffer.from(text)
  return [bytes, inScanMemory(bytes)].map((each) => endOfNumbers(new NumberBytes(each), 1))
}

t.test(
  'finds the end of a list that mixes number notations, and refuses a list with an error in it',
  async (t) => {
    const seed = Math.floor(Math.random() * 2 ** 32)
    const random = randomFrom(seed)
    for (let nth = 0; nth < 400; nth++) {
      const write = random() < 0.5 ? plainNumber : otherNumber
      const list = `${numberText(random, write, [',', ', '])}0.5]`
      const at = Math.floor(random() * list.length)
      const broken = list.slice(0, at) + pick(random, ODD_BYTES) + list.slice(at + 1)
      for (const text of [list, broken]) {
        const [end, there] = endsOf(`[${text} behind it`)
        const isRight = end === -1 ? text !== list : isListOfFinite(`[${text}`.slice(0, end))
        if (!isRight || end !== there) t.fail(`seed ${seed}, ${end}, ${there}: ${text}`)
      }
    }
    t.pass(`seed ${seed}`)
  },
)

t.test('finds the end of a list of every length at its bracket, whatever precedes the bracket', async (t) => {
  for (const last of [
    '0.5',
    '-0.5',
    '0.25',
    '7',
    '0.5e-3',
    '0.',
    '-',
    '.5',
    '',
    '00.5',
    '0.5.5',
    '0.5,',
    ' ',
  ]) {
    for (let length = 0; length < 200; length++) {
      const text = `[0.${'1234567890'.repeat(20).slice(0, length)}1,${last}]`
      const wanted = isListOfFinite(text) ? text.length : -1
      for (const end of endsOf(`${text}},0.5,0.5]`)) if (end !== wanted) t.fail(`${end}: ${text}`)
    }
  }
  t.pass()
})

t.test('a list longer than the Wasm memory is read in windows', async (t) => {
  const text = `[${'0.12345,-1.5, '.repeat(20_000)}0.5]`
  t.equal(endOfNumbers(new NumberBytes(Buffer.from(text)), 1), text.length)
  const at = text.length - 30
  const broken = Buffer.from(`${text.slice(0, at)}x${text.slice(at + 1)}`)
  t.equal(endOfNumbers(new NumberBytes(broken), 1), -1)
})
