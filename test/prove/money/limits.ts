/** A rate limit over two fronts holds, and is worth using. */
import { RATE_SLACK_MS } from '../../../src/schemas/limits/rate-limits.ts'
import { burstOf } from '../../../src/schemas/values/rate-burst.ts'
import { runLoad } from '../../support/load/load.ts'
import type { LoadResult, LoadRow } from '../../support/load/load-plan.ts'
import { startStand, type Stand } from '../../support/nodes/stand.ts'
import { tally, type Program, type Proof } from '../proof.ts'

const LIMIT_RPM = 600
/** Of the lone client in short: so little that a machine which does ten other things reaches it. */
const POLITE_SHORT_RPM = 60
const CONNECTIONS = 64
/** Of limit + burst. */
const ACCEPTED_MIN = 0.97
/**
 * Starts of the lone client until it was refused: a slow machine does not use the burst up at once.
 */
const POLITE_RUNS_MAX = 20

export const program: Program = {
  text: 'a limit of 600 a minute over two fronts and 64 connections, every interval against the bound; a client that waits',
  async run(proof) {
    const stand = await startStand({ settings: { SLUICE_FRONTS: '2' } })
    proof.after(() => stand.stop())
    await greedy(proof, stand, proof.isShort ? 3_000 : 60_000)
    await polite(proof, stand, proof.isShort ? 2_500 : 15_000)
  },
}

async function greedy(proof: Proof, stand: Stand, durationMs: number): Promise<void> {
  const result = await runLoad({
    host: '127.0.0.1',
    port: stand.port,
    connections: CONNECTIONS,
    durationMs,
    pace: { kind: 'closed' },
    requests: [stand.embeddings(await limitedKey(stand, 'greedy', LIMIT_RPM))],
    keepRows: { except: [429] },
  })
  const accepted = result.rows.filter((row) => row.status === 200)
  const burst = Math.floor(burstOf(LIMIT_RPM))
  const wanted = (LIMIT_RPM * durationMs) / 60_000 + burst
  const worst = worstInterval(accepted, burst)
  proof.say(`greedy: ${tally(result.statuses)} in ${durationMs} ms`)
  proof.check(
    'nothing but 200 and 429',
    Object.keys(result.statuses).every((status) => ['200', '429'].includes(status)),
    tally(result.statuses),
  )
  // A Redis that a busy machine makes late counts as away, and costs one burst at most.
  const wasAway = proof.isShort && stand.output().includes('redis_away')
  proof.check(
    'no interval admits more than limit × (W + 100 ms) + burst',
    worst.excess <= (wasAway ? burst : 0),
    `the worst of ${(accepted.length ** 2).toLocaleString('en')} intervals is ${worst.count} in ${worst.widthMs.toFixed(0)} ms, ` +
      `${(-worst.excess).toFixed(2)} below its bound`,
  )
  proof.checkTimed(
    'at least 97 % of limit + burst is accepted',
    accepted.length >= wanted * ACCEPTED_MIN,
    `${accepted.length} of ${wanted.toFixed(0)}`,
  )
}

/**
 * The interval that comes nearest to its bound or exceeds it most. A request counts when it lies in it whole.
 */
export function worstInterval(
  rows: readonly LoadRow[],
  burst: number,
): { excess: number; count: number; widthMs: number } {
  const byEnd = [...rows].sort((a, b) => a.endedAt - b.endedAt)
  let worst = { excess: Number.NEGATIVE_INFINITY, count: 0, widthMs: 0 }
  for (const { startedAt: from } of rows) {
    let count = 0
    for (const row of byEnd) {
      if (row.startedAt < from) continue
      count += 1
      const widthMs = row.endedAt - from
      const excess = count - (LIMIT_RPM * (widthMs + RATE_SLACK_MS)) / 60_000 - burst
      if (excess > worst.excess) worst = { excess, count, widthMs }
    }
  }
  return worst
}

/** One client that waits for Retry-After: after each 429 its next request succeeds. */
async function polite(proof: Proof, stand: Stand, durationMs: number): Promise<void> {
  const requests = [
    stand.embeddings(await limitedKey(stand, 'polite', proof.isShort ? POLITE_SHORT_RPM : LIMIT_RPM)),
  ]
  const once = async (): Promise<{
    readonly statuses: LoadResult['statuses']
    readonly after: readonly LoadRow[]
  }> => {
    const { statuses, rows } = await runLoad({
      host: '127.0.0.1',
      port: stand.port,
      connections: 1,
      durationMs,
      pace: { kind: 'polite' },
      requests,
      keepRows: { except: [] },
    })
    return { statuses, after: rows.filter((_, index) => rows[index - 1]?.status === 429) }
  }
  const goodOf = (rows: readonly LoadRow[]): number => rows.filter(({ status }) => status === 200).length
  // Where Redis is too late for a call, its front goes by its own share, and may refuse it once more.
  const leastOf = ({ length }: readonly LoadRow[]): number =>
    proof.isShort ? Math.max(1, length / 2) : length
  let { statuses, after } = await once()
  for (
    let runs = 1;
    (after.length === 0 || (proof.isShort && goodOf(after) < leastOf(after))) && runs < POLITE_RUNS_MAX;
    runs++
  )
    ({ statuses, after } = await once())
  const [good, least] = [goodOf(after), leastOf(after)]
  const found = `${good} of ${after.length} waits, ${tally(statuses)}`
  proof.check(
    `a lone client that waits for Retry-After succeeds${proof.isShort ? ', mostly' : ''}`,
    after.length > 0 && good >= least,
    found,
  )
  if (proof.isShort) proof.checkTimed('and whenever it has waited', good === after.length, found)
}

async function limitedKey(stand: Stand, name: string, limitRpm: number): Promise<string> {
  const made = await stand.cli(
    'keys',
    'create',
    '--name',
    name,
    '--kind',
    'inference',
    '--workspace',
    'default',
    '--rpm',
    String(limitRpm),
  )
  return String(made['key'])
}
