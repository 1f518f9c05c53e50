/** Budgets are lowered, deleted and made again, and workspaces deleted, while they are spent. */
import { workspaceAccount } from '../../../src/schemas/money/accounts.ts'
import { pause } from '../../support/nodes/spawned.ts'
import { Spenders } from './spend/spenders.ts'
import { returnedMsMax, STAND_MODEL, startSpendStand, type SpendStand } from './spend/spend-stand.ts'
import { checkLedger } from '../check-ledger.ts'
import { tally, type Program, type Proof } from '../proof.ts'

const CALLERS = { full: 200, short: 30 }
/** USD of the first budget: more than is spent before it is lowered. */
const AMPLE_USD = 1_000
/** Of the budget that is lowered: less than has been spent by then. */
const LOW_NANO = 1_000n
/**
 * Milliseconds between two calls of a caller of the short form: what changes the budgets then has cores to
 * run on.
 */
const SHORT_REST_MS = 300
const ROUNDS = { full: 10, short: 1 }
/** Milliseconds in which every front obeys a change. */
const OBEYED_MS = 1_500

export const program: Program = {
  text: 'Budgets lowered, deleted and made again, and workspaces deleted, while they are spent',
  async run(proof) {
    const bench = await startSpendStand(proof, { fronts: proof.isShort ? 1 : 2 })
    for (let round = 0; round < (proof.isShort ? ROUNDS.short : ROUNDS.full); round++)
      await changes({ proof, bench, round })
    await checkLedger(proof, bench.stand)
  },
}

interface Round {
  readonly proof: Proof
  readonly bench: SpendStand
  readonly round: number
}

/** The whole life of one workspace's budget, under calls that never stop. */
async function changes({ proof, bench, round }: Round): Promise<void> {
  const name = (text: string): string => `round ${round + 1}: ${text}`
  const slug = `spent-${round}`
  const { data } = await bench.manage('POST', '/workspaces', { name: slug, slug })
  const { id } = data as { id: string }
  const budget = `/workspaces/${slug}/budgets/lifetime`
  const account = workspaceAccount(id)
  await bench.manage('PUT', budget, { limit_usd: AMPLE_USD })
  const { key } = await bench.makeKey(id)
  const callers = proof.isShort ? CALLERS.short : CALLERS.full
  const spenders = new Spenders({
    port: bench.stand.port,
    keys: [key],
    model: STAND_MODEL,
    callers,
    random: (below) => proof.random(below),
    goesOn: true,
    restMs: proof.isShort ? SHORT_REST_MS : 0,
  })
  const running = spenders.run()
  await pause(500 + proof.random(500))
  await until(proof, async () => (await bench.account(account)).spentNano > LOW_NANO)

  const spent: Spent = { proof, bench, name, budget, account, spenders, callers }
  const afterLowering = await lowered(spent)
  const afterDeletion = await deleted(spent, afterLowering)
  const later = await madeAgain(spent, afterDeletion)
  await raised(spent, later)
  await deleteWorkspace({ proof, bench, spenders, callers, name: name('a deleted workspace'), slug, id })
  spenders.end()
  await running
  spenders.close()
}

/** @returns nano-USD that are spent in the end */
async function lowered({ proof, bench, name, budget, account, spenders, callers }: Spent): Promise<bigint> {
  const reported = await bench.manage('PUT', budget, { limit_usd: usd(LOW_NANO) })
  const atLowering = await bench.account(account)
  await settled({ proof, bench, account, spenders, callers })
  const afterLowering = await bench.account(account)
  proof.check(
    name('lowered below what is spent, nothing more is lent'),
    afterLowering.spentNano <= atLowering.spentNano + atLowering.lentNano &&
      effectiveOf(reported) === 'pending',
    `${effectiveOf(reported)}; ${atLowering.spentNano} + ${atLowering.lentNano} lent then, ${afterLowering.spentNano} in the end`,
  )
  return afterLowering.spentNano
}

/** @returns nano-USD that are spent by then */
async function deleted({ proof, bench, name, budget, account }: Spent, before: bigint): Promise<bigint> {
  await bench.manage('DELETE', budget)
  await pause(OBEYED_MS + proof.random(500))
  await until(proof, async () => (await bench.account(account)).spentNano > before)
  const afterDeletion = await bench.account(account)
  proof.check(
    name('deleted, calls are answered again'),
    afterDeletion.spentNano > before,
    `${afterDeletion.spentNano} nano-USD`,
  )
  return afterDeletion.spentNano
}

/** @returns nano-USD that are spent in the end */
async function madeAgain(
  { proof, bench, name, budget, account, spenders, callers }: Spent,
  before: bigint,
): Promise<bigint> {
  await bench.manage('PUT', budget, { limit_usd: usd(before / 2n) })
  await settled({ proof, bench, account, spenders, callers })
  const remade = await bench.account(account)
  await pause(300)
  const later = await bench.account(account)
  const { data: kept } = await bench.manage('GET', budget)
  proof.check(
    name('made again, it knows what was spent'),
    later.spentNano === remade.spentNano && (kept as { effective?: unknown }).effective === 'pending',
    `${remade.spentNano} and no more; ${JSON.stringify(kept)}`,
  )
  return later.spentNano
}

async function raised({ proof, bench, name, budget, account }: Spent, before: bigint): Promise<void> {
  const limitNano = before + 20_000_000n
  await bench.manage('PUT', budget, { limit_usd: usd(limitNano) })
  await pause(2_000)
  await until(proof, async () => (await bench.account(account)).spentNano > before)
  const after = await bench.account(account)
  proof.check(
    name('raised, the rest is spent and not more'),
    after.spentNano > before && after.spentNano <= limitNano,
    `${after.spentNano} of ${limitNano}`,
  )
}

function effectiveOf(body: Readonly<Record<string, unknown>>): unknown {
  return (body['data'] as { effective?: unknown }).effective
}

function usd(nano: bigint): number {
  return Number(nano) / 1e9
}

interface Settling {
  readonly proof: Proof
  readonly bench: SpendStand
  readonly account: string
  readonly spenders: Spenders
  readonly callers: number
}

/** A budget whose workspace spends it all the while. */
interface Spent extends Settling {
  readonly budget: string
  /** The name of a check of this round. */
  readonly name: (text: string) => string
}

/**
 * Until no front spends by an older limit, lent money is spent or back, and the costs that callers saw are in
 * the books.
 */
async function settled({ proof, bench, account, spenders, callers }: Settling): Promise<void> {
  await pause(OBEYED_MS)
  await refusedAll(proof, spenders, callers)
  await until(proof, async () => {
    const { lentNano, spentNano } = await bench.account(account)
    return lentNano === 0n && spentNano === spenders.costNano
  })
}

/**
 * Until calls of all callers are refused in a row: a stalled front may obey an old limit for any time.
 */
async function refusedAll(proof: Proof, { statuses }: Spenders, callers: number): Promise<void> {
  const answers = (): number => Object.values(statuses).reduce((sum, count) => sum + count, 0)
  let [accepted, from] = [statuses[200] ?? 0, answers()]
  await until(proof, async () => {
    if (accepted !== (statuses[200] ?? 0)) [accepted, from] = [statuses[200] ?? 0, answers()]
    return answers() - from >= 2 * callers
  })
}

async function until(proof: Proof, is: () => Promise<boolean>): Promise<void> {
  const endsAt = performance.now() + returnedMsMax(proof)
  while (!(await is()) && performance.now() < endsAt) await pause(50)
}

interface Deletion {
  readonly proof: Proof
  readonly bench: SpendStand
  readonly spenders: Spenders
  readonly callers: number
  readonly name: string
  readonly slug: string
  readonly id: string
}

async function deleteWorkspace({ proof, bench, spenders, callers, name, slug, id }: Deletion): Promise<void> {
  await bench.manage('DELETE', `/workspaces/${slug}/budgets/lifetime`)
  await pause(OBEYED_MS)
  await bench.manage('DELETE', `/workspaces/${slug}`)
  await pause(OBEYED_MS)
  await refusedAll(proof, spenders, callers)
  const before = { ...spenders.statuses }
  await pause(300)
  await until(proof, async () => (spenders.statuses[401] ?? 0) > (before[401] ?? 0))
  const since = Object.fromEntries(
    Object.entries(spenders.statuses).map(([status, count]) => [
      status,
      count - (before[Number(status)] ?? 0),
    ]),
  )
  const accepted = since[200] ?? 0
  proof.check(`${name} accepts no call of its keys`, accepted === 0 && (since[401] ?? 0) > 0, tally(since))
  await until(proof, async () => (await bench.account(workspaceAccount(id))).lentNano === 0n)
  const { lentNano } = await bench.account(workspaceAccount(id))
  proof.check(`${name} holds nothing that was lent`, lentNano === 0n, `${lentNano} nano-USD lent`)
}
