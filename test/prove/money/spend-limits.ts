/** All limits at once, each in turn the tightest, and each refusal names the one that was hit. */
import { Spenders } from './spend/spenders.ts'
import { STAND_MODEL, startSpendStand, type SpendStand } from './spend/spend-stand.ts'
import { overspent, tighten, TURNS, type Turn } from './spend/tight-limits.ts'
import { checkLedger } from '../check-ledger.ts'
import { tally, type Program, type Proof } from '../proof.ts'

/** USD that the tightest limit leaves, and by how much each wider one leaves more. */
const REST_USD = { full: 2, short: 0.02 }
const CALLERS = { full: 400, short: 20 }

export const program: Program = {
  text: 'Four budgets, a key limit and credit at once, each in turn the tightest: refusals name it, nothing is exceeded',
  async run(proof) {
    const bench = await startSpendStand(proof, { fronts: proof.isShort ? 2 : 4 })
    const { key, hash } = await bench.makeKey(bench.stand.keys.workspace_id)
    for (const turn of TURNS) await take({ proof, bench, key, hash, turn })
    await checkLedger(proof, bench.stand)
  },
}

interface Part {
  readonly proof: Proof
  readonly bench: SpendStand
  readonly key: string
  readonly hash: string
  readonly turn: Turn
}

async function take({ proof, bench, key, hash, turn }: Part): Promise<void> {
  await tighten({ bench, hash, turn, restUsd: proof.isShort ? REST_USD.short : REST_USD.full })
  const callers = proof.isShort ? CALLERS.short : CALLERS.full
  const spenders = new Spenders({
    port: bench.stand.port,
    keys: [key],
    model: STAND_MODEL,
    callers,
    random: (below) => proof.random(below),
  })
  await spenders.run()
  // Money that lies idle comes back after ten seconds, six times over; of another day it comes at once.
  const isWaitedFor = !proof.isShort || turn === TURNS.at(-1)
  const returnedMs = isWaitedFor ? await bench.untilReturned() : null
  spenders.close()
  const wrong = spenders.refusals.filter(({ metadata }) =>
    Object.entries(turn.expected).some(([name, value]) => metadata[name] !== value),
  )
  proof.check(
    `${turn.name}: every refusal names it`,
    spenders.refusals.length > 0 && wrong.length === 0,
    `${spenders.refusals.length} refusals, ${wrong.length} wrong; ${JSON.stringify((wrong[0] ?? spenders.refusals[0])?.metadata)}; ${tally(spenders.statuses)}`,
  )
  const status = turn.name === 'credit' ? 402 : 403
  proof.check(
    `${turn.name}: refusals are ${status}`,
    spenders.refusals.every((answer) => answer.status === status),
    tally(spenders.statuses),
  )
  const above = await overspent(bench, turn.day)
  proof.check(
    `${turn.name}: nothing is exceeded`,
    above.length === 0,
    above.length === 0 ? 'no window above its limit' : above.join(', '),
  )
  if (isWaitedFor)
    proof.check(
      `${turn.name}: all that was lent comes back`,
      returnedMs !== null,
      returnedMs === null ? 'not all' : `after ${(returnedMs / 1000).toFixed(1)} s`,
    )
}
