import { SWEEP_MS, SWEEP_UPLOADS_MS } from '../../schemas/files/file-limits.ts'
import { DRAIN_MS } from '../../schemas/limits/limits.ts'
import type { Config } from '../config.ts'
import { createMetrics } from '../observe/metrics.ts'
import { createRetentionMeters } from '../observe/retention-metrics.ts'
import type { Log } from '../ports/observe.ts'
import type { Storage } from '../ports/files/storage.ts'
import { repeat } from '../runner/repeat.ts'
import { sweep } from '../runner/sweep.ts'
import { openState } from '../redis/open.ts'
import { openVideoViews } from '../redis/video-views.ts'
import { keepSweep } from '../store/operator/sweeps.ts'
import { openDataKeys } from '../store/vault/data-keys.ts'
import { ensureGenerationDays } from '../store/inference/generation-days.ts'
import { ensureRequestDays } from '../store/requests/request-days.ts'
import { ensurePartitions } from '../store/money/lending/partitions.ts'
import { openStore, type Store } from '../store/base/open.ts'
import { keepHistoryHour, pruneHistoryHours } from '../store/operator/history-hours.ts'
import { pruneFronts, pruneInvalidations } from '../store/lifecycle/prune.ts'
import { openRowsLook } from '../store/lifecycle/open-rows.ts'
import { pruneRunners } from '../store/nodes/runners.ts'
import { endDeletedVideos } from '../store/videos/removal.ts'
import type { Channel } from '../supervisor/fleet/channel.ts'
import type { StartedPart } from '../supervisor/fleet/ipc.ts'
import { RUNNER_POOL_MAX } from '../supervisor/fleet/shares.ts'
import { openKeyRing } from '../vault/key-ring.ts'
import { childLog, configOfPart, stateAddress } from './child.ts'
import { startDirectory } from './scim.ts'
import { watchAdminPorts } from '../store/nodes/admin-ports.ts'
import { openGate } from './egress.ts'
import { rootKeysOf } from './files.ts'
import { startVideos } from './runner-videos.ts'
import { startRequestLog } from './requests.ts'
import { startRetention } from './retention.ts'
import { openStorage } from './storage.ts'
import { sweepDeps } from './sweep.ts'
import { startWebhooks } from './webhooks.ts'

/** Milliseconds between two rounds of pruning. Decision. */
const PRUNE_MS = 60_000
/** Milliseconds between two looks for months that the ledger needs soon. Decision. */
const LEDGER_MONTHS_MS = 3_600_000

/** Milliseconds between two looks for days that records of calls and the request log need soon. Decision. */
const RECORD_DAYS_MS = 3_600_000

/** Milliseconds of a drain that are left for closing the parts that jobs used. */
const CLOSE_MS = 4_000

/** Runs video jobs, webhooks and housekeeping, which must go on without any calls. */
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
