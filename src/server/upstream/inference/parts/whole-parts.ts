import type { ShortJobTypes } from '../../../ports/short-jobs.ts'
import type { WholeParts } from '../protocol.ts'
import { OriginalCalls } from './original-calls.ts'
import { PART_PROTOCOLS } from './part-protocols.ts'

type WholeInput = Pick<
  ShortJobTypes['translated_answer']['in'],
  'protocol' | 'answer' | 'signatureFormat' | 'origins'
>

/** A whole answer in the internal form; null: it is invalid. D5. */
export function wholeParts({ protocol, answer, signatureFormat, origins }: WholeInput): WholeParts | null {
  const body = Buffer.from(answer.buffer, answer.byteOffset, answer.length)
  const read = PART_PROTOCOLS[protocol].whole(body, signatureFormat)
  if (read === null || origins.length === 0) return read
  return { ...read, parts: new OriginalCalls(origins).of(read.parts) }
}
