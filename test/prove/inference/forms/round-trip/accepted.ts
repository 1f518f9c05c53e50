/** Conversations of each dialect at endpoints of each other protocol that refuse what its maker refuses. */
import { translateRequest } from '../../../../../src/dialects/translate.ts'
import type { Dialect } from '../../../../../src/schemas/inference/text-request.ts'
import type { Body } from '../../../../support/inference/bodies/body-values.ts'
import { VALID_BODIES } from '../../../../support/inference/bodies/valid-bodies.ts'
import { TRANSLATED_PAIRS } from '../../../../support/inference/forms-facts.ts'
import type { Proof } from '../../../proof.ts'
import { Faults } from '../../streams/faults.ts'
import { inBatches, shown } from './batches.ts'
import { isThere, TARGETS, termsFor, without } from './targets.ts'
import type { TextProtocol } from '../../../../../src/schemas/models/protocols.ts'

const FULL = 50_000
const SHORT = 120

export function accepted(proof: Proof): void {
  const count = proof.isShort ? SHORT : FULL
  for (const [dialect, protocol] of TRANSLATED_PAIRS) {
    const tried = new Tried(dialect, protocol)
    inBatches(proof, VALID_BODIES[dialect], count, (body) => tried.send(proof, body))
    proof.check(
      `${dialect} at ${protocol}: a strict endpoint takes each conversation, where need be without members that are refused`,
      tried.faults.isNone,
      `${tried.faults.reported(count)}, ${tried.refused.toLocaleString('en')} refusals with paths`,
    )
  }
}

/** What became of the conversations of a pair. */
class Tried {
  readonly faults = new Faults()
  refused = 0
  readonly #dialect: Dialect
  readonly #protocol: TextProtocol

  constructor(dialect: Dialect, protocol: TextProtocol) {
    this.#dialect = dialect
    this.#protocol = protocol
  }

  send(proof: Pick<Proof, 'random'>, body: Body): void {
    const terms = termsFor(this.#protocol, (below) => proof.random(below))
    const bytes = new TextEncoder().encode(JSON.stringify(body))
    const read = translateRequest({ dialect: this.#dialect, protocol: this.#protocol, body: bytes, terms })
    if (!read.ok) {
      const stray = read.issues.find(({ path }) => !isThere(body, path))
      if (stray !== undefined) return this.faults.add(`no ${stray.path}: ${shown(body)}`)
      this.refused++
      const paths = read.issues.map(({ path }) => path)
      return this.send(
        proof,
        paths.reduce((left, path) => without(left, path), body),
      )
    }
    // The content of an address is fetched, and written in its place.
    const fetched = read.urls?.map(({ path }) => path) ?? []
    if (fetched.length > 0)
      return this.send(
        proof,
        fetched.reduce((left, path) => without(left, path), body),
      )
    const sent = JSON.parse(new TextDecoder().decode(read.body)) as Body
    const wrong = TARGETS[this.#protocol].wrongOf(sent, terms.upstreamModel)
    if (wrong !== null) this.faults.add(`${wrong} ${shown(body)} as ${shown(sent)}`)
  }
}
