/** A share of the conversations over sockets, through a front. */
import fc from 'fast-check'
import { AUTHORIZATION } from '../../../../support/front.ts'
import { DIALECT_PATHS, MAKERS, TRANSLATED_PAIRS } from '../../../../support/inference/forms-facts.ts'
import { VALID_BODIES } from '../../../../support/inference/bodies/valid-bodies.ts'
import type { Proof } from '../../../proof.ts'
import { Faults, together } from '../../streams/faults.ts'
import { openStand } from '../../streams/stream-stand.ts'
import { shown } from './batches.ts'
import { strictAnswers, TARGETS } from './targets.ts'
import { TEXT_PROTOCOLS } from '../../../../../src/schemas/models/protocols.ts'

/** Conversations of each pair. */
const FULL = 100
const SHORT = 4
const AT_ONCE = 4
/** Addresses in the conversations have no server. */
const STOPPED = /"error_type":"(?:field_unsupported|media_unavailable)"/

export async function sent(proof: Proof): Promise<void> {
  const count = proof.isShort ? SHORT : FULL
  const faults = new Faults()
  let answered = 0
  for (const protocol of TEXT_PROTOCOLS) {
    const [upstream_model] = TARGETS[protocol].models
    const stand = await openStand({
      firstProvider: { protocol: MAKERS[protocol], strict: true },
      firstFacts: { speaks: [protocol], upstream_model },
    })
    stand.first.usually(strictAnswers(protocol))
    const calls = TRANSLATED_PAIRS.filter((pair) => pair[1] === protocol).flatMap(([dialect]) =>
      fc
        .sample(VALID_BODIES[dialect], { numRuns: count, seed: proof.random(2 ** 31) })
        .map((body) => ({ dialect, body })),
    )
    await together(calls, AT_ONCE, async ({ dialect, body }) => {
      const response = await fetch(`${stand.url}/api/v1${DIALECT_PATHS[dialect]}`, {
        method: 'POST',
        headers: { authorization: AUTHORIZATION, 'content-type': 'application/json' },
        body: JSON.stringify({ ...body, model: 'acme/one' }),
      })
      const text = await response.text()
      if (response.status === 200) answered++
      else if (!(response.status === 400 && STOPPED.test(text)))
        faults.add(`${dialect} at ${protocol}: ${response.status} ${text} ${shown(body)}`)
    })
    await stand.close()
  }
  proof.check(
    'over sockets: each conversation is answered, or 400 with the path of what cannot reach its provider',
    faults.isNone,
    `${faults.reported(count * TRANSLATED_PAIRS.length)}, ${answered} answered`,
  )
}
