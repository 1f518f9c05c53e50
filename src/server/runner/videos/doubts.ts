import { VIDEO_CALL_MS_MAX } from '../../../schemas/videos/video-limits.ts'
import type { VideoEngineDeps } from './engine-deps.ts'
import type { HeldJob } from './held-job.ts'

/**
 * Jobs that are looked at later, and in one round. Those beyond are left to their pollers' luck. Decision.
 */
const DOUBTS_MAX = 10_000
const LOOKED_AT_ONCE = 200

/**
 * Jobs that went out of our hands, and nobody told how. If one has ended, its pollers must see that, and a
 * provider that still makes one which was cancelled, or has expired, is asked to stop.
 */
export class Doubts {
  readonly #deps: VideoEngineDeps
  readonly #jobs = new Map<string, HeldJob>()
  #isLooking = false

  constructor(deps: VideoEngineDeps) {
    this.#deps = deps
  }

  add(job: HeldJob): void {
    // Of one that was cancelled all is known, and its provider is told when its step is over.
    if (!job.isCancelled && this.#jobs.size < DOUBTS_MAX) this.#jobs.set(job.id, job)
  }

  /** A round; what the store does not tell now is asked again in the next one. */
  async look(): Promise<void> {
    if (this.#isLooking || this.#jobs.size === 0) return
    this.#isLooking = true
    const { work, views } = this.#deps
    try {
      for (const [id, job] of [...this.#jobs].slice(0, LOOKED_AT_ONCE)) {
        const view = await work.view(id)
        this.#jobs.delete(id)
        if (view === null || view.status === 'pending' || view.status === 'in_progress') continue
        void views.put(view)
        if (view.status === 'cancelled' || view.status === 'expired') stopMaking(this.#deps, job)
      }
    } catch {
      // The store is away: they stay.
    } finally {
      this.#isLooking = false
    }
  }
}

/** Asks the provider to stop; nobody waits for what comes of it. */
export function stopMaking(
  { providers, clock, log }: Pick<VideoEngineDeps, 'providers' | 'clock' | 'log'>,
  job: HeldJob,
): void {
  const { upstreamId } = job
  if (upstreamId === null) return
  const times = {
    endsAt: clock.now() + VIDEO_CALL_MS_MAX,
    signal: new AbortController().signal,
    mayWrite: () => true,
  }
  providers
    .of(job.claim.target)
    ?.cancel(job.order(), upstreamId, times)
    .catch((cause: unknown) => log.error('video.cancel_crashed', { id: job.id, cause }))
}
