import {
  VIDEO_LEASE_MS,
  VIDEO_RENEW_ROUND_MS,
  VIDEO_RENEWED_AT_ONCE,
} from '../../../schemas/videos/video-limits.ts'
import type { HeldVideoState } from '../../ports/videos/video-engine.ts'
import type { EngineDeps } from './engine-deps.ts'
import type { HeldJob } from './held-job.ts'

/**
 * Milliseconds: a lease with less time left is renewed. Each lease is renewed at every second round, and
 * after a failed round at the next.
 */
const RENEWED_BELOW_MS = VIDEO_LEASE_MS - 1.5 * VIDEO_RENEW_ROUND_MS

/** Jobs that this runner has claimed. Renews their leases. */
export class HeldJobs {
  readonly #deps: EngineDeps
  readonly #jobs = new Map<string, HeldJob>()
  #isRenewing = false
  #isAway = false

  constructor(deps: EngineDeps) {
    this.#deps = deps
  }

  get size(): number {
    return this.#jobs.size
  }

  get(id: string): HeldJob | undefined {
    return this.#jobs.get(id)
  }

  all(): readonly HeldJob[] {
    return [...this.#jobs.values()]
  }

  counts(): Readonly<Record<HeldVideoState, number>> {
    const counts: Record<HeldVideoState, number> = { accepted: 0, submitting: 0, running: 0, storing: 0 }
    for (const { claim } of this.#jobs.values()) counts[claim.state]++
    return counts
  }

  /** @returns the older claim of the same job that this one replaces */
  hold(job: HeldJob): HeldJob | undefined {
    const before = this.#jobs.get(job.id)
    this.#jobs.set(job.id, job)
    return before
  }

  /** @returns false when the job was not held any more */
  forget(job: HeldJob): boolean {
    job.phase = 'gone'
    return this.#jobs.get(job.id) === job && this.#jobs.delete(job.id)
  }

  /**
   * Renews leases that need it.
   * @param over receives jobs whose lease is over by this process' clock, and jobs that another runner has
   */
  async renew(over: (jobs: readonly HeldJob[], isTaken: boolean) => void): Promise<void> {
    const { clock } = this.#deps
    const all = this.all()
    over(
      all.filter((job) => !job.mayWrite(clock.now())),
      false,
    )
    if (this.#isRenewing) return
    this.#isRenewing = true
    const due = this.all().filter((job) => job.leaseEndsAt - clock.now() < RENEWED_BELOW_MS)
    for (let at = 0; at < due.length; at += VIDEO_RENEWED_AT_ONCE) {
      over(await this.#renewSome(due.slice(at, at + VIDEO_RENEWED_AT_ONCE)), true)
    }
    this.#isRenewing = false
  }

  /** @returns jobs that another runner has */
  async #renewSome(jobs: readonly HeldJob[]): Promise<readonly HeldJob[]> {
    const { work, clock, log } = this.#deps
    // After a slow round only jobs are renewed that certainly belong to this runner.
    const ours = jobs.filter((job) => job.mayWrite(clock.now()))
    if (ours.length === 0) return []
    const requestedAt = clock.now()
    try {
      const lost = new Set(
        await work.renew(
          ours.map(({ claim: { id, attempt, polls } }) => ({ id, attempt, polls })),
          VIDEO_LEASE_MS,
        ),
      )
      for (const job of ours) if (!lost.has(job.id)) job.prolong(requestedAt, VIDEO_LEASE_MS)
      if (this.#isAway) log.info('video.leases_renewed', { jobs: ours.length })
      this.#isAway = false
      return ours.filter(({ id }) => lost.has(id))
    } catch (cause) {
      if (!this.#isAway) log.warn('video.leases_not_renewed', { jobs: ours.length, cause })
      this.#isAway = true
      return []
    }
  }
}
