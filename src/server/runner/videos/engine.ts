import {
  VIDEO_LEASE_MS,
  VIDEO_RENEW_ROUND_MS,
  VIDEO_RENEWED_AT_ONCE,
  VIDEO_UNKNOWN_LOOK_MS,
  VIDEO_UNKNOWN_PROVIDER_MS,
  VIDEO_VIEWS_AGAIN_MS_MAX,
  VIDEO_VIEWS_PAUSE_MS,
  VIDEO_VIEWS_PUT_AT_ONCE,
} from '../../../schemas/videos/video-limits.ts'
import type { ClaimedVideo, HeldVideoState } from '../../ports/videos/video-work.ts'
import { backoffMs, type EngineDeps, GONE, type Next, pause, type VideoEngineDeps } from './engine-deps.ts'
import { Claiming } from './claiming.ts'
import { Doubts, stopMaking } from './doubts.ts'
import { HeldJob, type Lease } from './held-job.ts'
import { Lane } from './lane.ts'
import { fail } from './finish.ts'

export interface VideoEngine {
  /** To be called when Redis is back, since it may have lost the views. */
  refreshViews(): void
  readonly held: Readonly<Record<HeldVideoState, number>>
  /**
   * Begins no more steps, lets running steps end, and releases all other jobs immediately. Resolves at the
   * latest after `endMsMax`.
   */
  close(endMsMax: number): Promise<void>
}

/** Share of the time for closing after which steps that another runner can repeat are aborted. */
const ABORT_SHARE = 0.7

/** Works on video jobs until it is closed: claims, submits, polls, stores and ends them. Design §7. */
export function openVideoEngine(parts: VideoEngineDeps): VideoEngine {
  return new Engine(parts)
}

class Engine implements VideoEngine {
  readonly #deps: EngineDeps
  readonly #lanes: ReadonlyMap<string, Lane>
  readonly #jobs: HeldJobs
  readonly #doubts: Doubts
  readonly #refresh: Refresh
  readonly #claiming: Claiming
  readonly #stopListening: () => void
  #isEnding = false
  #stopBeat: () => void = () => undefined
  #emptied: () => void = () => undefined

  constructor(parts: VideoEngineDeps) {
    this.#doubts = new Doubts(parts)
    const deps = { ...parts, doubt: (job: HeldJob) => this.#doubts.add(job) }
    this.#deps = deps
    this.#jobs = new HeldJobs(deps)
    this.#refresh = new Refresh(parts)
    this.#lanes = new Map(
      parts.providers.all.map(({ slug, video }) => [
        slug,
        new Lane({ deps, slug, video, settled: (job, next) => this.#settled(job, next) }),
      ]),
    )
    this.#claiming = new Claiming({
      deps,
      lanes: this.#lanes,
      take: (claims, lease) => this.#take(claims, lease),
    })
    this.#stopListening = parts.views.onWake((wake) => {
      if (wake.kind === 'jobs') this.#claiming.wake(wake.provider)
      if (wake.kind === 'cancelled') this.#cancelled(wake.id)
    })
    this.#beatLater()
    this.#refresh.request()
  }

  get held(): Readonly<Record<HeldVideoState, number>> {
    return this.#jobs.counts()
  }

  refreshViews(): void {
    this.#refresh.request()
  }

  async close(endMsMax: number): Promise<void> {
    const { clock, log } = this.#deps
    this.#isEnding = true
    this.#refresh.stop()
    this.#stopListening()
    const emptied = new Promise<void>((resolve) => {
      this.#emptied = resolve
      clock.after(endMsMax, resolve)
    })
    // `emptied` resolves after `endMsMax` at the latest, so a claim that hangs in the store does not delay
    // closing.
    await Promise.race([emptied, this.#claiming.stop()])
    for (const lane of this.#lanes.values()) lane.close()
    const cutOff = clock.after(endMsMax * ABORT_SHARE, () =>
      this.#jobs.all().forEach((job) => job.abort.abort()),
    )
    await Promise.race([emptied, this.#release(this.#jobs.all().filter(({ phase }) => phase !== 'busy'))])
    if (this.#jobs.size > 0) await emptied
    this.#stopBeat()
    cutOff()
    const left = this.#jobs.all()
    if (left.length > 0) log.warn('video.left_under_way', { jobs: left.length })
    for (const job of left) this.#drop(job)
  }

  #beatLater(): void {
    this.#stopBeat = this.#deps.clock.atNext(VIDEO_RENEW_ROUND_MS, () => {
      void this.#beat()
      this.#beatLater()
    })
  }

  async #beat(): Promise<void> {
    const { clock } = this.#deps
    await this.#jobs.renew((jobs, isTaken) => this.#over(jobs, isTaken))
    for (const job of this.#jobs.all())
      if (clock.now() >= job.expiresAt && !this.#isEnding)
        this.#lanes.get(job.claim.target.provider)?.expire(job)
    await this.#doubts.look()
  }

  #take(claims: readonly ClaimedVideo[], lease: Lease): void {
    const { providers } = this.#deps
    const taken = claims.map((claim) => new HeldJob(claim, lease))
    for (const job of taken) {
      // An older claim of this runner: its lease had expired by the clocks of this process and of the store.
      const before = this.#jobs.hold(job)
      const lane = this.#lanes.get(job.claim.target.provider)
      if (before !== undefined) {
        before.phase = 'gone'
        before.abort.abort()
      } else if (lane !== undefined) lane.held++
      if (this.#isEnding) continue
      if (lane !== undefined && providers.of(job.claim.target) !== null) lane.schedule(job, 0)
      else this.#passOn(job)
    }
    if (this.#isEnding) void this.#release(taken)
  }

  #passOn(job: HeldJob): void {
    job.phase = 'busy'
    void passOn(this.#deps, job).finally(() => this.#drop(job))
  }

  #settled(job: HeldJob, next: Next): void {
    const lane = this.#lanes.get(job.claim.target.provider)
    if (job.isCancelled) stopMaking(this.#deps, job)
    if (next.kind === 'gone' || job.isCancelled || job.phase === 'gone') this.#drop(job)
    else if (this.#isEnding || lane === undefined) void this.#release([job])
    else lane.schedule(job, next.inMs)
  }

  /** A caller has cancelled the job; its row has ended. */
  #cancelled(id: string): void {
    const job = this.#jobs.get(id)
    if (job === undefined) return
    job.isCancelled = true
    job.abort.abort()
    // A job with a running step is stopped when the step ends: a submission may still return the id that is
    // needed to stop the job.
    if (job.phase === 'busy') return
    stopMaking(this.#deps, job)
    this.#drop(job)
  }

  #over(jobs: readonly HeldJob[], isTaken: boolean): void {
    if (jobs.length === 0) return
    const { meters, log } = this.#deps
    meters.lost(jobs.length)
    log.info('video.leases_lost', { jobs: jobs.length, isTaken })
    for (const job of jobs) {
      job.abort.abort()
      if (isTaken) this.#doubts.add(job)
      this.#drop(job)
    }
  }

  #drop(job: HeldJob): void {
    const lane = this.#lanes.get(job.claim.target.provider)
    if (this.#jobs.forget(job) && lane !== undefined) lane.held--
    if (this.#isEnding && this.#jobs.size === 0) this.#emptied()
  }

  /** Releases jobs, so that another runner can claim them immediately. */
  async #release(jobs: readonly HeldJob[]): Promise<void> {
    const { work, views, clock, log } = this.#deps
    const ours = jobs.filter((job) => job.mayWrite(clock.now()))
    for (const job of jobs) job.phase = 'gone'
    try {
      if (ours.length > 0)
        await work.release(
          ours.map(({ claim: { id, attempt, polls } }) => ({ id, attempt, polls })),
          0,
        )
      for (const provider of new Set(ours.map(({ claim }) => claim.target.provider)))
        views.wake({ kind: 'jobs', provider })
    } catch (cause) {
      log.debug('video.release_failed', { jobs: ours.length, cause })
    }
    for (const job of jobs) this.#drop(job)
  }
}

/**
 * Handles a job whose endpoint is not in the catalogue of this process. While a node reloads, fronts know new
 * endpoints before runners do, so a recent job waits for a runner that knows the endpoint.
 */
async function passOn(deps: EngineDeps, job: HeldJob): Promise<Next> {
  const { work, log, clock } = deps
  const { claim } = job
  const { endpoint, provider } = claim.target
  if (claim.readAtMs - claim.createdAtMs < VIDEO_UNKNOWN_PROVIDER_MS) {
    if (job.mayWrite(clock.now())) await work.release([claim], VIDEO_UNKNOWN_LOOK_MS).catch(() => undefined)
    return GONE
  }
  log.warn('video.endpoint_unknown', { id: job.id, endpoint })
  return fail(deps, job, {
    error: `provider_gone: ${provider} no longer serves this model`,
    mayHaveCost: claim.state !== 'accepted',
  })
}

/** Stores all live views again: at the start, and when Redis is back and may have lost them. Design §7. */
class Refresh {
  readonly #deps: VideoEngineDeps
  #isRequested = false
  #isRunning = false
  #isStopped = false

  constructor(deps: VideoEngineDeps) {
    this.#deps = deps
  }

  request(): void {
    this.#isRequested = true
    if (!this.#isRunning) void this.#run()
  }

  stop(): void {
    this.#isStopped = true
  }

  async #run(): Promise<void> {
    this.#isRunning = true
    for (let fails = 0; this.#isRequested && !this.#isStopped;) {
      this.#isRequested = false
      try {
        const count = await this.#putAll()
        fails = 0
        if (count > 0) this.#deps.log.info('video.views_put', { views: count })
      } catch (cause) {
        // The store is unavailable. The callers of `request` wait for Redis themselves.
        this.#deps.log.debug('video.views_not_put', { cause })
        this.#isRequested = true
        await pause(this.#deps, backoffMs(this.#deps, fails++))
      }
    }
    this.#isRunning = false
  }

  /**
   * Stores the views slowly enough that Postgres and Redis have capacity for callers. @returns number of
   * stored views; fewer when Redis becomes unreachable again
   */
  async #putAll(): Promise<number> {
    const { work, views } = this.#deps
    let count = 0
    for (let after: string | null = null; !this.#isStopped && !this.#isRequested;) {
      const page = await work.views(after, VIDEO_VIEWS_PUT_AT_ONCE)
      if (page.length === 0 || !(await views.putAll(page, VIDEO_VIEWS_AGAIN_MS_MAX))) break
      count += page.length
      after = page.at(-1)?.id ?? null
      if (page.length < VIDEO_VIEWS_PUT_AT_ONCE) break
      await pause(this.#deps, VIDEO_VIEWS_PAUSE_MS)
    }
    return count
  }
}

/**
 * Milliseconds: a lease with less time left is renewed. Each lease is renewed in every second round, or in the
 * next round after a failed one.
 */
const RENEWED_BELOW_MS = VIDEO_LEASE_MS - 1.5 * VIDEO_RENEW_ROUND_MS

/** Jobs that this runner has claimed. Renews their leases. */
class HeldJobs {
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

  /** @returns false when the job was no longer held */
  forget(job: HeldJob): boolean {
    job.phase = 'gone'
    return this.#jobs.get(job.id) === job && this.#jobs.delete(job.id)
  }

  /**
   * Renews leases that are due.
   * @param over receives jobs whose lease has expired by the clock of this process, and jobs that another
   * runner has
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
    // After a slow round only those jobs are renewed that certainly still belong to this runner.
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
