/** Requests of each form reach providers of each other form as these take them, and nothing is lost. */
import { DIALECTS } from '../../../../src/schemas/inference/text-request.ts'
import { bodiesOfMany, resultsOfMany } from '../../../support/inference/bodies/many-parts.ts'
import { translated } from '../../../support/inference/bodies/translated.ts'
import type { Program, Proof } from '../../proof.ts'
import { accepted } from './round-trip/accepted.ts'
import { identity } from './round-trip/identity.ts'
import { sent } from './round-trip/sent.ts'
import { TEXT_PROTOCOLS } from '../../../../src/schemas/models/protocols.ts'

/** Parts of one turn. */
const MANY = 200_000
const MANY_MS_MAX = 60_000

export const program: Program = {
  text: 'generated conversations are taken by strict endpoints of each other form, and read as the same in their own',
  async run(proof) {
    identity(proof)
    accepted(proof)
    await sent(proof)
    if (!proof.isShort) many(proof)
  },
}

/** Work that grows with the square of the parts would take hours. */
function many(proof: Proof): void {
  const bodies = bodiesOfMany(MANY)
  const startedAt = performance.now()
  for (const dialect of DIALECTS)
    for (const body of bodies[dialect])
      for (const protocol of TEXT_PROTOCOLS) translated([dialect, protocol], body)
  for (const messages of resultsOfMany(MANY))
    translated(['chat', 'gemini'], { messages }, { upstreamModel: 'gemini-3.1-pro' })
  const took = performance.now() - startedAt
  proof.checkTimed(
    `${MANY.toLocaleString('en')} parts of one turn are translated to each protocol`,
    took < MANY_MS_MAX,
    `${Math.round(took).toLocaleString('en')} ms`,
  )
}
