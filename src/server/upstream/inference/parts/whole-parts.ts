import type { ShortJobTypes } from '../../../ports/short-jobs.ts'
import { OriginalCalls } from './original-calls.ts'
import { PART_PROTOCOLS } from './part-protocols.ts'

type Job = ShortJobTypes['whole_parts']

/** A whole answer in the internal form, as a short job. D5. */
export function wholeParts({ protocol, answer, signatureFormat, origins }: Job['in']): Job['out'] {
  const body = Buffer.from(answer.buffer, answer.byteOffset, answer.length)
  const read = PART_PROTOCOLS[protocol].whole(body, signatureFormat)
  if (read === null || origins.length === 0) return read
  return { ...read, parts: new OriginalCalls(origins).of(read.parts) }
}
