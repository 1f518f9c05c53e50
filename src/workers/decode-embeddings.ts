import { SCANNED_INLINE_BYTES_MAX } from '../schemas/models/provider-limits.ts'
import type { ShortJobTypes } from '../server/ports/short-jobs.ts'
import { COMMA, OPEN_LIST, OPEN_OBJECT, QUOTE } from '../schemas/values/json-bytes.ts'
import { isObject, membersOf } from '../schemas/values/members.ts'
import { takeAnswer } from './scan-answer.ts'
import { readVector, writeData } from './vectors.ts'
import { MIB } from '../schemas/limits/limits.ts'

/** Numbers in an answer that may be parsed: as many as fit into the heap of a thread. Decision. */
export const PARSED_NUMBERS_MAX = 8 * MIB
/** Objects, lists and quotes in an answer that may be parsed: as many as fit into the heap of a thread. Decision. */
export const PARSED_MARKS_MAX = MIB

type Decoding = ShortJobTypes['decode_embeddings']

/** The parsed content of a protocol's answer; the figures are not checked yet. */
interface Reading {
  readonly vectors: readonly unknown[]
  readonly promptTokens: unknown
  readonly totalTokens: unknown
}

/** Parses a provider's answer, checks every vector, and writes the answer in OpenAI's form and the requested encoding. */
export function decodeEmbeddings(job: Decoding['in']): Decoding['out'] {
  const { protocol, answer, encoding, count } = job
  const taken = scanned(job)
  if (taken !== null) return taken
  if (!isParsable(answer)) return INVALID
  const parsed = parse(answer)
  const reading = isObject(parsed) ? READERS[protocol](parsed) : null
  if (reading === null) return INVALID
  if (count === 0 || reading.vectors.length !== count) return { ok: false, isMiscounted: true }
  if (numbersIn(reading.vectors) > PARSED_NUMBERS_MAX) return INVALID
  const vectors: (readonly number[])[] = []
  for (const value of reading.vectors) {
    const vector = readVector(value)
    if (vector === null) return INVALID
    vectors.push(vector)
  }
  return {
    ok: true,
    data: writeData(vectors, encoding),
    promptTokens: numberOf(reading.promptTokens),
    totalTokens: numberOf(reading.totalTokens),
  }
}

const INVALID = { ok: false, isMiscounted: false } as const

/** Takes over the vectors in the provider's own text. Smaller answers were scanned on the loop before. */
function scanned({ protocol, answer, encoding, count }: Decoding['in']): Decoding['out'] | null {
  if (protocol !== 'openai' || answer.length <= SCANNED_INLINE_BYTES_MAX) return null
  const taken = takeAnswer({ answer, encoding, count })
  if (taken === null) return null
  const { start, end, promptTokens, totalTokens } = taken
  return { ok: true, data: answer.subarray(start, end), promptTokens, totalTokens }
}

/** Two bytes of JSON may take a hundred bytes of heap, and a thread whose heap is full may end the process. */
function isParsable(answer: Uint8Array): boolean {
  if (answer.length <= PARSED_MARKS_MAX) return true
  let commas = 0
  let marks = 0
  for (const byte of answer) {
    if (byte === COMMA) commas++
    else if (byte === QUOTE || byte === OPEN_LIST || byte === OPEN_OBJECT) marks++
  }
  return commas <= PARSED_NUMBERS_MAX && marks <= PARSED_MARKS_MAX
}

/** Counts the numbers; base64 of float32 counts as the most that its text can contain. */
function numbersIn(vectors: readonly unknown[]): number {
  let numbers = 0
  for (const vector of vectors) {
    if (typeof vector === 'string') numbers += Math.floor(vector.length / BASE64_CHARS_PER_FLOAT32)
    else if (Array.isArray(vector)) numbers += vector.length
  }
  return numbers
}

const BASE64_CHARS_PER_FLOAT32 = 16 / 3

const READERS: Readonly<
  Record<Decoding['in']['protocol'], (answer: Record<string, unknown>) => Reading | null>
> = {
  openai(answer) {
    const items = answer['data']
    if (!Array.isArray(items) || !items.every(isObject)) return null
    const usage = membersOf(answer['usage'])
    return {
      vectors: inOrder(items).map((item) => item['embedding']),
      promptTokens: usage['prompt_tokens'],
      totalTokens: usage['total_tokens'],
    }
  },
  cohere(answer) {
    const vectors = membersOf(answer['embeddings'])['float']
    if (!Array.isArray(vectors)) return null
    const billed = membersOf(membersOf(answer['meta'])['billed_units'])
    const tokens = sum(numberOf(billed['input_tokens']), numberOf(billed['image_tokens']))
    return { vectors, promptTokens: tokens, totalTokens: tokens }
  },
  google(answer) {
    const items = answer['embeddings']
    if (!Array.isArray(items) || !items.every(isObject)) return null
    const usage = membersOf(answer['usageMetadata'])
    const totalTokens = usage['totalTokenCount'] ?? usage['promptTokenCount']
    return {
      vectors: items.map((item) => item['values']),
      promptTokens: usage['promptTokenCount'],
      totalTokens,
    }
  },
}

/** Sorts by `index` when the indexes are those of a list; otherwise keeps the given order. */
function inOrder(items: readonly Record<string, unknown>[]): readonly Record<string, unknown>[] {
  const ordered: Record<string, unknown>[] = []
  for (const item of items) {
    const index = item['index']
    if (typeof index !== 'number' || !(index in items) || index in ordered) return items
    ordered[index] = item
  }
  return ordered
}

function parse(answer: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(answer)) as unknown
  } catch {
    return undefined
  }
}

function numberOf(value: unknown): number | null {
  return typeof value === 'number' ? value : null
}

function sum(a: number | null, b: number | null): number | null {
  return a === null ? b : a + (b ?? 0)
}
