/** The lean HTTP client next to undici: it accepts only responses that undici reads in the same way. */
import type { Program, Proof } from '../proof.ts'
import { randomFrom } from '../../support/embeddings/random-answers.ts'
import { readByLean, readByUndici, type Understood } from '../../support/egress/http-clients.ts'
import { Faults } from '../inference/streams/faults.ts'
import { piecesOf } from '../inference/streams/mutations.ts'
import { mutatedResponse, RESPONSES } from './http-client/responses.ts'

const CASES = { full: 1_000_000, short: 1_500 }
const SAID_EACHOnce = 100_000
/** Cases after which other work of the process gets its turn. */
const TURN_CASES = 100

export const program: Program = {
  text: 'mutated and cut responses: what the lean HTTP client takes, undici takes with the same bytes',
  async run(proof) {
    const random = randomFrom(proof.seed)
    const [wrong, torn] = [new Faults(), new Faults()]
    const count = proof.isShort ? CASES.short : CASES.full
    const seen = { whole: 0, onlyUndici: 0 }
    for (let nth = 1; nth <= count; nth++) {
      const base = RESPONSES[proof.random(RESPONSES.length)] ?? Buffer.alloc(0)
      const response = nth <= RESPONSES.length ? (RESPONSES[nth - 1] ?? base) : mutatedResponse(random, base)
      await one(response, { random, wrong, torn, seen })
      if (nth % SAID_EACHOnce === 0) proof.say(`${nth.toLocaleString('en')} responses`)
      if (nth % TURN_CASES === 0) await new Promise((resolve) => setImmediate(resolve))
    }
    found(proof, { count, wrong, torn, seen })
  },
}

interface Run {
  readonly random: () => number
  readonly wrong: Faults
  readonly torn: Faults
  readonly seen: { whole: number; onlyUndici: number }
}

async function one(response: Buffer, { random, wrong, torn, seen }: Run): Promise<void> {
  const lean = readByLean([response]).understood
  // Handlers that pause at random read the same.
  const cut = readByLean(piecesOf(random, response), () => random() < 0.2).understood
  if (textOf(lean) !== textOf(cut)) torn.add(response.toString('latin1'))
  const undici = (await readByUndici(response)).understood
  if (lean.isWhole) {
    seen.whole++
    if (textOf(lean) !== textOf(undici) && !isOmittedBody(lean)) wrong.add(response.toString('latin1'))
  } else if (undici.isWhole) seen.onlyUndici++
}

/** undici takes the omitted body of a 304 for an interrupted one; handlers forgive it. */
function isOmittedBody({ status, body }: Understood): boolean {
  return status === 304 && body === ''
}

/** Of a response that is not whole nothing counts. */
function textOf(understood: Understood): string {
  return understood.isWhole ? JSON.stringify(understood) : 'broken'
}

function found(proof: Proof, { count, wrong, torn, seen }: Omit<Run, 'random'> & { count: number }): void {
  proof.check('what the lean client takes, undici takes as the same', wrong.isNone, wrong.reported(count))
  proof.check('cut into reads and paused, a response is the same', torn.isNone, torn.reported(count))
  const shares = `${seen.whole} were whole; ${seen.onlyUndici} were so for undici alone`
  proof.check('responses of both kinds were tried', seen.whole > 0 && seen.whole < count, shares)
}
