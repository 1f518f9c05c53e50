import { VIDEO_CALL_MS_MAX } from '../../../schemas/videos/video-limits.ts'
import type { VideoEngineDeps } from './engine-deps.ts'
import type { HeldJob } from './held-job.ts'

/** Jobs in doubt that are checked later; callers that poll further ones wait until another process writes the view. Decision. */
const DOUBTS_MAX = 10_000
/** Jobs that are checked in one round. Decision. */
const LOOKED_AT_ONCE = 200

/**
 * Jobs that this runner lost without knowing how. If such a job has ended, callers that poll it must see the
 * end. If it was cancelled or has expired, a provider that still works on it is asked to stop.
 */
export class Doubts {
  readonly #deps: VideoEngineDeps
  readonly #jobs = new Map<string, HeldJob>()
  #isLooking = false

  constructor(deps: VideoEngineDeps) {
    this.#deps = deps
  }

  add(job: HeldJob): void {
    // The end of a cancelled job is known, and its provider is asked to stop when the step has ended.
    if (!job.isCancelled && this.#jobs.size < DOUBTS_MAX) this.#jobs.set(job.id, job)
  }

  /** One round of checks; jobs that the store cannot return now are checked in the next round. */
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
      // The store is unavailable; the jobs are kept for the next round.
    } finally {
      this.#isLooking = false
    }
  }
}

/** Asks the provider to stop; the result is ignored. */
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
