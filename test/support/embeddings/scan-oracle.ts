import { isDeepStrictEqual } from 'node:util'
import type { Span } from '../../../src/schemas/values/json-bytes.ts'
import { scanAnswer, takeAnswer } from '../../../src/workers/scan-answer.ts'
import type { RandomAnswer } from './random-answers.ts'
import { inScanMemory } from './vector-texts.ts'

interface Parsed {
  readonly data: readonly { readonly object: unknown; readonly index: unknown; readonly embedding: unknown }[]
  readonly usage?: unknown
}

/**
 * Compares the scan of one answer with JSON.parse: null when they agree, else what is wrong. What it takes, a
 * strict parser takes too and reads the same; plain answers it has to take, odd ones it must not.
 */
export function disagreement({ bytes, oddity }: RandomAnswer): string | null {
  const spans = scanAnswer(bytes)
  const place = bytes.length % 64
  if (!isDeepStrictEqual(scanAnswer(inScanMemory(bytes, place)), spans))
    return 'reads its own memory otherwise'
  const mayTake = oddity === null || oddity === 'a mutation'
  if (!mayTake) return spans === null ? null : `took an answer with ${oddity}`
  if (spans === null) return oddity === null ? 'left a plain answer to the parser' : null
  const parsed = parse(bytes)
  if (parsed === null) return 'took what is no JSON'
  for (const name of ['data', 'usage'] as const) {
    if (!isSame(bytes, spans[name], parsed[name])) return `wrong span of ${name}`
  }
  if (spans.count !== parsed.data.length) return 'wrong count'
  const areItems = parsed.data.every(({ object, index }, at) => object === 'embedding' && index === at)
  if (!areItems) return 'took an item that is no embedding at its own place'
  const areVectors = parsed.data.every(({ embedding }) => isVector(embedding, spans.encoding))
  if (!areVectors) return 'took what is no vector'
  return takesMore(bytes, spans.count) ? 'took more vectors than were asked for' : null
}

function takesMore(answer: Buffer, count: number): boolean {
  const encodings = ['float', 'base64'] as const
  return encodings.some((encoding) => takeAnswer({ answer, encoding, count: count - 1 }) !== null)
}

function parse(bytes: Buffer): Parsed | null {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)) as Parsed
  } catch {
    return null
  }
}

function isVector(embedding: unknown, encoding: string): boolean {
  if (encoding === 'float')
    return Array.isArray(embedding) && embedding.every(Number.isFinite) && embedding.length > 0
  const floats = typeof embedding === 'string' ? Buffer.from(embedding, 'base64') : Buffer.alloc(0)
  return floats.length > 0 && floats.length % 4 === 0 && floats.toString('base64') === embedding
}

function isSame(bytes: Buffer, span: Span | null, expected: unknown): boolean {
  if (span === null) return expected === undefined
  return JSON.stringify(JSON.parse(bytes.toString('utf8', span.start, span.end))) === JSON.stringify(expected)
}
