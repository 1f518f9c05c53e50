/** Whatever kills a front between two steps, each of its calls is in the ledger once. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { segmentFiles } from '../../../src/server/journal/segments.ts'
import { newId } from '../../../src/server/store/base/ids.ts'
import { openStore, type Store } from '../../../src/server/store/base/open.ts'
import { plainEnvironment } from '../../support/load/load.ts'
import { imbalances, makeOwners, setLimit, type Owners } from '../../support/money/money.ts'
import { openTestDatabase } from '../../support/stores/postgres.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { FRONT_FAULTS, RECOVERY_FAULTS, type Fault } from './journal/faults.ts'
import type { Order, Answer } from './journal/small-front.ts'
import { allowedRows, type Allowed } from './journal/story.ts'
import type { Program, Proof } from '../proof.ts'
import { connected } from '../../support/wire/connected.ts'

const PROCESS = fileURLToPath(new URL('journal/process.js', import.meta.url))
const RUNS_EACH = 20
/** Fronts after which a long run says where it is. */
const TOLD_EVERYOnce = 60
/** Each is three processes. */
const SHORT_RUNS: readonly (readonly [Fault, Fault])[] = [
  ['write:part', 'close:sent'],
  ['flush:sent', 'flush:after'],
  ['rename:after', 'none'],
  ['give_back:written', 'close:after'],
]
const RECOVERIES_MAX = 5
const TURNS = 24
/** Of a front whose disk is full, which has room again on the way. */
const FULL_TURNS = 60
const LIMIT_NANO = 1_000_000_000
/** Kibibytes that a file may have on a disk that is full soon. */
const FULL_KIB = 4

export const program: Program = {
  text: 'kill -9 between every two steps of append, flush, give-back and recovery, and a full disk: each call once',
  async run(proof) {
    const stand = await openStand(proof)
    const plans = proof.isShort ? SHORT_RUNS.map(([front, recovery]) => ({ front, recovery })) : allPlans()
    const results: Result[] = []
    const work = plans.entries()
    const worker = async (): Promise<void> => {
      for (const [nth, plan] of work) {
        const seeded = {
          ...plan,
          seed: proof.seed + nth,
          nth: 1 + proof.random(timesOf(plan.front)),
          isFull: false,
        }
        results.push(await run(stand, seeded))
        if (results.length % TOLD_EVERYOnce === 0) proof.say(`${results.length} of ${plans.length}`)
      }
    }
    await Promise.all([worker(), worker()])
    judge(proof, results, 'killed between two steps')
    const full: Result[] = []
    for (let nth = 0; nth < (proof.isShort ? 1 : RUNS_EACH); nth++) {
      full.push(
        await run(stand, { front: 'none', recovery: 'none', seed: proof.seed - nth, nth: 1, isFull: true }),
      )
    }
    judge(proof, full, 'a disk that is full')
    proof.check(
      'the full disk refused something',
      full.every(({ refused }) => refused > 0),
      `${full.map(({ refused }) => refused).join(', ')} appends`,
    )
    const wrong = await imbalances(stand.store.sql)
    proof.check(
      'counters and roll-ups are what the ledger says',
      wrong.length === 0,
      `${wrong.length} differ${reported(wrong)}`,
    )
  },
}

interface Stand {
  readonly url: string
  readonly store: Store
  readonly folder: string
}

interface Plan {
  readonly front: Fault
  readonly recovery: Fault
  readonly seed: number
  /** Occurrence of the fault that counts. */
  readonly nth: number
  readonly isFull: boolean
}

interface Result {
  readonly plan: Plan
  readonly wasKilled: boolean
  readonly calls: number
  readonly refused: number
  readonly wrong: readonly string[]
}

async function openStand(proof: Proof): Promise<Stand> {
  const { url } = await openTestDatabase(proof)
  const store = await connected(openStore({ url, poolMax: 2, applicationName: 'journal-proof' }))
  proof.after(() => store.close())
  const folder = temporaryFolder(proof, 'journal')
  return { url, store, folder }
}

/** Each fault of a front, and each of its recovery, as often as acceptance wants. */
function allPlans(): readonly { front: Fault; recovery: Fault }[] {
  return FRONT_FAULTS.flatMap((front, at) =>
    Array.from({ length: RUNS_EACH }, (_, nth) => ({
      front,
      recovery: RECOVERY_FAULTS[(at + nth) % RECOVERY_FAULTS.length] ?? 'none',
    })),
  )
}

/**
 * A fault comes in at most so many of a run's occurrences: few steps are as frequent as writes and flushes.
 */
function timesOf(fault: Fault): number {
  if (fault.startsWith('open')) return 1
  return /^(create|rename|remove|lend)/.test(fault) ? 3 : 8
}

/** A front that is killed, a recovery that is killed, and two recoveries at once that are not. */
async function run({ url, store, folder }: Stand, plan: Plan): Promise<Result> {
  const owners = await makeOwners(store, newId())
  for (const account of Object.values(owners.accounts))
    await setLimit(store.sql, account, 'lifetime', LIMIT_NANO)
  const order: Order = {
    role: 'front',
    databaseUrl: url,
    folder,
    journalId: newId(),
    owners,
    seed: plan.seed,
    turns: plan.isFull ? FULL_TURNS : TURNS,
    fault: plan.front,
    nth: plan.nth,
  }
  const front = await start(order, plan.isFull)
  const recover = (fault: Fault): Promise<Ended> => start({ ...order, role: 'recovery', fault, nth: 1 })
  if (plan.recovery !== 'none') await recover(plan.recovery)
  let last = await Promise.all(
    plan.recovery === 'none' ? [recover('none'), recover('none')] : [recover('none')],
  )
  // One may find that another was first, or that what was killed has its last words in the books only now,
  // and is to try again: so does the supervisor.
  for (let tries = 1; tries < RECOVERIES_MAX && last.every(({ code }) => code !== 0); tries++)
    last = [await recover('none')]
  const isDone = last.some(({ code }) => code === 0)
  const logged = front.output
    .split('\n')
    .filter((line) => line.endsWith('}'))
    .map((line) => JSON.parse(line) as Answer)
  const problems = isDone ? [] : [`the recovery failed: ${last.map(({ errors }) => errors).join('')}`]
  const calls = allowedRows(logged)
  return {
    plan,
    calls: calls.size,
    wasKilled: front.signal === 'SIGKILL',
    refused: logged.filter(({ what }) => what === 'refused').length,
    wrong: [
      ...problems,
      ...(front.errors === '' ? [] : [front.errors]),
      ...(await differences(store, { order, owners, calls })),
    ],
  }
}

interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly output: string
  readonly errors: string
}

async function start(order: Order, isFull = false): Promise<Ended> {
  const args = [PROCESS, JSON.stringify(order)]
  const [command, all] = isFull
    ? (['bash', ['-c', `ulimit -S -f ${FULL_KIB}; exec "$@"`, 'bash', process.execPath, ...args]] as const)
    : ([process.execPath, args] as const)
  const child = spawn(command, all, { env: plainEnvironment(), stdio: ['ignore', 'pipe', 'pipe'] })
  let [output, errors] = ['', '']
  child.stdout.on('data', (bytes: Buffer) => {
    if (isFull && !output.includes('refused') && bytes.includes('refused')) makeRoom(child.pid ?? 0)
    output += bytes.toString()
  })
  child.stderr.on('data', (bytes: Buffer) => (errors += bytes.toString()))
  const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null]
  return { code, signal, output, errors }
}

/** Once something was refused there is room again, where the machine has the program for it. */
function makeRoom(pid: number): void {
  spawn('prlimit', ['--pid', String(pid), '--fsize=unlimited:unlimited'], { stdio: 'ignore' }).on(
    'error',
    () => undefined,
  )
}

/** What the books say otherwise than they may. */
async function differences(
  { sql }: Store,
  { order, owners, calls }: { order: Order; owners: Owners; calls: ReadonlyMap<string, readonly Allowed[]> },
): Promise<readonly string[]> {
  const rows = await sql<{ id: string; row: Allowed }[]>`
    SELECT request_id AS id, kind || ' ' || cost_nano AS row FROM ledger WHERE key_hash = ${owners.keyHash} ORDER BY request_id`
  const wrong = rows
    .filter(({ id }, at) => rows[at + 1]?.id === id || !calls.has(id))
    .map(({ id }) => `${id} stands twice, or never was`)
  const found = new Map(rows.map(({ id, row }) => [id, row]))
  for (const [id, allowed] of calls) {
    const is = found.get(id) ?? 'none'
    if (!allowed.includes(is)) wrong.push(`${id} is ${is}, and may be ${allowed.join(' or ')}`)
  }
  const [left] = await sql<{ leases: number; open: number; lumps: number }[]>`SELECT
    (SELECT count(*)::int FROM leases WHERE journal_id = ${order.journalId}) AS leases,
    (SELECT count(*)::int FROM journals WHERE id = ${order.journalId} AND state = 'open') AS open,
    (SELECT count(*)::int FROM ledger WHERE journal_id = ${order.journalId} AND account_id IS NOT NULL) AS lumps`
  const files = segmentFiles(order.folder, order.journalId).length
  // A front that died before it made its journal known leaves a file and no row, or nothing.
  if (left === undefined || left.leases + left.open + left.lumps + files > 0)
    wrong.push(`left over: ${JSON.stringify({ ...left, files })}`)
  return wrong
}

function judge(proof: Proof, results: readonly Result[], what: string): void {
  const wrong = results.flatMap(({ plan, wrong: those }) =>
    those.map((one) => `${plan.front}/${plan.recovery} seed ${plan.seed} nth ${plan.nth}: ${one}`),
  )
  for (const line of wrong.slice(0, 20)) proof.say(line)
  const calls = results.reduce((sum, one) => sum + one.calls, 0)
  const killed = results.filter(({ wasKilled }) => wasKilled).length
  const found = `${wrong.length} wrong; ${results.length} fronts, ${killed} of them killed on the way, ${calls} calls`
  proof.check(
    `${what}: every call stands in the ledger once, as it was`,
    wrong.length === 0 && calls > 0,
    found,
  )
}

function reported(wrong: readonly unknown[]): string {
  return wrong.length === 0 ? '' : `: ${JSON.stringify(wrong.slice(0, 3))}`
}
