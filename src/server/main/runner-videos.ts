import { VIDEO_EXPIRE_MS } from '../../schemas/videos/video-limits.ts'
import { createIntake } from '../../workers/sessions/intake.ts'
import { openThreads, type Pools } from '../../workers/thread-pools.ts'
import type { LoadedCatalogue } from '../catalogue/load.ts'
import type { Config } from '../config.ts'
import type { Metrics } from '../observe/metrics.ts'
import { createVideoMeters, watchHeldVideos } from '../observe/video-metrics.ts'
import type { Egress } from '../ports/egress/egress.ts'
import type { KeyRing } from '../ports/vault/key-ring.ts'
import type { SecretReleases } from '../ports/vault/vault.ts'
import type { VideoWork } from '../ports/videos/video-work.ts'
import type { Log } from '../ports/observe.ts'
import type { RetentionMeters } from '../ports/operator/retention.ts'
import type { Storage } from '../ports/files/storage.ts'
import { repeat } from '../runner/repeat.ts'
import { restingClaim } from '../runner/resting-claims.ts'
import { atNext } from '../structures/ticks.ts'
import type { LookForOpen } from '../store/lifecycle/open-rows.ts'
import { openVideoEngine, type VideoEngine } from '../runner/videos/engine.ts'
import { expireClips } from '../runner/videos/expire-clips.ts'
import { publishHint } from '../redis/hints.ts'
import type { State } from '../redis/open.ts'
import { openPollBudget } from '../redis/poll-budget.ts'
import { openRateAuthority } from '../redis/rates.ts'
import type { RunningVideoViews } from '../redis/video-views.ts'
import type { Store } from '../store/base/open.ts'
import { startRunnerHeartbeat, type RunnerHeartbeat } from '../store/nodes/runners.ts'
import { openVideoWork } from '../store/videos/work.ts'
import type { StartedPart } from '../supervisor/fleet/ipc.ts'
import { createVideoClips } from '../files/clips.ts'
import { createVideoProviders } from '../upstream/videos/video-providers.ts'
import type { RootKeys } from '../vault/root-keys.ts'
import { catalogueOf } from './child-catalogue.ts'
import { operatorKeysOf } from './child.ts'
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
  readonly lookForOpen: LookForOpen
}

/** Short jobs of a runner that wait for a thread of their kind: rendering clips, or opening secrets. */
const SHORT_JOBS_WAITING_MAX = 256

/**
 * Works on video jobs, and removes clips whose time is over.
 * @returns a function that ends the work, to be called before the gate and the stores are closed
 */
export function startVideos(config: Config, deps: RunnerVideoDeps): (endMsMax: number) => Promise<void> {
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
  watchHeldVideos(metrics.registry, () => engine.held)
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

interface Threads {
  readonly pools: Pools
  readonly opening: Pools
}

/**
 * Rendering a clip takes seconds: opening a credential has a thread of its own and does not wait for that.
 */
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

/** Removes clips whose time is over. @returns a function that ends the removal */
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
