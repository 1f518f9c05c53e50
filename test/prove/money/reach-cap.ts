/** A limit holds on nodes that are killed, whatever a price depends on, and short prompts can spend it. F7. */
import { workspaceAccount } from '../../../src/schemas/money/accounts.ts'
import { until } from '../../support/wait.ts'
import { checkLedger } from '../check-ledger.ts'
import { rowsOf, type BookedRow } from '../inference/paced/booked.ts'
import { tally, type Program, type Proof } from '../proof.ts'
import { anyCall, answerTo, isLong, shortCall, type CapAnswer, type CapCall } from './cap/cap-calls.ts'
import { costsOf, NOON } from './cap/cap-prices.ts'
import { CapSpenders } from './cap/cap-spenders.ts'
import { startCapStand, type CapStand } from './cap/cap-stand.ts'
import { watchAccount } from './spend/watched-account.ts'

interface Size {
  readonly nodes: number
  readonly rounds: number
  readonly callers: number
  /** USD that callers of any prompts may spend in a round. */
  readonly limitUsd: number
  /** USD that short prompts may spend in a round. */
  readonly shortUsd: number
  /** Calls that are on their way when the window opens, and streams when a front is killed. */
  readonly held: number
}

const FULL: Size = { nodes: 4, rounds: 8, callers: 80, limitUsd: 30, shortUsd: 0.3, held: 40 }
const SHORT: Size = { nodes: 2, rounds: 1, callers: 12, limitUsd: 3, shortUsd: 0.06, held: 4 }
/** Share of the limit that calls spend before the window opens. */
const BEFORE = 0.3
/** Unix milliseconds from noon: the window may open before the deadline; it is about to; it is long shut. */
const SOON_MS = -5 * 60_000
const ABOUT_MS = -1_000
const LATER_MS = 5 * 3_600_000
/** Milliseconds into the window. */
const IN_MS = 50
/** Hundredths of the limit that short prompts have to be able to spend. */
const SPENT_PERCENT_MIN = 97

export const program: Program = {
  text: 'a limit on 4 nodes that are killed, with prices by length, tier and a window that opens midway: never exceeded',
  async run(proof) {
    const size = proof.isShort ? SHORT : FULL
    const stand = await startCapStand(proof, size.nodes)
    const { key } = await stand.bench.makeKey(stand.bench.stand.keys.workspace_id)
    for (let nth = 0; nth < size.rounds; nth++) await spendOnce({ proof, stand, size, key, nth })
    await checkLedger(proof, stand.bench.stand)
  },
}

interface Round {
  readonly proof: Proof
  readonly stand: CapStand
  readonly size: Size
  readonly key: string
  readonly nth: number
}

async function spendOnce(round: Round): Promise<void> {
  const { proof, stand, size, nth } = round
  const { bench, clock } = stand
  const name = `round ${nth + 1}`
  clock.set(NOON + SOON_MS)
  const limitNano = await setLimit(stand, size.limitUsd)
  const watch = watchAccount(bench, accountOf(stand), limitNano)
  const answers = await race(round)
  const returnedMs = await bench.untilReturned()
  const { samples, above } = await watch.end()
  const { spentNano } = await bench.account(accountOf(stand))
  const statuses: Record<number, number> = {}
  for (const { status } of answers) statuses[status] = (statuses[status] ?? 0) + 1
  proof.check(
    `${name}: spent and lent never exceed the limit`,
    above === 0 && spentNano <= limitNano,
    `${samples} samples, ${above} above; ${Number(limitNano - spentNano) / 1e9} of ${size.limitUsd} USD left; ${tally(statuses)}`,
  )
  proof.check(`${name}: all that was lent comes back`, returnedMs !== null, `${returnedMs?.toFixed(0)} ms`)
  await checkCharges(round, answers)
  await spendByShort(round)
}

function accountOf({ bench }: CapStand): string {
  return workspaceAccount(bench.stand.keys.workspace_id)
}

/** So much more than was spent. */
async function setLimit(stand: CapStand, usd: number): Promise<bigint> {
  const { bench } = stand
  const { spentNano } = await bench.account(accountOf(stand))
  const limitNano = spentNano + BigInt(Math.round(usd * 1e9))
  const path = `/workspaces/${bench.stand.keys.workspace_id}/budgets/lifetime`
  await bench.manage('PUT', path, { limit_usd: Number(limitNano) / 1e9 })
  return limitNano
}

/** Until nothing is left: the window opens on the way, a front is killed, and in turns a node. */
async function race({ proof, stand, size, key, nth }: Round): Promise<readonly CapAnswer[]> {
  const { clock, providers } = stand
  const random = (below: number): number => proof.random(below)
  let calls = 0
  const id = (): string => `cap-${proof.seed}-${nth}-${calls++}`
  const spenders = new CapSpenders({
    ...{ ports: stand.ports, key, callers: size.callers, random },
    next: () => anyCall(id(), random),
    stopNano: size.limitUsd * 1e9 * BEFORE,
  })
  providers.hold()
  const spending = spenders.run()
  await spenders.stopped
  clock.set(NOON + ABOUT_MS)
  const heldFirst = Array.from({ length: size.held }, () =>
    spenders.ask(anyCall(id(), random, { isHeldFirst: true })),
  )
  const heldStreams = Array.from({ length: size.held }, () =>
    spenders.ask(anyCall(id(), random, { isHeldStream: true })),
  )
  await until('the window is open', () => clock.now() >= NOON + IN_MS)
  proof.say(`${providers.waiting} calls are on their way when the window opens`)
  await stand.killFront(nth)
  // Another front may hold what is left, until it has come back.
  await until('a call in the window is paid', async () => {
    const { status } = await spenders.ask(shortCall(id(), random))
    return status === 200
  })
  spenders.goOn()
  providers.letGo()
  const killed = nth % 2 === 1 ? stand.killNode(nth + 1) : undefined
  await Promise.all([spending, killed, ...heldFirst, ...heldStreams])
  return spenders.answers
}

/** Each answer is charged what the catalogue's texts say, on either side of noon, or its bound. */
async function checkCharges(
  { proof, stand, size, nth }: Round,
  answers: readonly CapAnswer[],
): Promise<void> {
  const name = `round ${nth + 1}`
  const paid = answers.filter(({ status }) => status === 200)
  const calls = paid.map(({ call }) => call)
  const rows = await rowsOf(stand.bench, calls)
  const judged = paid.map((answer) => judge(answer, rows.get(answer.call.id) ?? []))
  const wrong = judged.filter(({ side }) => side === 'wrong')
  const count = (...sides: readonly Side[]): number =>
    judged.filter(({ side }) => sides.includes(side)).length
  const forfeits = count('forfeit')
  const long = calls.filter(isLong).length
  const dear = calls.filter(({ reported }) => reported.service_tier === 'fast' || reported.speed === 'fast')
  proof.check(
    `${name}: each answer is charged the price of its length, hour and tier, or its bound`,
    paid.length > 0 && wrong.length === 0 && forfeits <= size.callers,
    `${paid.length} answers, ${forfeits} forfeits of killed fronts, ${wrong.length} wrong ${wrong
      .slice(0, 3)
      .map(({ text }) => text)
      .join('; ')}`,
  )
  proof.check(
    `${name}: prices of both sides of the window, of long prompts and of fast answers were charged`,
    count('shut') > 0 && count('open') > 0 && long > 0 && dear.length > 0,
    `${count('shut')} before, ${count('open')} after, ${count('either')} of one price, ${count('bound')} at their bound; ${long} long, ${dear.length} fast`,
  )
}

type Side = 'shut' | 'open' | 'either' | 'bound' | 'forfeit' | 'wrong'

interface Judged {
  readonly side: Side
  readonly text: string
}

function judge({ call, costNano }: CapAnswer, rows: readonly BookedRow[]): Judged {
  const settled = rows.filter(({ kind }) => kind === 'usage' || kind === 'estimated')
  const [row] = settled
  const { shut, open } = costsOf(call)
  const text = `${call.id}: ${JSON.stringify(rows)}, answered ${costNano}, expected ${shut} or ${open}`
  const [forfeit, ...more] = rows.filter(({ kind }) => kind === 'forfeit')
  // The front was killed between the last byte and the settlement: the bound counts until it is forgiven.
  if (row === undefined && forfeit !== undefined && more.length === 0 && forfeit.nano >= costNano)
    return { side: 'forfeit', text }
  if (row === undefined || settled.length > 1 || row.nano !== costNano) return { side: 'wrong', text }
  if (row.nano === shut || row.nano === open)
    return { side: shut === open ? 'either' : row.nano === shut ? 'shut' : 'open', text }
  // More was reported than the call may cost, or than is credible.
  const isBounded = !call.isHonest && row.nano < Math.max(shut, open)
  return { side: isBounded ? 'bound' : 'wrong', text }
}

/** Prompts below every threshold, far from the window: their bound is near to what they cost. */
async function spendByShort({ proof, stand, size, key, nth }: Round): Promise<void> {
  const { bench, clock } = stand
  clock.set(NOON + LATER_MS)
  const limitNano = await setLimit(stand, size.shortUsd)
  let [costNano, calls] = [0, 0]
  let answer: CapAnswer
  do {
    const call: CapCall = shortCall(`short-${proof.seed}-${nth}-${calls++}`, (below) => proof.random(below))
    answer = await answerTo(call, { key, port: bench.stand.port })
    costNano += answer.costNano
    // 503: the front has not read the balance yet, so the call decides nothing.
  } while (answer.status === 200 || answer.status === 503)
  const { spentNano } = await bench.account(accountOf(stand))
  const percent = (costNano / (size.shortUsd * 1e9)) * 100
  proof.check(
    `round ${nth + 1}: short prompts spend ${SPENT_PERCENT_MIN} % of a limit`,
    answer.status === 403 && percent >= SPENT_PERCENT_MIN && percent <= 100 && spentNano <= limitNano,
    `${percent.toFixed(2)} % in ${calls} calls; the last ${answer.status} ${answer.refusal}`,
  )
}
