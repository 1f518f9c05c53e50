/** The structural scan against JSON.parse over many random answers. Acceptance: 0 wrong spans. */
import { randomAnswer, randomFrom } from '../support/random-answers.ts'
import { disagreement } from '../support/scan-oracle.ts'

const ANSWERS = 400_000

const seed = Number(process.argv[2] ?? Math.floor(Math.random() * 2 ** 32))
const random = randomFrom(seed)
const startedAt = performance.now()
let odd = 0
let wrong = 0
for (let nth = 0; nth < ANSWERS; nth++) {
  const answer = randomAnswer(random)
  if (answer.oddity !== null) odd++
  const problem = disagreement(answer)
  if (problem === null) continue
  wrong++
  if (wrong <= 10) console.log(JSON.stringify({ nth, problem, text: answer.text.slice(0, 2000) }))
}
console.log(
  JSON.stringify({
    prove: 'scan',
    seed,
    answers: ANSWERS,
    plain: ANSWERS - odd,
    odd,
    wrong,
    ms: Math.round(performance.now() - startedAt),
  }),
)
process.exitCode = wrong === 0 ? 0 : 1
