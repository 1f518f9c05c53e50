/** A warm front makes no trip a call; Redis goes, hangs and comes back without a trace in the books; Postgres
 * too, when what was lent is spent. */
import { workspaceAccount } from '../../../src/schemas/money/accounts.ts'
import { pause } from '../../support/nodes/spawned.ts'
import { Spenders } from './spend/spenders.ts'
import { STAND_MODEL, startSpendStand, type SpendStand } from './spend/spend-stand.ts'
import { checkLedger } from '../check-ledger.ts'
import { tally, type Program, type Proof } from '../proof.ts'

const CALLERS = 32
/**
 * Milliseconds between two calls of a caller of the short form: some hundred a second, of whatever the
 * machine could.
 */
const SHORT_REST_MS = 60
const RPM = 30_000
/** No run comes near it. */
const AMPLE_RPM = 1_000_000
/** Milliseconds that a call may wait for Redis, and that calls may fail after Postgres is back. */
const REDIS_WAIT_MS_MAX = 100
const RECOVERY_MS_MAX = 3_000
const GIVE_UP_MS = { full: 30_000, short: 120_000 }
/**
 * Calls a second of a front that count as busy, and trips a call that go by time: heartbeats, polls, flushes,
 * blocks of tokens.
 */
const BUSY_PER_S = 150
const TRIPS_PER_CALL_MAX = 0.6
const WARM_MS = 8_000
/** Times that a phase runs in which money was late. */
const PHASES_MAX = 3

export const program: Program = {
  text: 'Redis killed, frozen and restored, Postgres killed and restored, under load: books exact, waits bounded',
  async run(proof) {
    const bench = await startSpendStand(proof, { fronts: 2, isPostgresEnded: true })
    const { redis } = bench
    if (redis === null) {
      proof.skipped = 'redis-server is not on the PATH'
      return
    }
    const workspaceId = bench.stand.keys.workspace_id
    await bench.manage('PUT', `/workspaces/${workspaceId}/budgets/lifetime`, { limit_usd: 1_000_000 })
    const warmNano = await warm(proof, bench)
    const { key } = await bench.makeKey(workspaceId, { rate_limit_rpm: RPM })
    const spenders = new Spenders({
      port: bench.stand.port,
      keys: [key],
      model: STAND_MODEL,
      callers: CALLERS,
      random: (below) => proof.random(below),
      goesOn: true,
      restMs: proof.isShort ? SHORT_REST_MS : 0,
    })
    const running = spenders.run()
    const outMs = proof.isShort ? 1_000 : 6_000
    await pause(outMs)
    await phase(proof, spenders, {
      name: 'Redis is gone',
      outMs,
      begin: () => redis.kill(),
      end: () => redis.start(),
    })
    await phase(proof, spenders, {
      name: 'Redis is frozen',
      outMs,
      begin: () => redis.pause(),
      end: () => redis.resume(),
    })
    await withoutPostgres(proof, bench, spenders)
    spenders.end()
    await running
    spenders.close()
    await books(proof, bench, { spenders, warmNano })
    const ended = bench.stand
      .output()
      .split('\n')
      .filter((line) => /child_ended|front_ended|crash|fatal|uncaught|fenced/i.test(line))
    proof.check('no front ends', ended.length === 0, ended.slice(0, 3).join(' ') || 'none')
  },
}

/**
 * Fronts that are called often ask the stores by time and not by call. @returns the cost that callers saw
 */
async function warm(proof: Proof, bench: SpendStand): Promise<bigint> {
  const { store, redis } = bench
  const { key } = await bench.makeKey(bench.stand.keys.workspace_id, { rate_limit_rpm: AMPLE_RPM })
  const spenders = new Spenders({
    port: bench.stand.port,
    keys: [key],
    model: STAND_MODEL,
    callers: CALLERS,
    random: (below) => proof.random(below),
    goesOn: true,
    restMs: proof.isShort ? SHORT_REST_MS : 0,
  })
  const running = spenders.run()
  await pause(1_000)
  const read = async (): Promise<{ answered: number; transactions: number; scripts: number }> => {
    const [row] = await store.sql<{ count: string }[]>`
      SELECT xact_commit + xact_rollback AS count FROM pg_stat_database WHERE datname = current_database()`
    return {
      answered: spenders.statuses[200] ?? 0,
      transactions: Number(row?.count),
      scripts: (await redis?.scripts()) ?? 0,
    }
  }
  const before = await read()
  const startedAt = performance.now()
  await pause(proof.isShort ? WARM_MS / 4 : WARM_MS)
  const after = await read()
  const answered = after.answered - before.answered
  const perS = (answered / (performance.now() - startedAt)) * 1_000
  spenders.end()
  await running
  spenders.close()
  const trips = after.transactions - before.transactions + after.scripts - before.scripts
  const text = 'a call on the warm path makes no trip to a store'
  const found =
    `${answered} calls, ${perS.toFixed(0)} a second on two fronts; ${after.transactions - before.transactions} transactions, ` +
    `${after.scripts - before.scripts} scripts, whoever made them`
  // What goes by time is a share of a call's trips only where calls are many.
  if (perS < 2 * BUSY_PER_S) proof.checkTimed(text, false, `${found}: too slow to tell`)
  else proof.check(text, trips < answered * TRIPS_PER_CALL_MAX, found)
  return spenders.costNano
}

interface Phase {
  readonly name: string
  readonly outMs: number
  begin(): Promise<void> | void
  end(): Promise<void> | void
}

/** What a crowded machine has not done by then it does never. */
const giveUpMsOf = ({ isShort }: Proof): number => (isShort ? GIVE_UP_MS.short : GIVE_UP_MS.full)

/** Calls go on being answered, by 200 and by 429 alone. */
async function phase(proof: Proof, spenders: Spenders, of: Phase): Promise<void> {
  let during = await statusesIn(proof, spenders, of)
  // A Postgres that stands still is late with money, whatever Redis does.
  for (let tries = 1; proof.isShort && tries < PHASES_MAX && strangersIn(during).join() === '503'; tries++)
    during = await statusesIn(proof, spenders, of)
  const { name } = of
  proof.check(
    `${name}: calls are answered or told to come later`,
    strangersIn(during).length === 0 && (during[200] ?? 0) > 0,
    tally(during),
  )
  proof.checkTimed(
    `${name}: no call waits over ${REDIS_WAIT_MS_MAX} ms for it`,
    spenders.slowestLimitsMs <= REDIS_WAIT_MS_MAX,
    `at most ${spenders.slowestLimitsMs.toFixed(1)} ms in the limits stage`,
  )
}

function strangersIn(statuses: Readonly<Record<number, number>>): readonly string[] {
  return Object.keys(statuses).filter((status) => status !== '200' && status !== '429')
}

async function statusesIn(
  proof: Proof,
  spenders: Spenders,
  { outMs, begin, end }: Phase,
): Promise<Readonly<Record<number, number>>> {
  const before = { ...spenders.statuses }
  spenders.slowestLimitsMs = 0
  await begin()
  await pause(outMs)
  await end()
  await pause(outMs)
  const before200 = before[200] ?? 0
  for (
    const endsAt = performance.now() + giveUpMsOf(proof);
    (spenders.statuses[200] ?? 0) === before200 && performance.now() < endsAt;
  )
    await pause(50)
  return since(before, spenders.statuses)
}

/**
 * What was lent is spent, then calls are refused as ours to mend, and soon after its return they are
 * answered.
 */
async function withoutPostgres(proof: Proof, { postgres }: SpendStand, spenders: Spenders): Promise<void> {
  const before = { ...spenders.statuses }
  await postgres.kill()
  const [goneAt, giveUpMs] = [performance.now(), giveUpMsOf(proof)]
  await pause(proof.isShort ? 1_000 : 8_000)
  // A front spends what it has borrowed, which is more where it is slow.
  while ((spenders.statuses[503] ?? 0) === (before[503] ?? 0) && performance.now() - goneAt < giveUpMs)
    await pause(50)
  const during = since(before, spenders.statuses)
  const strangers = Object.keys(during).filter((status) => !['200', '429', '503', '500'].includes(status))
  proof.check(
    'Postgres is gone: what is lent is spent, and then calls fail as ours to mend',
    strangers.length === 0 && (during[503] ?? 0) > 0,
    tally(during),
  )
  await postgres.start()
  const backAt = performance.now()
  const good = spenders.statuses[200] ?? 0
  while ((spenders.statuses[200] ?? 0) === good && performance.now() - backAt < giveUpMs) await pause(10)
  const recoveredMs = performance.now() - backAt
  proof.check(
    'Postgres is back: calls are answered again',
    recoveredMs < giveUpMs,
    `after ${recoveredMs.toFixed(0)} ms`,
  )
  proof.checkTimed(
    'Postgres is back: within 3 s',
    recoveredMs <= RECOVERY_MS_MAX,
    `${recoveredMs.toFixed(0)} ms`,
  )
  await pause(1_000)
}

/** No front died and no caller left: the costs that callers saw and the books are equal to the nano. */
async function books(
  proof: Proof,
  bench: SpendStand,
  { spenders, warmNano }: { spenders: Spenders; warmNano: bigint },
): Promise<void> {
  const returnedMs = await bench.untilReturned()
  const { spentNano } = await bench.account(workspaceAccount(bench.stand.keys.workspace_id))
  const reportedNano = warmNano + spenders.costNano
  const isExact = (spenders.statuses[0] ?? 0) === 0
  proof.check(
    'booked is what callers were told',
    isExact ? spentNano === reportedNano : spentNano >= reportedNano,
    `told ${reportedNano}, booked ${spentNano} nano-USD; ${tally(spenders.statuses)}`,
  )
  proof.check(
    'all that was lent comes back',
    returnedMs !== null,
    returnedMs === null ? 'not all' : `after ${(returnedMs / 1000).toFixed(1)} s`,
  )
  await checkLedger(proof, bench.stand)
}

function since(
  before: Readonly<Record<number, number>>,
  now: Readonly<Record<number, number>>,
): Record<number, number> {
  const changes = Object.entries(now).map(
    ([status, count]) => [status, count - (before[Number(status)] ?? 0)] as const,
  )
  return Object.fromEntries(changes.filter(([, count]) => count > 0))
}
