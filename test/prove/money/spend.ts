/** A budget is not exceeded, whatever happens to fronts and stores while it is spent. */
import { workspaceAccount } from '../../../src/schemas/money/accounts.ts'
import { pause } from '../../support/nodes/spawned.ts'
import { Spenders, type Answer } from './spend/spenders.ts'
import { STAND_MODEL, startSpendStand, type SpendStand } from './spend/spend-stand.ts'
import { watchAccount } from './spend/watched-account.ts'
import { checkLedger } from '../check-ledger.ts'
import { tally, type Program, type Proof } from '../proof.ts'

const NANO = 1_000_000_000n
const FULL = { fronts: 4, runs: 20, budgetUsd: 10, callers: 400, keys: 1_000, stoppedMs: 8_000 }
const SHORT = { fronts: 2, runs: 1, budgetUsd: 0.3, callers: 40, keys: 10, stoppedMs: 1_500 }
/** Milliseconds that a run may take at most. */
const RUN_MS_MAX = 180_000
/** Share of a budget that can be spent, in hundredths. */
const SPENT_PERCENT_MIN = 98n

export const program: Program = {
  text: 'A budget is spent by 400 callers on 4 fronts, one killed, one stopped, Redis restarted: never exceeded, books exact',
  async run(proof) {
    const size = proof.isShort ? SHORT : FULL
    const bench = await startSpendStand(proof, { fronts: size.fronts })
    const workspaceId = bench.stand.keys.workspace_id
    const keys: string[] = []
    for (let n = 0; n < size.keys; n++) keys.push((await bench.makeKey(workspaceId)).key)
    for (let run = 0; run < size.runs; run++) {
      const used = run % 2 === 1 || size.runs === 1 ? keys : keys.slice(0, 1)
      await spendOnce({ proof, bench, size, run, keys: used })
    }
  },
}

interface Run {
  readonly proof: Proof
  readonly bench: SpendStand
  readonly size: typeof FULL
  readonly run: number
  readonly keys: readonly string[]
}

async function spendOnce({ proof, bench, size, run, keys }: Run): Promise<void> {
  const { stand } = bench
  const accountId = workspaceAccount(stand.keys.workspace_id)
  const before = (await bench.account(accountId)).spentNano
  const budgetNano = (BigInt(Math.round(size.budgetUsd * 1e6)) * NANO) / 1_000_000n
  const limitNano = before + budgetNano
  await bench.manage('PUT', `/workspaces/${stand.keys.workspace_id}/budgets/lifetime`, {
    limit_usd: Number(limitNano) / 1e9,
  })
  const spenders = new Spenders({
    port: stand.port,
    keys,
    model: STAND_MODEL,
    callers: size.callers,
    random: (below) => proof.random(below),
  })
  const watch = watchAccount(bench, accountId, limitNano)
  const startedAt = performance.now()
  const timer = setTimeout(() => spenders.end(), RUN_MS_MAX)
  const spent = async (): Promise<number> =>
    Number((await bench.account(accountId)).spentNano - before) / Number(budgetNano)
  const faults = disturb(bench, {
    proof,
    stoppedMs: size.stoppedMs,
    spent,
    isOver: () => performance.now() - startedAt > RUN_MS_MAX,
  })
  await Promise.all([spenders.run(), faults])
  clearTimeout(timer)
  const { returnedMs, last } = await drained(bench, spenders)
  const seen = await watch.end()
  spenders.close()
  const { spentNano, lentNano } = await bench.account(accountId)
  const [booked] = await bench.store.sql<{ usage: string; forfeits: string }[]>`
    SELECT coalesce(sum(cost_nano) FILTER (WHERE kind IN ('usage', 'estimated')), 0) AS usage,
      coalesce(sum(cost_nano - released_nano) FILTER (WHERE kind = 'forfeit'), 0) AS forfeits FROM ledger`
  const name = `run ${run + 1} (${keys.length} keys)`
  const tookS = ((performance.now() - startedAt) / 1000).toFixed(0)
  const found = `${usd(spentNano - before)} of ${usd(budgetNano)} USD after ${tookS} s; ${tally(spenders.statuses)}`
  proof.check(
    `${name}: spent and lent never exceed the limit`,
    seen.above === 0 && spentNano <= limitNano,
    `${seen.samples} samples, ${seen.above} above; ${found}`,
  )
  proof.check(
    `${name}: all that was lent comes back`,
    returnedMs !== null,
    returnedMs === null ? `${lentNano} nano still lent` : `after ${(returnedMs / 1000).toFixed(1)} s`,
  )
  proof.check(
    `${name}: the budget can be spent to ${SPENT_PERCENT_MIN} %`,
    last.status === 403 && (spentNano - before) * 100n >= budgetNano * SPENT_PERCENT_MIN,
    `${usd(spentNano - before)}, of all runs forfeited ${usd(BigInt(booked?.forfeits ?? 0))}; ` +
      `the last answer ${last.status} ${String(last.metadata['limit_source'])}`,
  )
  proof.check(
    `${name}: callers are told no more than was booked`,
    spenders.costNano <= spentNano - before,
    `told ${usd(spenders.costNano)}, booked ${usd(spentNano - before)}`,
  )
  await checkLedger(proof, bench.stand, `${name}: `)
}

/** Waits for what is lent, and spends what came back until the budget refuses. */
async function drained(
  bench: SpendStand,
  spenders: Spenders,
): Promise<{ readonly returnedMs: number | null; readonly last: Answer }> {
  const returnedMs = await bench.untilReturned()
  // A call on a connection that has rested for so long may meet its end.
  spenders.close()
  let last: Answer
  do {
    last = await spenders.call()
    // 503: the front has not read the balance yet, so the call decides nothing.
  } while (last.status === 200 || last.status === 503)
  // Until then what the last calls cost may not be booked.
  await bench.untilReturned()
  return { returnedMs, last }
}

function usd(nano: bigint): string {
  return (Number(nano) / 1e9).toFixed(6)
}

interface Disturbance {
  readonly proof: Proof
  readonly stoppedMs: number
  /** Share of the budget, 0 to 1. */
  readonly spent: () => Promise<number>
  readonly isOver: () => boolean
}

/**
 * A front stops for a while, another one is killed, and Redis starts again, each at a random share of the
 * budget.
 */
async function disturb(
  { stand, redis }: SpendStand,
  { proof, stoppedMs, spent, isOver }: Disturbance,
): Promise<void> {
  const reach = async (share: number): Promise<void> => {
    while ((await spent()) < share && !isOver()) await pause(20)
  }
  await reach(0.1 + proof.random(20) / 100)
  const [victim, sleeper] = stand.fronts()
  if (victim === undefined || sleeper === undefined) throw new Error('the stand has too few fronts')
  process.kill(sleeper, 'SIGSTOP')
  const awake = pause(stoppedMs).then(() => process.kill(sleeper, 'SIGCONT'))
  await reach(0.35 + proof.random(20) / 100)
  process.kill(victim, 'SIGKILL')
  await reach(0.6 + proof.random(20) / 100)
  if (redis !== null) {
    await redis.kill()
    await redis.start()
  }
  await awake
}
