/** Streams of random length, left and lied about, until the tightest of six limits refuses: nothing is exceeded. */
import { pause } from '../../support/nodes/spawned.ts'
import { until } from '../../support/wait.ts'
import { overspent, tighten, TURNS, type Turn } from '../money/spend/tight-limits.ts'
import { checkLedger } from '../check-ledger.ts'
import type { Program, Proof } from '../proof.ts'
import { checkCosts } from './cost-oracle.ts'
import { rowsOf, type BookedRow } from './paced/booked.ts'
import type { PacedCall } from './paced/callers.ts'
import { spendStreams } from './paced/spenders.ts'
import { PACED_MODEL, startPacedStand, type PacedStand } from './paced/stand.ts'

const FULL = { fronts: 4, rounds: 20, callers: 200, restUsd: 0.2, usages: 100_000 }
const SHORT = { fronts: 2, rounds: TURNS.length, callers: 14, restUsd: 0.006, usages: 2_000 }
const WORD_MS = 5
/** Days from a turn to the same one of the next cycle: whole weeks, and more than a cycle has. */
const CYCLE_DAYS = 56
const DAY_MS = 86_400_000
const LOOK_MS = 25
/** The answer to a call that has no answer about its money in a second. */
const LATE = 'store_unavailable'

export const program: Program = {
  text: 'streams of random length, left and lied about, on 4 fronts against six limits: none is exceeded, each call is booked once',
  async run(proof) {
    const size = proof.isShort ? SHORT : FULL
    checkCosts(proof, size.usages)
    const stand = await startPacedStand(proof, { fronts: size.fronts, wordMs: WORD_MS })
    const { key, hash } = await stand.makeKey(stand.stand.keys.workspace_id)
    for (let nth = 0; nth < size.rounds; nth++) await race({ proof, stand, size, key, hash, nth })
    const returnedMs = await stand.untilReturned()
    proof.check('all that was lent comes back', returnedMs !== null, `${returnedMs?.toFixed(0)} ms`)
    await checkLedger(proof, stand.stand)
  },
}

interface Round {
  readonly proof: Proof
  readonly stand: PacedStand
  readonly size: typeof FULL
  readonly key: string
  readonly hash: string
  readonly nth: number
}

async function race({ proof, stand, size, key, hash, nth }: Round): Promise<void> {
  const turn = turnOf(nth)
  const name = `round ${nth + 1}, ${turn.name}`
  await tighten({ bench: stand, hash, turn, restUsd: size.restUsd })
  const watch = watchLimits(stand, turn.day)
  const calls = await spendStreams({
    port: stand.stand.port,
    model: PACED_MODEL,
    key,
    callers: size.callers,
    name: `money-${proof.seed}-${nth}`,
    random: (below) => proof.random(below),
  })
  const admitted = calls.filter(({ status }) => status === 200)
  const rows = await settledRows(stand, calls, admitted)
  const { samples, above } = await watch.end()
  const ends = ['whole', 'left', 'broken'].map(
    (end) => `${admitted.filter((one) => one.end === end).length} ${end}`,
  )
  proof.check(
    `${name}: spent and lent never exceed a limit`,
    above.length === 0,
    `${samples} samples; ${above.slice(0, 3).join(', ')}`,
  )
  const expected = [0, 200, turn.name === 'credit' ? 402 : 403]
  const others = calls.filter(({ status, refusal }) => !expected.includes(status) && refusal !== LATE)
  proof.check(
    `${name}: callers are admitted or refused, and no stream breaks`,
    admitted.length > 0 && others.length === 0 && admitted.every(({ end }) => end !== 'broken'),
    `${admitted.length} admitted (${ends.join(', ')}) of ${calls.length}; others: ${others.map(({ status, refusal }) => `${status} ${refusal}`).join(' ')}`,
  )
  const late = calls.filter(({ refusal }) => refusal === LATE).length
  proof.checkTimed(`${name}: each call has an answer about its money in time`, late === 0, `${late} late`)
  const wrong = calls.flatMap((call) => wrongOf(call, rows.get(call.id) ?? []) ?? [])
  proof.check(
    `${name}: each call has one settled row, with the cost that its caller was told`,
    wrong.length === 0,
    `${wrong.length} wrong ${wrong.slice(0, 3).join('; ')}`,
  )
}

/** The turns again and again, on later days. */
function turnOf(nth: number): Turn {
  const turn = TURNS[nth % TURNS.length]
  if (turn === undefined) throw new Error('there are no turns')
  const cycle = Math.floor(nth / TURNS.length)
  const day = new Date(Date.parse(turn.day) + cycle * CYCLE_DAYS * DAY_MS).toISOString().slice(0, 10)
  return { ...turn, day }
}

function watchLimits(
  stand: PacedStand,
  day: string,
): { end(): Promise<{ samples: number; above: readonly string[] }> } {
  const above: string[] = []
  let [samples, isEnded] = [0, false]
  const look = async (): Promise<void> => {
    for (; !isEnded; samples++) {
      above.push(...(await overspent(stand, day)))
      await pause(LOOK_MS)
    }
  }
  const looking = look()
  return {
    async end() {
      isEnded = true
      await looking
      return { samples, above }
    },
  }
}

/** The rows of calls by their ids, once every call that was admitted has one. */
async function settledRows(
  stand: PacedStand,
  calls: readonly PacedCall[],
  admitted: readonly PacedCall[],
): ReturnType<typeof rowsOf> {
  let rows = await rowsOf(stand, calls)
  await until('every admitted call has a row', async () => {
    rows = await rowsOf(stand, calls)
    return admitted.every(({ id }) => rows.has(id))
  })
  return rows
}

const NANO_PER_USD = 1e9

/** Null: the rows are as they have to be. */
function wrongOf({ id, status, end, cost }: PacedCall, rows: readonly BookedRow[]): string | null {
  const settled = rows.filter(({ kind }) => kind === 'usage' || kind === 'estimated')
  const others = rows.filter(({ kind }) => kind !== 'usage' && kind !== 'estimated' && kind !== 'overrun')
  // Of a caller who left before the head it is not known whether the call was sent.
  const isMade = status === 200
  const least = isMade ? 1 : 0
  const most = isMade || status === 0 ? 1 : 0
  if (others.length > 0 || settled.length < least || settled.length > most)
    return `${id} (${status}, ${end}): ${JSON.stringify(rows)}`
  const [row] = settled
  if (end !== 'whole' || row === undefined) return null
  const reported = Math.round(cost * NANO_PER_USD)
  return reported === row.nano ? null : `${id} is told ${reported}, and booked ${row.nano}`
}
