import { SWEEP_MS, SWEEP_UPLOADS_MS } from '../../schemas/files/file-limits.ts'
import { DRAIN_MS } from '../../schemas/limits/limits.ts'
import { VIDEO_EXPIRE_MS } from '../../schemas/videos/video-limits.ts'
import { createIntake } from '../../workers/sessions/intake.ts'
import { openThreads, type Pools } from '../../workers/thread-pools.ts'
import type { Config } from '../config.ts'
import { createMetrics, type Metrics } from '../observe/metrics.ts'
import { watchMetrics } from '../observe/read-metrics.ts'
import { HELD_VIDEOS } from '../observe/read-table.ts'
import type { Log } from '../ports/observe.ts'
import type { Storage } from '../ports/files/storage.ts'
import { repeat } from '../runner/repeat.ts'
import { sweep } from '../runner/sweep.ts'
import { openState, type State } from '../redis/open.ts'
import { openVideoViews, type RunningVideoViews } from '../redis/video-views.ts'
import { openDataKeys } from '../store/vault/data-keys.ts'
import { ensureRequestDays } from '../store/requests/request-days.ts'
import { ensurePartitions } from '../store/money/lending/partitions.ts'
import { openStore, type Store } from '../store/base/open.ts'
import { keepHistoryHour, pruneHistoryHours } from '../store/operator/history-hours.ts'
import { pruneFronts, pruneInvalidations } from '../store/lifecycle/prune.ts'
import { type LookForOpen, openRowsLook } from '../store/lifecycle/open-rows.ts'
import { pruneRunners, type RunnerHeartbeat, startRunnerHeartbeat } from '../store/nodes/runners.ts'
import { endDeletedVideos } from '../store/videos/removal.ts'
import type { Channel } from '../supervisor/fleet/channel.ts'
import type { StartedPart } from '../supervisor/fleet/ipc.ts'
import { RUNNER_POOL_MAX } from '../supervisor/fleet/shares.ts'
import { openKeyRing } from '../vault/key-ring.ts'
import { watchAdminPorts } from '../store/nodes/admin-ports.ts'
import type { LoadedCatalogue } from '../catalogue/load.ts'
import { createRetentionMeters, createVideoMeters } from '../observe/runner-metrics.ts'
import type { Egress } from '../ports/egress/egress.ts'
import type { KeyRing } from '../ports/vault/key-ring.ts'
import type { SecretReleases } from '../ports/vault/vault.ts'
import type { VideoWork } from '../ports/videos/video-work.ts'
import type { RetentionMeters } from '../ports/operator/retention.ts'
import { restingClaim } from '../runner/resting-claims.ts'
import { atNext } from '../structures/ticks.ts'
import { openVideoEngine, type VideoEngine } from '../runner/videos/engine.ts'
import { expireClips } from '../runner/videos/expire-clips.ts'
import { publishHint } from '../redis/hints.ts'
import { openPollBudget } from '../redis/poll-budget.ts'
import { openRateAuthority } from '../redis/rates.ts'
import { openVideoWork } from '../store/videos/work.ts'
import { createVideoClips } from '../files/clips.ts'
import { createVideoProviders } from '../upstream/videos/video-providers.ts'
import type { RootKeys } from '../vault/root-keys.ts'
import { childLog, configOfPart, operatorKeysOf, stateAddress, catalogueOf } from './child.ts'
import { startDirectory } from './scim.ts'
import { openGate } from './egress.ts'
import { rootKeysOf } from './files.ts'
import { startRequestLog } from './requests.ts'
import { startRetention } from './retention.ts'
import { openStorage } from './storage.ts'
import { sweepDeps } from './sweep.ts'
import { startWebhooks } from './webhooks.ts'
import { openVaultPorts } from './vault.ts'
import { endsOf } from './videos.ts'
import { ensureGenerationDays } from '../store/inference/generations.ts'
import { keepSweep } from '../store/operator/storage.ts'

/** Milliseconds between two rounds of pruning. Decision. */
const PRUNE_MS = 60_000
/** Milliseconds between two checks for months that the ledger needs soon. Decision. */
const LEDGER_MONTHS_MS = 3_600_000

/** Milliseconds between two checks for days that records of calls and the request log need soon. Decision. */
const RECORD_DAYS_MS = 3_600_000

/** Milliseconds of a drain that are reserved for closing the parts that jobs used. */
const CLOSE_MS = 4_000

/** Runs video jobs, webhooks and housekeeping, which must continue even without any calls. */
export async function runRunner(part: StartedPart, channel: Channel): Promise<void> {
  const config = configOfPart(part)
  const log = childLog(part, channel)
  const metrics = createMetrics()
  const applicationName = `sluice-runner-${part.slot}`
  const store = openStore({ url: part.databaseUrl, poolMax: RUNNER_POOL_MAX, applicationName })
  const storage = await openStorage(config)
  const stopChores = startChores(config, { part, store, storage, log, onSweep: channel.onSweep })
  const retention = createRetentionMeters(metrics.registry, Date.now)
  const stopRetention = startRetention(config, { store, log, meters: retention })
  const stopRequests = startRequestLog(config, { slot: part.slot, store, metrics, log })
  const state = openState({ ...stateAddress(part.redis), log })
  const views = openVideoViews(state)
  const adminPorts = watchAdminPorts(store, config.adminPort)
  const egress = openGate(config, adminPorts)
  const rootKeys = rootKeysOf(config)
  const keyRing = openKeyRing({ rootKeys, rows: openDataKeys(store) })
  const lookForOpen = openRowsLook(store)
  const stopVideos = startVideos(config, {
    part,
    store,
    state,
    views,
    storage,
    egress,
    rootKeys,
    keyRing,
    log,
    metrics,
    retention,
    lookForOpen,
  })
  const stopDirectory = startDirectory({ store, lookForOpen, log })
  const stopWebhooks = startWebhooks({ store, lookForOpen, egress, keyRing, views, log, metrics })
  metrics.watch({
    logLinesDropped: () => log.dropped,
    redisRefusals: () => state.refusals,
    degraded: () => ({ redis: !state.isReachable }),
  })
  channel.onSnapshot(() => metrics.snapshot())
  channel.onLook(() => metrics.live.read())
  channel.onRollUp((hour) =>
    keepHistoryHour(store.sql, part.node, hour).then(
      () => true,
      (cause: unknown) => {
        log.warn('history_hour_failed', { cause })
        return false
      },
    ),
  )
  channel.onDrain(() => {
    void Promise.all([
      stopChores(),
      stopRetention(),
      stopRequests(),
      stopWebhooks(),
      stopDirectory(),
      stopVideos(DRAIN_MS - CLOSE_MS),
    ])
      .then(() => Promise.all([egress.close(), views.close(), adminPorts.close()]))
      .then(() => Promise.all([store.close(), storage.close(), state.close()]))
      .finally(() => process.exit(0))
  })
  channel.tell({ kind: 'ready', hasStore: true })
}

interface ChoreDeps {
  readonly part: Pick<StartedPart, 'node' | 'slot'>
  readonly store: Store
  readonly storage: Storage
  readonly log: Log
  readonly onSweep: Channel['onSweep']
}

/** @returns a function that stops the chores and waits for those under way */
function startChores(config: Config, { part, store, storage, log, onSweep }: ChoreDeps): () => Promise<void> {
  const deps = { log, random: Math.random }
  let isEnding = false
  const swept = { ...sweepDeps(config, { store, storage }), isEnding: () => isEnding }
  const sweepEvery = (everyMs: number, isUploadsOnly: boolean) =>
    repeat(
      {
        name: 'swept',
        everyMs,
        ...(isUploadsOnly && { onRequest: onSweep }),
        async run() {
          const { report, failures } = await sweep(swept, { isUploadsOnly })
          for (const { name, ...why } of failures) log.warn('sweep_failed', { failure: name, ...why })
          if (!isUploadsOnly && !isEnding) {
            await keepSweep(store.sql, part, { ...report }).catch((cause: unknown) =>
              log.warn('sweep_report_failed', { cause }),
            )
          }
          return { ...report }
        },
      },
      deps,
    )
  const stops = [
    repeat(
      {
        name: 'pruned',
        everyMs: PRUNE_MS,
        run: async () => ({
          invalidations: await pruneInvalidations(store.sql),
          fronts: await pruneFronts(store.sql, config.keyGraceMs),
          runners: await pruneRunners(store.sql),
          history_hours: await pruneHistoryHours(store.sql),
          video_jobs_ended: await endDeletedVideos(store, log),
        }),
      },
      deps,
    ),
    repeat(
      {
        name: 'ledger_months',
        everyMs: LEDGER_MONTHS_MS,
        run: async () => ({ ...(await ensurePartitions(store)) }),
      },
      deps,
    ),
    repeat(
      {
        name: 'record_days',
        everyMs: RECORD_DAYS_MS,
        run: () => ensureRecordDays(store),
      },
      deps,
    ),
    sweepEvery(SWEEP_UPLOADS_MS, true),
    sweepEvery(SWEEP_MS, false),
  ]
  return async () => {
    isEnding = true
    await Promise.all(stops.map((stop) => stop()))
  }
}

async function ensureRecordDays(store: Store): Promise<Readonly<Record<string, number>>> {
  const [generations, requests] = [await ensureGenerationDays(store), await ensureRequestDays(store)]
  return { generations: generations.partitions, requests: requests.partitions }
}

interface RunnerVideoDeps {
  readonly part: StartedPart
  readonly store: Store
  readonly state: State
  readonly views: RunningVideoViews
  readonly storage: Storage
  readonly egress: Egress
  readonly rootKeys: RootKeys
  readonly keyRing: KeyRing
  readonly log: Log
  readonly metrics: Metrics
  readonly retention: Pick<RetentionMeters, 'pruned'>
  readonly lookForOpen: LookForOpen
}

/**
 * Works on video jobs, and removes expired clips.
 * @returns a function that ends the work, to be called before the gate and the stores are closed
 */
function startVideos(config: Config, deps: RunnerVideoDeps): (endMsMax: number) => Promise<void> {
  const { part, store, state, storage, rootKeys, log, metrics } = deps
  const catalogue = catalogueOf(config)
  const { pools, opening } = poolsOf(part, log)
  const vault = openVaultPorts({
    store,
    rootKeys,
    jobs: opening.jobs,
    log,
    publish: (change) => publishHint(state, change),
  })
  const heartbeat = startRunnerHeartbeat({ runnerId: part.id, store, log })
  const work = openVideoWork(store, endsOf(config, log))
  const { releases } = vault.ports
  const engine = engineOf(deps, { catalogue, pools, releases, heartbeat, work })
  watchMetrics(metrics.registry, HELD_VIDEOS, () => engine.held)
  metrics.live.add({ heldVideos: () => engine.held })
  metrics.watch({ shortJobsWaiting: () => pools.shortJobsWaiting + opening.shortJobsWaiting })
  const stopRefreshing = state.onChange((isReachable) => {
    if (isReachable) engine.refreshViews()
  })
  const stopExpiry = startExpiry(work, storage, deps)
  return async (endMsMax) => {
    stopRefreshing()
    await Promise.all([engine.close(endMsMax), stopExpiry()])
    await Promise.all([heartbeat.close(), vault.close()])
    await Promise.all([pools.close(), opening.close()])
  }
}

/** Short jobs of a runner that wait for a thread of their kind: rendering clips, or opening secrets. */
const SHORT_JOBS_WAITING_MAX = 256

interface Threads {
  readonly pools: Pools
  readonly opening: Pools
}

/** The threads of a runner. Rendering a clip takes seconds, so that opening a credential has a separate thread and need not wait. */
function poolsOf({ sessionThreads }: StartedPart, log: Log): Threads {
  const queueMax = SHORT_JOBS_WAITING_MAX
  return {
    pools: openThreads({ shortThreads: 1, sessionThreads, queueMax, isBackground: true, log }),
    opening: openThreads({ shortThreads: 1, sessionThreads: 0, queueMax, isLazy: true, log }),
  }
}

interface EngineInput extends Pick<Threads, 'pools'> {
  readonly catalogue: LoadedCatalogue['catalogue']
  readonly releases: SecretReleases
  readonly heartbeat: RunnerHeartbeat
  readonly work: VideoWork
}

function engineOf(deps: RunnerVideoDeps, input: EngineInput): VideoEngine {
  const { part, state, views, storage, egress, keyRing, log, metrics, lookForOpen } = deps
  const { catalogue, releases, heartbeat, work } = input
  const { sessions, jobs } = input.pools
  const now = (): number => performance.now()
  const claim = restingClaim({
    claim: work.claim,
    isOpen: () => lookForOpen('videos'),
    nothing: [],
    isNothing: (found) => found.length === 0,
  })
  return openVideoEngine({
    work: { ...work, claim },
    views,
    log,
    providers: createVideoProviders({
      catalogue,
      egress,
      jobs,
      credentials: operatorKeysOf(part, catalogue).usable,
      releases,
      now,
    }),
    clips: createVideoClips({
      storage,
      keyRing,
      intake: createIntake({ sessions, failureOf: storage.failureOf }),
    }),
    polls: openPollBudget({ authority: openRateAuthority(state), runners: heartbeat, now }),
    meters: createVideoMeters(
      metrics,
      catalogue.providers.map(({ slug }) => slug),
    ),
    clock: { now, after, atNext },
    random: Math.random,
  })
}

/** Removes expired clips. @returns a function that stops it */
function startExpiry(
  work: VideoWork,
  storage: Storage,
  { retention, log }: Pick<RunnerVideoDeps, 'retention' | 'log'>,
): () => Promise<void> {
  let isEnding = false
  const stop = repeat(
    {
      name: 'video.expired',
      everyMs: VIDEO_EXPIRE_MS,
      async run() {
        const clips = await expireClips(work, storage, () => isEnding)
        retention.pruned('clips', clips)
        return { clips }
      },
    },
    { log, random: Math.random },
  )
  return () => {
    isEnding = true
    return stop()
  }
}

function after(ms: number, run: () => void): () => void {
  const timer = setTimeout(run, ms)
  return () => clearTimeout(timer)
}
