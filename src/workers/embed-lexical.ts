import type { ShortJobTypes } from '../server/ports/short-jobs.ts'
import { writeData } from './vectors.ts'

type Lexical = ShortJobTypes['embed_lexical']

/** How much a kind of feature says: words most, parts of words least, since a text has many more of them. */
const WORD = { seed: 0x811c9dc5, weight: 1 }
const BIGRAM = { seed: 0x9e3779b9, weight: 0.7 }
const GRAM = { seed: 0x85ebca6b, weight: 0.35 }
const GRAM_CHARS_MIN = 3
const GRAM_CHARS_MAX = 5

/** Decimals of a written number: enough for float32 of a unit vector, and half as long as its full expansion. */
const PRECISION = 1e7

/**
 * Vectors of `sluice/lexical-1`: signed feature hashing of words, pairs of words and parts of words, each weighed
 * by 1 + ln(count), scaled to length 1. Texts come out close when they share wording; it knows nothing of meaning.
 * The same text gives the same vector on every machine.
 */
export function embedLexical({ texts, dimensions, encoding }: Lexical['in']): Lexical['out'] {
  const parsed =
    texts instanceof Uint8Array
      ? (JSON.parse(new TextDecoder().decode(texts)) as string | readonly string[])
      : texts
  const list = typeof parsed === 'string' ? [parsed] : parsed
  let tokens = 0
  const vectors = list.map((text) => {
    const words = wordsOf(text)
    tokens += words.length
    return vectorOf(countFeatures(words), dimensions)
  })
  return { data: writeData(vectors, encoding), count: vectors.length, tokens }
}

/** Words in lower case; a text without any (punctuation alone) is one word. */
function wordsOf(text: string): readonly string[] {
  const normal = text.normalize('NFKC').toLowerCase()
  return normal.match(/[\p{L}\p{M}\p{N}]+/gu) ?? [normal]
}

/** Weights of the features by hash. */
function countFeatures(words: readonly string[]): ReadonlyMap<number, number> {
  const counts = new Map<number, number>()
  const weights = new Map<number, number>()
  const add = (hash: number, weight: number): void => {
    const count = (counts.get(hash) ?? 0) + 1
    counts.set(hash, count)
    weights.set(hash, weight * (1 + Math.log(count)))
  }
  let before = ''
  for (const word of words) {
    add(hashOf(word, WORD.seed), WORD.weight)
    if (before !== '') add(hashOf(`${before} ${word}`, BIGRAM.seed), BIGRAM.weight)
    before = word
    const padded = ` ${word} `
    for (let size = GRAM_CHARS_MIN; size <= GRAM_CHARS_MAX; size++) {
      for (let at = 0; at + size <= padded.length; at++)
        add(hashOf(padded.slice(at, at + size), GRAM.seed), GRAM.weight)
    }
  }
  return weights
}

function vectorOf(weights: ReadonlyMap<number, number>, dimensions: number): readonly number[] {
  const vector = new Array<number>(dimensions).fill(0)
  for (const [hash, weight] of weights) {
    const at = (hash >>> 1) % dimensions
    vector[at] = (vector[at] ?? 0) + ((hash & 1) === 0 ? weight : -weight)
  }
  const length = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0))
  // Features of opposite sign may cancel each other in very few dimensions; a vector of zeros has no direction.
  if (length === 0) vector[0] = 1
  return vector.map((value) => Math.round((value / (length || 1)) * PRECISION) / PRECISION)
}

/** FNV-1a over UTF-16 units, with a last mix so that the low bits are as good as the high ones. */
function hashOf(text: string, seed: number): number {
  let hash = seed
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}
