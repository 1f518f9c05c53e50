/**
 * Draws sentences that users read, to be judged one by one: `node dist/test/support/words/draw.js [seed]
 * [count]`. A seed draws the same sentences again from the same texts.
 */
import { userTexts, type TextSource, type UserText } from './user-texts.ts'

/** Of a hundred sentences, by source: what people read most is drawn most. */
const SHARES: Readonly<Record<TextSource, number>> = {
  failures: 8,
  messages: 17,
  api: 20,
  cli: 13,
  settings: 4,
  metrics: 4,
  dashboard: 14,
  pages: 20,
}
const COUNT = 200
/** Samples, patterns and lists of names, which no sentence contains. */
const CODE =
  /=>|\(\?:|<\/|\\b|\bDESC\b|\bconst \w+ =|\bfunction \w+\(|\blocal -|\bthrow new\b|\bset is|-serif\b|^[\w.-]+_[\w.-]+ [\w.-]+_/

const FIGURE = /^[-–\d.,()%×≤<> ]+$|^(?:met|missed|not judged)$/

const seed = Number(process.argv[2] ?? Date.now() % 1_000_000)
const count = Number(process.argv[3] ?? COUNT)
const random = mulberry32(seed)
process.stdout.write(`seed ${seed}\n`)
const all = sentencesOf(userTexts())
let nth = 0
for (const [source, share] of Object.entries(SHARES)) {
  const pool = all.filter((text) => text.source === source)
  for (let left = Math.round((count * share) / 100); left > 0 && pool.length > 0; left--) {
    const [{ place, text } = { place: '', text: '' }] = pool.splice(Math.floor(random() * pool.length), 1)
    process.stdout.write(`${++nth}. [${source}] ${text} (${place})\n`)
  }
}

/** Each sentence once; what has fewer than three words is a name. */
function sentencesOf(texts: readonly UserText[]): UserText[] {
  const known = new Set<string>()
  return texts.flatMap((whole) =>
    whole.text
      .replace(/\s+/g, ' ')
      .split(/(?<=[.!?])\s+(?=[\p{Lu}`…])/u)
      .filter((text) => text.trim().split(' ').length >= 3 && !CODE.test(text) && !isRowOfFigures(text))
      .filter((text) => !known.has(text) && known.add(text))
      .map((text) => ({ ...whole, text })),
  )
}

/** A row of a table of measured figures is not a sentence. */
function isRowOfFigures(text: string): boolean {
  const cells = text.split('|').filter((cell) => cell.trim() !== '')
  return text.startsWith('|') && cells.filter((cell) => FIGURE.test(cell.trim())).length * 2 >= cells.length
}

function mulberry32(from: number): () => number {
  let state = from >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
