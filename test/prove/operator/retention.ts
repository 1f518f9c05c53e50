/** A day of history, millions of rows, goes while a node serves; the books and the audit log hold. */
import { setTimeout as after } from 'node:timers/promises'
import { startBurner } from '../../../bench/transfers/burner.ts'
import { startGateway, type Gateway } from '../../../bench/transfers/gateway.ts'
import { tinyLatency, type Latency } from '../../../bench/transfers/tiny.ts'
import { checkLedger } from '../../../src/server/store/money/repair/check.ts'
import { verifyAudit } from '../../../src/server/store/audit/audit-log.ts'
import { openStore, type Store } from '../../../src/server/store/base/open.ts'
import { runtimeOf } from '../../../src/server/supervisor/data-directory/data-directory.ts'
import { connected } from '../../support/wire/connected.ts'
import { must } from '../../support/must.ts'
import { until } from '../../support/nodes/node.ts'
import { coresOf, nodeCpu } from '../../support/load/node-cores.ts'
import { tree } from '../../support/load/process-cpu.ts'
import { median, type Program, type Proof } from '../proof.ts'
import {
  countHistory,
  plantHistory,
  type Counts,
  type History,
  type HistorySize,
} from './retention/history.ts'

const FULL: HistorySize = {
  ledger: 3_000_000,
  audit: 300_000,
  idempotency: 1_000_000,
  deliveries: 250_000,
  jobs: 500_000,
  young: 1_000,
}
const SHORT: HistorySize = {
  ledger: 20_000,
  audit: 1_500,
  idempotency: 2_500,
  deliveries: 1_000,
  jobs: 2_500,
  young: 50,
}
const SETTINGS = { SLUICE_LEDGER_KEPT_MONTHS: '1', SLUICE_AUDIT_KEPT_MONTHS: '1' }
/** The p99 of model reads may be this many times that next to a burner. */
const READS_RATIO_MAX = 2
const ROUNDS = 5
const ROUND_MS = 8_000
const WARM_MS = 3_000
const LOOK_MS = 100
/** A machine that does ten other things. */
const GIVE_UP_MS = 1_800_000
const GIVE_UP_SHORT_MS = 120_000

export const program: Program = {
  text: 'a day of history, millions of rows, pruned while model reads go on and past a kill of the runner; books and audit hold',
  async run(proof) {
    const gateway = await startGateway(SETTINGS)
    proof.after(() => gateway.stop())
    const store = await connected(
      openStore({
        url: runtimeOf(gateway.stand.dataDir)?.databaseUrl ?? '',
        poolMax: 2,
        applicationName: 'sluice-prove',
      }),
    )
    proof.after(() => store.close())
    await stopPruning(store)
    const history = await plantHistory(store, proof.isShort ? SHORT : FULL)
    const planted = sumOf(history.due)
    proof.check(
      'the books balance over the history',
      must(await checkLedger(store)).count === 0,
      `${planted.toLocaleString('en')} rows that are due`,
    )
    // The short form asserts no times.
    if (!proof.isShort) await beside(proof, gateway, store)
    const tookMs = await pruneAll(proof, gateway, store)
    await judge(proof, store, history)
    if (proof.isShort) await counted(proof, gateway, history)
    proof.say(`the rest took ${(tookMs / 1_000).toFixed(0)} s`)
  },
}

/** Takes the turn from the process that has it, for good. */
async function stopPruning({ sql }: Store): Promise<void> {
  await sql`UPDATE retention SET state = 'running', attempt = attempt + 1, lease_until = 'infinity'`
}

/** Leaves the turn to the node's runner. @returns once that has begun */
async function startPruning({ sql }: Store): Promise<void> {
  const [ours] = await sql<
    { attempt: number }[]
  >`UPDATE retention SET state = 'running', lease_until = clock_timestamp() - interval '1 s' RETURNING attempt`
  for (;;) {
    const [row] = await sql<{ attempt: number }[]>`SELECT attempt FROM retention`
    if ((row?.attempt ?? 0) > (ours?.attempt ?? 0)) return
    await after(LOOK_MS)
  }
}

async function isPruning({ sql }: Store): Promise<boolean> {
  const [row] = await sql<{ state: string }[]>`SELECT state FROM retention`
  return row?.state === 'running'
}

interface Round {
  readonly pruning: Latency
  readonly burner: Latency
  readonly cores: number
}

async function beside(proof: Proof, gateway: Gateway, store: Store): Promise<void> {
  await tinyLatency(gateway, WARM_MS)
  const rounds: Round[] = []
  let isAlways = true
  for (let nth = 0; nth < ROUNDS; nth++) {
    rounds.push(
      await round(gateway, store, (still) => {
        isAlways &&= still
      }),
    )
  }
  const failed = rounds.reduce((sum, { pruning, burner }) => sum + pruning.failed + burner.failed, 0)
  proof.check(
    'every model read beside pruning is answered, and it went on all the while',
    failed === 0 && isAlways,
    `${failed} failed`,
  )
  const ratio = median(rounds.map(({ pruning, burner }) => pruning.p99 / burner.p99))
  const p99 = (of: (one: Round) => Latency): string => median(rounds.map((one) => of(one).p99)).toFixed(1)
  proof.checkTimed(
    `p99 of model reads beside pruning is at most ${READS_RATIO_MAX} × that beside an equal burner`,
    ratio <= READS_RATIO_MAX,
    `${ratio.toFixed(2)} × (beside pruning ${p99(({ pruning }) => pruning)} ms, beside a burner ${p99(({ burner }) => burner)} ms; ` +
      `${rounds.length} rounds, pruning took ${rounds.map(({ cores }) => cores.toFixed(2)).join(', ')} cores)`,
  )
}

/** Pruning by the node's runner; then as much CPU that does nothing. */
async function round(gateway: Gateway, store: Store, went: (still: boolean) => void): Promise<Round> {
  const used = await nodeCpu(gateway.stand.pid, store)
  const idle = await coresOf(used, () => tinyLatency(gateway, ROUND_MS / 2))
  await startPruning(store)
  const pruning = await coresOf(used, () => tinyLatency(gateway, ROUND_MS))
  went(await isPruning(store))
  await stopPruning(store)
  const cores = Math.max(0.1, pruning.cores - idle.cores)
  const stop = await startBurner({ cores, isDetached: true })
  const burner = await tinyLatency(gateway, ROUND_MS)
  await stop()
  return { pruning: pruning.value, burner, cores }
}

/**
 * To the end; in the long form past a runner that is killed in the middle, whose lease has to run out.
 * @returns milliseconds
 */
async function pruneAll(proof: Proof, gateway: Gateway, store: Store): Promise<number> {
  const startedAt = performance.now()
  const failedBefore = failedKinds(gateway)
  const endsAt = startedAt + (proof.isShort ? GIVE_UP_SHORT_MS : GIVE_UP_MS)
  await startPruning(store)
  const killed = proof.isShort
    ? []
    : tree(gateway.stand.pid).filter(({ arguments: words }) =>
        /(^|[ /])sluice runner /.test(`${words.join(' ')} `),
      )
  for (const { pid } of killed) process.kill(pid, 'SIGKILL')
  if (!proof.isShort)
    proof.check('a runner is killed while it prunes', killed.length === 1, `${killed.length} killed`)
  await untilPruned(store, endsAt)
  // A kind that fails, as when its month is read while it is dropped, is left to the next run. On a machine that
  // does ten other things the short form grants it one.
  if (proof.isShort && failedKinds(gateway) > failedBefore) {
    proof.say('a kind failed, and has a second run')
    await startPruning(store)
    await untilPruned(store, endsAt)
  }
  return performance.now() - startedAt
}

async function untilPruned(store: Store, endsAt: number): Promise<void> {
  while (performance.now() < endsAt && (await isPruning(store))) await after(LOOK_MS)
}

/** Failures of a kind that the node has logged so far. */
function failedKinds({ stand }: Gateway): number {
  return stand.output().split('"event":"retention_failed"').length - 1
}

async function judge(proof: Proof, store: Store, history: History): Promise<void> {
  const left = await countHistory(store)
  proof.check('all that is due is gone', sumOf(left.due) === 0, reported(left.due))
  proof.check(
    'all that is young is kept',
    reported(left.kept) === reported(history.kept),
    reported(left.kept),
  )
  const { count, sums } = must(await checkLedger(store))
  proof.check(
    'the books balance, with the sums of dropped months carried over',
    count === 0 && sums.prunedNano === history.spentNano,
    `${count} differences, ${sums.prunedNano} nano-USD of ${history.spentNano}`,
  )
  const { checked, faults } = must(await verifyAudit(store, null))
  proof.check(
    'the audit log is whole from where it was pruned on',
    faults.length === 0,
    `${checked} events, ${faults.length} faults`,
  )
}

function sumOf(counts: Counts): number {
  return Object.values(counts).reduce((all, rows) => all + rows, 0)
}

function reported(counts: Counts): string {
  return Object.entries(counts)
    .map(([table, rows]) => `${table} ${rows.toLocaleString('en')}`)
    .join(', ')
}

/** A runner that was killed takes the last of its figures along; one that was not says all of them. */
async function counted(proof: Proof, { stand }: Gateway, { due }: History): Promise<void> {
  let text = ''
  const of = (kind: string): number =>
    Number(
      new RegExp(`^sluice_pruned_rows_total\\{kind="${kind}"\\} (\\d+)$`, 'm').exec(text)?.[1] ?? Number.NaN,
    )
  // A runner that does not answer at once is left out of an answer.
  const isRight = await until('the metrics say all', async () => {
    ;({ text } = await stand.admin('/metrics'))
    return (
      of('ledger') === due['ledger'] &&
      of('audit') === due['audit'] &&
      of('idempotency') === due['idempotency'] &&
      of('webhooks') + of('dead_letters') === due['webhook_deliveries'] &&
      of('jobs') === due['video_jobs']
    )
  }).then(
    () => true,
    () => false,
  )
  proof.check(
    'the metrics say how many of each kind',
    isRight,
    [...text.matchAll(/^sluice_pruned_rows_total.*$/gm)].map(([line]) => line).join('; '),
  )
}
