/** Rolling restarts and other numbers of fronts and threads, under a load that must not notice. */
import { startMixedLoad, type MixedLoad } from '../../../bench/mixed/load.ts'
import { MIXED_KINDS, MIXED_STATUSES, type MixedKind } from '../../../bench/mixed/mix.ts'
import { startMixedStand } from '../../../bench/mixed/stand.ts'
import { listenerMigrationIsOn } from '../../../src/server/supervisor/checks.ts'
import { startLoad, type RunningLoad } from '../../support/load/load.ts'
import { monotonicMs, type LoadRequest, type LoadResult } from '../../support/load/load-plan.ts'
import { pause } from '../../support/nodes/spawned.ts'
import type { Stand } from '../../support/nodes/stand.ts'
import { tally, type Program, type Proof } from '../proof.ts'

const ROLLS = 20
const SCALES = 10
/** Requests a second of all kinds of the mix: four of a hundred are uploads of megabytes. */
const MIXED_PER_S = 100
const MIXED_PER_S_SHORT = 8
const FRESH_CONNECTIONS = 8
const FRESH_EVERY_MS = 50
const FRESH_EVERY_MS_SHORT = 400
/** Of new connections, where the kernel does not hand them on. C29. */
const FRESH_FAILURES_SHARE = 1 / 10_000
const GONE_MS_MAX = 240_000
/** Milliseconds for what a slow machine has not sent and answered yet, in the short form. */
const PATIENCE_MS = 240_000

/**
 * Threads enough for each front to have two: then a front that stays is spared. Numbers that share them
 * otherwise replace it.
 */
const WISHES = [
  [3, 6],
  [2, 4],
  [1, 4],
  [3, 3],
  [2, 2],
  [4, 8],
  [1, 1],
  [2, 5],
  [3, 6],
  [2, 4],
] as const

export const program: Program = {
  text: 'Rolling restarts and other numbers of fronts and threads under a mixed load fail no request',
  async run(proof) {
    const stand = await startMixedStand({ settings: { SLUICE_FRONTS: '2', SLUICE_WORKERS: '4' } })
    proof.after(() => stand.stop())
    const loads = await startLoads(stand, proof)
    await (proof.isShort ? shortChanges(proof, stand) : changes(proof, stand))
    await untilGone(proof, stand)
    const [{ kinds }, fresh] = await Promise.all([loads.mixed.stop(), loads.fresh.stop()])
    for (const kind of MIXED_KINDS) judgeKept(proof, kind, kinds[kind])
    judgeFresh(proof, { ...kinds, fresh })
    const { status } = await stand.admin('/readyz')
    proof.check('the node is ready at the end', status === 200, String(status))
  },
}

/** Each third change is another number. */
async function changes(proof: Proof, stand: Stand): Promise<void> {
  for (let round = 0; round < ROLLS + SCALES; round++) {
    const input = WISHES[Math.floor(round / 3)]
    if (round % 3 === 2 && input !== undefined) await scale(proof, stand, input)
    else await roll(proof, stand)
  }
}

/** What fits without waiting for replaced fronts: Postgres has connections for twice the larger number. */
async function shortChanges(proof: Proof, stand: Stand): Promise<void> {
  await roll(proof, stand)
  await scale(proof, stand, [3, 6])
  await scale(proof, stand, [2, 4])
}

async function roll(proof: Proof, stand: Stand): Promise<void> {
  const before = new Set(stand.fronts())
  const startedAt = monotonicMs()
  await stand.cli('reload')
  const { ready } = await counts(stand)
  const isNew = stand.fronts().filter((pid) => !before.has(pid)).length >= ready
  proof.say(`reload: ${ready} fronts after ${seconds(startedAt)}`)
  if (!isNew)
    proof.check('a reload replaces every front', false, `${ready} ready, fronts ${stand.fronts().join(', ')}`)
}

async function scale(
  proof: Proof,
  stand: Stand,
  [fronts, workers]: readonly [number, number],
): Promise<void> {
  const startedAt = monotonicMs()
  const answer = await stand.cli('scale', '--fronts', String(fronts), '--workers', String(workers))
  let { ready } = await counts(stand)
  // A front that stands still for some heartbeats is not ready meanwhile.
  for (const endsAt = monotonicMs() + GONE_MS_MAX; ready !== fronts && monotonicMs() < endsAt;) {
    await pause(100)
    ;({ ready } = await counts(stand))
  }
  proof.check(
    `scale to ${fronts} fronts and ${workers} threads`,
    answer['fronts'] === fronts && answer['workers'] === workers && ready === fronts,
    `${ready} serve after ${seconds(startedAt)}`,
  )
}

async function counts(stand: Stand): Promise<{ readonly ready: number; readonly wanted: number }> {
  return (JSON.parse((await stand.admin('/readyz')).text) as { fronts: { ready: number; wanted: number } })
    .fronts
}

/** The load goes on until the last replaced front has let go of its last connection. */
async function untilGone(proof: Proof, stand: Stand): Promise<void> {
  const { wanted } = await counts(stand)
  const endsAt = monotonicMs() + GONE_MS_MAX
  while (stand.fronts().length !== wanted && monotonicMs() < endsAt) await pause(100)
  proof.check(
    'replaced fronts end',
    stand.fronts().length === wanted,
    `${stand.fronts().length} run, ${wanted} should`,
  )
}

interface Loads {
  readonly mixed: MixedLoad
  /** A connection of its own for each embeddings call or read. */
  readonly fresh: RunningLoad
}

async function startLoads(stand: Stand, proof: Proof): Promise<Loads> {
  const get: LoadRequest = { ...stand.embeddings(), method: 'GET', path: '/api/v1/models/count', body: '' }
  return {
    mixed: await startMixedLoad(stand, {
      ratePerS: proof.isShort ? MIXED_PER_S_SHORT : MIXED_PER_S,
      seed: proof.seed,
      ...(proof.isShort && { patienceMs: PATIENCE_MS }),
    }),
    fresh: await startLoad({
      host: '127.0.0.1',
      port: stand.port,
      connections: FRESH_CONNECTIONS,
      durationMs: 3_600_000,
      pace: { kind: 'closed' },
      requests: [...Array.from({ length: 18 }, () => stand.embeddings()), get],
      isInTurn: true,
      freshEveryMs: proof.isShort ? FRESH_EVERY_MS_SHORT : FRESH_EVERY_MS,
      ...(proof.isShort && { answerTimeoutMs: PATIENCE_MS }),
    }),
  }
}

/** A first request on its connection that failed is one of a new connection, whatever the load keeps. */
function failuresOf(result: LoadResult): { readonly kept: number; readonly fresh: number } {
  const cut = result.sockets.filter(({ isCut }) => isCut)
  const kept = cut.filter(({ answers }) => answers > 0).length
  return { kept, fresh: (result.statuses[0] ?? 0) - result.unsent - kept }
}

function othersOf(kind: MixedKind | 'fresh', { statuses }: LoadResult): readonly string[] {
  const good = kind === 'fresh' ? 200 : MIXED_STATUSES[kind]
  return Object.keys(statuses).filter((status) => status !== '0' && status !== String(good))
}

function judgeKept(proof: Proof, kind: MixedKind, result: LoadResult): void {
  const { kept } = failuresOf(result)
  proof.check(
    `${kind}: no request fails on a keep-alive connection`,
    result.requests > 0 && kept === 0 && result.unsent === 0 && othersOf(kind, result).length === 0,
    `${tally(result.statuses)}${result.failures.length === 0 ? '' : `, ${result.failures.join(', ')}`}; ${result.sockets.length} connections`,
  )
}

function judgeFresh(proof: Proof, results: Readonly<Record<MixedKind | 'fresh', LoadResult>>): void {
  const all = Object.values(results)
  const made = all.reduce((sum, { sockets }) => sum + sockets.length, 0)
  const failed = all.reduce((sum, result) => sum + failuresOf(result).fresh, 0)
  const isMigrating = listenerMigrationIsOn()
  // A short run makes too few to give a share.
  const most = isMigrating ? 0 : Math.max(1, Math.floor(made * FRESH_FAILURES_SHARE))
  const others = othersOf('fresh', results.fresh)
  proof.check(
    `new connections ${isMigrating ? 'with tcp_migrate_req: none fails' : 'without tcp_migrate_req: at most 1 in 10,000 fails'}`,
    made > 0 && failed <= most && others.length === 0,
    `${failed} of ${made.toLocaleString('en')}`,
  )
}

function seconds(since: number): string {
  return `${((monotonicMs() - since) / 1_000).toFixed(1)} s`
}
