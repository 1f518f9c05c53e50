import { scanAnswer, type Span } from '../../src/server/upstream/scan.ts'
import type { RandomAnswer } from './random-answers.ts'

/** Compares the scan of one answer with JSON.parse: null when they agree, else what is wrong. */
export function disagreement({ text, oddity }: RandomAnswer): string | null {
  const bytes = Buffer.from(text)
  const spans = scanAnswer(bytes)
  if (oddity !== null) return spans === null ? null : `took an answer with ${oddity}`
  if (spans === null) return 'left a plain answer to the parser'
  const parsed = JSON.parse(text) as {
    data: readonly { embedding: unknown }[]
    model?: unknown
    usage?: unknown
    id?: unknown
  }
  for (const name of ['data', 'model', 'usage', 'id'] as const) {
    if (!isSame(bytes, spans[name], parsed[name])) return `wrong span of ${name}`
  }
  if (spans.count !== parsed.data.length) return 'wrong count'
  return (typeof parsed.data[0]?.embedding === 'string') === (spans.encoding === 'base64')
    ? null
    : 'wrong encoding'
}

function isSame(bytes: Buffer, span: Span | null, expected: unknown): boolean {
  if (span === null) return expected === undefined
  return JSON.stringify(JSON.parse(bytes.toString('utf8', span.start, span.end))) === JSON.stringify(expected)
}
