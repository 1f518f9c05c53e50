import type { ShortJobTypes } from '../../../ports/short-jobs.ts'
import { PART_PROTOCOLS } from './part-protocols.ts'

type Job = ShortJobTypes['whole_parts']

/** A whole answer in the internal form, as a short job. D5. */
export function wholeParts({ protocol, answer, signatureFormat }: Job['in']): Job['out'] {
  return PART_PROTOCOLS[protocol].whole(
    Buffer.from(answer.buffer, answer.byteOffset, answer.length),
    signatureFormat,
  )
}
