/** Requests that are written in their own dialect, and read again. */
import type fc from 'fast-check'
import { DIALECTS, type Dialect } from '../../../../../src/schemas/inference/text-request.ts'
import type { Body } from '../../../../support/inference/bodies/body-values.ts'
import { chatBodies } from '../../../../support/inference/bodies/chat-bodies.ts'
import { messageBodies } from '../../../../support/inference/bodies/message-bodies.ts'
import { responseBodies } from '../../../../support/inference/bodies/response-bodies.ts'
import { roundTrip } from '../../../../support/inference/bodies/same-prompt.ts'
import type { Proof } from '../../../proof.ts'
import { Faults } from '../../streams/faults.ts'
import { inBatches, shown } from './batches.ts'

const BODIES: Readonly<Record<Dialect, fc.Arbitrary<Body>>> = {
  chat: chatBodies,
  responses: responseBodies,
  messages: messageBodies,
}
const FULL = 50_000
const SHORT = 150

export function identity(proof: Proof): void {
  const count = proof.isShort ? SHORT : FULL
  for (const dialect of DIALECTS) {
    const faults = new Faults()
    inBatches(proof, BODIES[dialect], count, (body) => {
      const { isSame, others } = roundTrip(dialect, body)
      if (!isSame || others.length > 0) faults.add(`${others.join()} ${shown(body)}`)
    })
    proof.check(
      `${dialect}: what is written in the caller's own dialect reads as the same prompt`,
      faults.isNone,
      faults.reported(count),
    )
  }
}
