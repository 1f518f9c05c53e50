import { randomAnswer, randomFrom } from '../../support/embeddings/random-answers.ts'
import { disagreement } from '../../support/embeddings/scan-oracle.ts'
import type { Proof, Program } from '../proof.ts'

const ANSWERS = 400_000
const ANSWERS_SHORT = 200_000

export const program: Program = {
  text: 'The structural scan of answers agrees with a strict parser and leaves every odd one to it',
  run(proof: Proof): Promise<void> {
    const random = randomFrom(proof.seed)
    const answers = proof.isShort ? ANSWERS_SHORT : ANSWERS
    const startedAt = performance.now()
    let odd = 0
    let wrong = 0
    for (let nth = 0; nth < answers; nth++) {
      const answer = randomAnswer(random)
      if (answer.oddity !== null) odd++
      const problem = disagreement(answer)
      if (problem === null) continue
      wrong++
      if (wrong <= 10)
        proof.say(JSON.stringify({ nth, problem, text: answer.bytes.toString('latin1', 0, 2_000) }))
    }
    const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1)
    proof.check(
      'no wrong span, and a parser for every odd answer',
      wrong === 0,
      `${wrong} wrong of ${answers} answers (${odd} odd) in ${seconds} s`,
    )
    return Promise.resolve()
  },
}
