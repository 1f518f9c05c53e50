import type { ShortJobTypes } from '../server/ports/short-jobs.ts'
import { writeData } from './vectors.ts'
import type { EmbeddingInput } from '../schemas/embeddings/embeddings.ts'
import { LEXICAL_TEXT_UNITS_MAX } from '../schemas/embeddings/embedding-limits.ts'
import { KIB } from '../schemas/limits/limits.ts'

type Lexical = ShortJobTypes['embed_lexical']

/** Weights of the kinds of features: words have the highest weight, parts of words the lowest, since a text has many more of them. */
const WORD = { seed: 0x811c9dc5, weight: 1 }
const BIGRAM = { seed: 0x9e3779b9, weight: 0.7 }
const GRAM = { seed: 0x85ebca6b, weight: 0.35 }
/** UTF-16 units of the shortest part of a word that counts. */
const GRAM_CHARS_MIN = 3
/** UTF-16 units of the longest part of a word that counts. */
const GRAM_CHARS_MAX = 5

/** Decimals of a written number: enough for float32 of a unit vector, and half as long as its full expansion. */
const PRECISION = 1e7

/**
 * Vectors of `sluice/lexical-1`: signed feature hashing of words, pairs of words and parts of words, each weighed by 1
 * + ln(count), scaled to length 1. Texts with common wording get similar vectors; the model does not know meaning. The
 * same text gives the same vector on every machine.
 */
export function embedLexical({ texts, dimensions, encoding, firstIndex }: Lexical['in']): Lexical['out'] {
  let tokens = 0
  const list = texts instanceof Uint8Array ? (JSON.parse(new TextDecoder().decode(texts)) as string[]) : texts
  const vectors = list.map((text) => {
    const words = wordsOf(text)
    tokens += words.length
    return vectorOf(countFeatures(words), dimensions)
  })
  return { data: writeData(vectors, encoding, firstIndex), tokens }
}

/** Words in lower case; a text without any (punctuation alone) is one word. */
function wordsOf(text: string): readonly string[] {
  const normal = text.normalize('NFKC').toLowerCase()
  return normal.match(/[\p{L}\p{M}\p{N}]+/gu) ?? [normal]
}

type Kind = typeof WORD | typeof BIGRAM | typeof GRAM
/** Occurrences of each feature of a kind, by its hash. */
type Counts = ReadonlyMap<Kind, Map<number, number>>

function countFeatures(texts: readonly string[]): Counts {
  const [words, bigrams, grams] = [
    new Map<number, number>(),
    new Map<number, number>(),
    new Map<number, number>(),
  ]
  let before = ''
  for (const word of texts) {
    count(words, mix(fold(word, WORD.seed)))
    if (before !== '') count(bigrams, mix(fold(`${before} ${word}`, BIGRAM.seed)))
    before = word
    countGrams(grams, ` ${word} `)
  }
  return new Map<Kind, Map<number, number>>([
    [WORD, words],
    [BIGRAM, bigrams],
    [GRAM, grams],
  ])
}

/** Computes each part's hash from that of the part that is one unit shorter: most of the time is spent in this loop. */
function countGrams(grams: Map<number, number>, padded: string): void {
  for (let from = 0; from + GRAM_CHARS_MIN <= padded.length; from++) {
    const end = Math.min(padded.length, from + GRAM_CHARS_MAX)
    let hash = GRAM.seed
    for (let at = from; at < end; at++) {
      hash = step(hash, padded.charCodeAt(at))
      if (at - from >= GRAM_CHARS_MIN - 1) count(grams, mix(hash))
    }
  }
}

function count(counts: Map<number, number>, hash: number): void {
  counts.set(hash, (counts.get(hash) ?? 0) + 1)
}

function vectorOf(counts: Counts, dimensions: number): readonly number[] {
  const vector = new Array<number>(dimensions).fill(0)
  for (const [{ weight }, features] of counts) {
    for (const [hash, times] of features) {
      const at = (hash >>> 1) % dimensions
      const weighed = weight * (1 + Math.log(times))
      vector[at] = (vector[at] ?? 0) + ((hash & 1) === 0 ? weighed : -weighed)
    }
  }
  const length = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0))
  // With very few dimensions, features of opposite sign may cancel each other; a vector of zeros has no direction.
  if (length === 0) vector[0] = 1
  return vector.map((value) => Math.round((value / (length || 1)) * PRECISION) / PRECISION)
}

/** FNV-1a over UTF-16 units. */
function fold(text: string, seed: number): number {
  let hash = seed
  for (let at = 0; at < text.length; at++) hash = step(hash, text.charCodeAt(at))
  return hash
}

function step(hash: number, unit: number): number {
  return Math.imul(hash ^ unit, 0x01000193)
}

/**
 * Mixes the bits, so that the low bits are as random as the high ones. The result is signed: lookups of 32-bit numbers
 * are faster than those of larger ones.
 */
function mix(hash: number): number {
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return hash ^ (hash >>> 16)
}

/**
 * Numbers that one job of `sluice/lexical-1` makes, in about 50 ms; a single text may need more. Decision.
 */
export const LEXICAL_SLICE_NUMBERS = 128 * KIB
/** UTF-16 units of the texts of one job of `sluice/lexical-1`; a single text may have more. Decision. */
export const LEXICAL_SLICE_UNITS = 32 * KIB

type Slicing = ShortJobTypes['slice_texts']

/** Cuts the texts of a call into slices that `embed_lexical` processes one by one; input given as bytes results in slices of bytes. */
export function sliceTexts({ input, dimensions }: Slicing['in']): Slicing['out'] {
  const isBytes = input instanceof Uint8Array
  const value = isBytes ? (JSON.parse(new TextDecoder().decode(input)) as EmbeddingInput) : input
  const texts: readonly (string | null)[] = typeof value === 'string' ? [value] : value.map(textOf)
  if (!isText(texts)) return { ok: false, longAt: null }
  const longAt = texts.findIndex((text) => text.length > LEXICAL_TEXT_UNITS_MAX)
  if (longAt !== -1) return { ok: false, longAt }
  const slices: { texts: readonly string[] | Uint8Array; count: number }[] = []
  for (let from = 0; from < texts.length;) {
    const slice = texts.slice(from, endOfSlice(texts, from, dimensions))
    from += slice.length
    slices.push({
      texts: isBytes ? new TextEncoder().encode(JSON.stringify(slice)) : slice,
      count: slice.length,
    })
  }
  return { ok: true, slices }
}

/** The parts of one input are one text; null for an input with other parts, or without text. */
function textOf(input: EmbeddingInput[number]): string | null {
  if (typeof input === 'string') return input
  if (typeof input === 'number' || !('content' in input)) return null
  const texts = input.content.map((part) => (part.type === 'text' ? part.text : null))
  return isText(texts) ? texts.join('\n') : null
}

function isText(texts: readonly (string | null)[]): texts is readonly string[] {
  return !texts.includes(null)
}

/** The end of a slice with as many texts as one job may process, at least one. */
function endOfSlice(texts: readonly string[], from: number, dimensions: number): number {
  const endMax = from + Math.max(1, Math.floor(LEXICAL_SLICE_NUMBERS / dimensions))
  let end = from
  let units = 0
  do units += texts[end++]?.length ?? 0
  while (end < Math.min(endMax, texts.length) && units + (texts[end]?.length ?? 0) <= LEXICAL_SLICE_UNITS)
  return end
}
