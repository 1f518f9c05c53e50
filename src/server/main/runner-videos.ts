import { VIDEO_EXPIRE_MS } from '../../schemas/videos/video-limits.ts'
import { createIntake } from '../../workers/sessions/intake.ts'
import { openPools } from '../../workers/pool.ts'
import { loadCatalogue } from '../catalogue/load.ts'
import { SHIPPED_CATALOGUE } from '../catalogue/shipped.ts'
import type { Config } from '../config.ts'
import type { Metrics } from '../observe/metrics.ts'
import { createVideoMeters, watchHeldVideos } from '../observe/video-metrics.ts'
import type { Egress } from '../ports/egress/egress.ts'
import type { KeyRing } from '../ports/vault/key-ring.ts'
import type { Log } from '../ports/observe.ts'
import type { RetentionMeters } from '../ports/operator/retention.ts'
import type { Storage } from '../ports/files/storage.ts'
import { repeat } from '../runner/repeat.ts'
import { openVideoEngine } from '../runner/videos/engine.ts'
import { expireClips } from '../runner/videos/expire-clips.ts'
import { publishHint } from '../redis/hints.ts'
import type { State } from '../redis/open.ts'
import { openPollBudget } from '../redis/poll-budget.ts'
import { openRateAuthority } from '../redis/rates.ts'
import type { RunningVideoViews } from '../redis/video-views.ts'
import type { Store } from '../store/base/open.ts'
import { startRunnerHeartbeat } from '../store/nodes/runners.ts'
import { openVideoWork } from '../store/videos/work.ts'
import type { StartedPart } from '../supervisor/fleet/ipc.ts'
import { createVideoClips } from '../files/clips.ts'
import { createVideoProviders } from '../upstream/videos/video-providers.ts'
import type { RootKeys } from '../vault/root-keys.ts'
import { credentialsOf } from './child.ts'
import { openVaultPorts } from './vault.ts'
import { endsOf } from './videos.ts'

export interface RunnerVideoDeps {
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
}

/** Short jobs of a runner that wait for a thread of their kind: rendering clips, or opening secrets. */
const SHORT_JOBS_WAITING_MAX = 256

/**
 * Works on video jobs, and removes clips whose time is over.
 * @returns a function that ends the work, to be called before the gate and the stores are closed
 */
export function startVideos(config: Config, deps: RunnerVideoDeps): (endMsMax: number) => Promise<void> {
  const { part, store, state, views, storage, egress, rootKeys, keyRing, log, metrics, retention } = deps
  const loaded = loadCatalogue({ shippedFile: SHIPPED_CATALOGUE, extraFile: config.catalogFile })
  if (!loaded.ok) throw new Error(`the catalogue has ${loaded.problems.length} mistakes`)
  const { catalogue } = loaded
  const pools = openPools({
    shortThreads: 1,
    sessionThreads: part.sessionThreads,
    queueMax: SHORT_JOBS_WAITING_MAX,
    isBackground: true,
    log,
  })
  const { sessions, jobs } = pools
  // Rendering a clip takes seconds: opening a credential has a thread of its own and does not wait for that.
  const opening = openPools({ shortThreads: 1, sessionThreads: 0, queueMax: SHORT_JOBS_WAITING_MAX, log })
  const vault = openVaultPorts({
    store,
    rootKeys,
    jobs: opening.jobs,
    log,
    publish: (change) => publishHint(state, change),
  })
  const now = (): number => performance.now()
  const heartbeat = startRunnerHeartbeat({ runnerId: part.id, store, log })
  const work = openVideoWork(store, endsOf(config, log))
  const engine = openVideoEngine({
    work,
    views,
    log,
    providers: createVideoProviders({
      catalogue,
      egress,
      jobs,
      credentials: credentialsOf(part),
      releases: vault.ports.releases,
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
    clock: { now, after },
    random: Math.random,
  })
  watchHeldVideos(metrics.registry, () => engine.held)
  metrics.live.add({ heldVideos: () => engine.held })
  metrics.watch({ shortJobsWaiting: () => pools.shortJobsWaiting + opening.shortJobsWaiting })
  const stopRefreshing = state.onChange((isReachable) => {
    if (isReachable) engine.refreshViews()
  })
  let isEnding = false
  const stopExpiry = repeat(
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
  return async (endMsMax) => {
    isEnding = true
    stopRefreshing()
    await Promise.all([engine.close(endMsMax), stopExpiry()])
    await Promise.all([heartbeat.close(), vault.close()])
    await Promise.all([pools.close(), opening.close()])
  }
}

function after(ms: number, run: () => void): () => void {
  const timer = setTimeout(run, ms)
  return () => clearTimeout(timer)
}
