import { VIDEO_RENEW_ROUND_MS } from '../../../schemas/videos/video-limits.ts'
import type { HeldVideoState } from '../../ports/videos/video-engine.ts'
import type { ClaimedVideo } from '../../ports/videos/video-work.ts'
import type { EngineDeps, Next, VideoEngineDeps } from './engine-deps.ts'
import { Claiming } from './claiming.ts'
import { Doubts, stopMaking } from './doubts.ts'
import { HeldJob, type Lease } from './held-job.ts'
import { HeldJobs } from './held-jobs.ts'
import { Lane } from './lane.ts'
import { Refresh } from './refresh.ts'
import { passOn } from './unknown-provider.ts'

export interface VideoEngine {
  /** To be called when Redis is back, since it may have lost the views. */
  refreshViews(): void
  /** Jobs that are held now, by state. */
  readonly held: Readonly<Record<HeldVideoState, number>>
  /**
   * Begins no more steps, lets the steps under way end, and releases the other jobs at once. Resolves after
   * `endMsMax` at the latest.
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
    // `emptied` resolves after `endMsMax` at the latest, so that a claim that hangs in the store does not delay closing
    // either.
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
      // An older claim of this runner: its lease was over by this process' clock and by the store's.
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
    // A job with a step under way is stopped when the step ends: a submission may still bring the id that
    // stopping needs.
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

  /** Releases jobs, so that another runner has them at once. */
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
