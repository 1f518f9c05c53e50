import { ok } from '../../../../schemas/failures.ts'
import { OriginalCalls } from '../../../../dialects/original-calls.ts'
import { PART_PROTOCOLS } from '../../../../dialects/part-protocols.ts'
import type { WholeParts, WholeRead, WholeAsked } from '../../../../dialects/parts.ts'

/** A whole answer in the internal form. D5. */
export function wholeParts({
  protocol,
  answer,
  signatureFormat: format,
  tier,
  origins,
}: WholeAsked): WholeRead<WholeParts> {
  const body = Buffer.from(answer.buffer, answer.byteOffset, answer.length)
  const read = PART_PROTOCOLS[protocol].whole(body, { format, tier })
  if (!read.ok || origins.length === 0) return read
  return ok({ ...read.value, parts: new OriginalCalls(origins).of(read.value.parts) })
}
