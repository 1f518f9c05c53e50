import {
  VIDEO_CALL_MS_MAX,
  VIDEO_LOOKUP_QUIET_MS,
  VIDEO_LOOKUP_SKEW_MS,
  VIDEO_STORES_MAX,
} from '../../../schemas/videos/video-limits.ts'
import type { VideoProvider } from '../../ports/videos/video-providers.ts'
import { FairQueue } from '../../structures/swap-list.ts'
import { again, backoffMs, callTimes, type EngineDeps, GONE, type Next, write } from './engine-deps.ts'
import { finish } from './finish.ts'
import type { HeldJob } from './held-job.ts'
import { keep } from './keep.ts'
import { poll } from './poll.ts'
import { adopt, CRASHED, submit, takeBack, unknown } from './submit.ts'

type Kind = 'submit' | 'poll' | 'store'

/** Largest share of a provider's concurrent calls that polls may use, and likewise submissions, so that neither delays the other. */
const CALLS_SHARE = 0.75

export interface LaneOptions {
  readonly deps: EngineDeps
  readonly slug: string
  /** Settings from the catalogue, such as how often the provider is polled and how many calls it accepts at once. */
  readonly video: VideoProvider['video']
  /** Called when a step of the job has ended and no other is running. */
  readonly settled: (job: HeldJob, next: Next) => void
}

/**
 * The jobs of one provider that this runner holds: they wait until they are due, then for the turn of their
 * workspace, then occupy one of a few places. Providers share nothing, so a provider that hangs does not delay
 * jobs of another one. Design §7.
 */
export class Lane {
  readonly slug: string
  readonly #options: LaneOptions
  readonly #heap = new TimeHeap<HeldJob>()
  readonly #queues: Readonly<Record<Kind, FairQueue<HeldJob>>> = {
    submit: new FairQueue(),
    poll: new FairQueue(),
    store: new FairQueue(),
  }
  readonly #busy: Record<Kind, number> = { submit: 0, poll: 0, store: 0 }
  /** Number of jobs of this provider that the runner holds. */
  held = 0
  #polls = 0
  #isRequestingPolls = false
  /** True when the latest call was a submission. */
  #isPollNext = false
  #deniedUntil = 0
  #isPumping = false
  #isClosed = false
  #armedAt = Infinity
  #disarm: () => void = () => undefined

  constructor(options: LaneOptions) {
    this.slug = options.slug
    this.#options = options
  }

  /** True when many jobs wait to be submitted: further ones are left to other runners. */
  get isFull(): boolean {
    return this.#queues.submit.size >= QUEUED_PER_CALL_MAX * this.#options.video.concurrency
  }

  /** Schedules a job's next step. */
  schedule(job: HeldJob, inMs: number): void {
    const {
      deps: { clock },
    } = this.#options
    const now = clock.now()
    job.dueAt = Math.max(now, Math.min(now + inMs, job.expiresAt))
    job.phase = 'waiting'
    this.#heap.push(job.dueAt, job)
    // The step does not start immediately, so that jobs that arrive together start together.
    this.#arm()
  }

  /** Ends an expired job, wherever it waits. */
  expire(job: HeldJob): void {
    if (job.phase !== 'waiting' && job.phase !== 'queued') return
    this.#run(job, null, expired(this.#options.deps, job))
  }

  pump(): void {
    // A step that ends immediately calls `pump` again.
    if (this.#isPumping || this.#isClosed) return
    this.#isPumping = true
    try {
      this.#queueDue()
      while (this.#begin('store')) {
        // Begin one step for each free place.
      }
      // The last round is for submissions again: all polls that had priority may have been dropped.
      for (let isMore = true; isMore;)
        isMore = [this.#begin('submit'), this.#begin('poll'), this.#begin('submit')].includes(true)
      // The rest of a grant of polls was valid only for this moment.
      this.#polls = 0
      this.#requestPolls()
    } finally {
      this.#isPumping = false
    }
    this.#arm()
  }

  /** Starts no more steps. */
  close(): void {
    this.#isClosed = true
    this.#disarm()
  }

  #queueDue(): void {
    const {
      deps: { clock },
    } = this.#options
    for (let due = this.#heap.popDue(clock.now()); due !== null; due = this.#heap.popDue(clock.now())) {
      const { at, item: job } = due
      if (job.phase !== 'waiting' || job.dueAt !== at) continue
      job.phase = 'queued'
      this.#queues[kindOf(job)].push(job)
    }
  }

  /** @returns false when no job waits, or no place is free */
  #begin(kind: Kind): boolean {
    for (;;) {
      if (this.#placesOf(kind) <= 0 || (kind === 'poll' && this.#polls <= 0)) return false
      const job = this.#queues[kind].shift()
      if (job === null) return false
      if (job.phase !== 'queued') continue
      if (kind === 'poll') this.#polls--
      if (kind !== 'store') this.#isPollNext = kind === 'submit'
      this.#run(job, kind, this.#step(job, kind))
      return true
    }
  }

  #placesOf(kind: Kind): number {
    const { submit: submits, poll: polls, store } = this.#busy
    if (kind === 'store') return VIDEO_STORES_MAX - store
    const { concurrency } = this.#options.video
    // A single place cannot be shared: submissions and polls alternate while polls are allowed.
    if (concurrency === 1 && kind === 'submit' && this.#isPollNext && this.#mayPoll) return 0
    const ofKind = Math.max(1, Math.floor(concurrency * CALLS_SHARE)) - this.#busy[kind]
    return Math.min(ofKind, concurrency - submits - polls)
  }

  get #mayPoll(): boolean {
    return this.#queues.poll.size > 0 && this.#options.deps.clock.now() >= this.#deniedUntil
  }

  #step(job: HeldJob, kind: Kind): Promise<Next> {
    const { deps } = this.#options
    const provider = deps.providers.of(job.claim.target)
    // This process stalled: the job is dropped in the next round.
    if (!job.mayWrite(deps.clock.now())) return Promise.resolve(GONE)
    if (deps.clock.now() >= job.expiresAt) return expired(deps, job)
    // The catalogue of a process never changes, and a job without a provider is not scheduled.
    if (provider === null) return Promise.resolve(again(backoffMs(deps, job.fails++)))
    if (kind === 'store') return keep(deps, job, provider)
    if (kind === 'poll') return poll(deps, job, { provider, crowdMs: this.#crowdMs() })
    if (job.claim.state === 'accepted' || provider.video.submit === 'token')
      return submit(deps, job, provider)
    if (provider.video.submit === 'lookup') return lookup(deps, job, provider)
    return Promise.resolve(unknown(deps, job, { provider, error: CRASHED }))
  }

  #run(job: HeldJob, kind: Kind | null, step: Promise<Next>): void {
    const { deps, settled } = this.#options
    job.phase = 'busy'
    if (kind !== null) this.#busy[kind]++
    const end = (next: Next): void => {
      if (kind !== null) this.#busy[kind]--
      settled(job, next)
      this.pump()
    }
    step.then(end, (cause: unknown) => {
      deps.log.error('video.step_crashed', { id: job.id, state: job.claim.state, cause })
      end(again(backoffMs(deps, job.fails++)))
    })
  }

  /** Milliseconds between two polls of one job when all jobs share the provider's cap. */
  #crowdMs(): number {
    const {
      deps: { polls },
      video,
    } = this.#options
    return (this.held * polls.liveRunners * SECOND_MS) / video.pollsPerSecond
  }

  #requestPolls(): void {
    const {
      deps: { polls, clock },
      slug,
      video,
    } = this.#options
    const want = Math.min(this.#queues.poll.size, this.#placesOf('poll'))
    if (want <= 0 || this.#isRequestingPolls || clock.now() < this.#deniedUntil) return
    this.#isRequestingPolls = true
    void polls.take(slug, video.pollsPerSecond, want).then(({ granted, retryAfterMs }) => {
      this.#isRequestingPolls = false
      this.#polls = granted
      if (granted < want) this.#deniedUntil = clock.now() + Math.max(1, retryAfterMs)
      this.pump()
    })
  }

  /** Sets the lane's only timer: for the next job that is due, or for the next free poll. */
  #arm(): void {
    const {
      deps: { clock },
    } = this.#options
    const isPollWaiting = this.#queues.poll.size > 0 && !this.#isRequestingPolls && this.#placesOf('poll') > 0
    const at = Math.min(this.#heap.nextAt, isPollWaiting ? this.#deniedUntil : Infinity)
    if (at === this.#armedAt || this.#isClosed) return
    this.#disarm()
    this.#armedAt = at
    if (at === Infinity) return
    this.#disarm = clock.after(Math.max(0, at - clock.now()), () => {
      this.#armedAt = Infinity
      this.pump()
    })
  }
}

const SECOND_MS = 1_000
/** Waiting jobs for each concurrent call that a provider accepts. Decision. */
const QUEUED_PER_CALL_MAX = 8

function kindOf({ claim: { state } }: HeldJob): Kind {
  if (state === 'running') return 'poll'
  return state === 'storing' ? 'store' : 'submit'
}

function expired(deps: EngineDeps, job: HeldJob): Promise<Next> {
  return finish(deps, job, { kind: 'expired', error: 'expired: the provider did not make the video in time' })
}

/**
 * Searches the provider's list for a job whose submission is in doubt, and takes over the job if it is found.
 * The job is submitted again only when a complete list does not contain it, and that list was requested so
 * late that the job would be in it. Design §7.
 */
async function lookup(deps: EngineDeps, job: HeldJob, provider: VideoProvider): Promise<Next> {
  const { work, clock, meters, log } = deps
  const { submittedAtMs, createdAtMs } = job.claim
  const requestedAt = clock.now()
  const found = await provider.lookup(
    job.order(),
    (submittedAtMs ?? createdAtMs) - VIDEO_LOOKUP_SKEW_MS,
    callTimes(deps, job, VIDEO_CALL_MS_MAX),
  )
  meters.looked(provider.slug, found.kind)
  if (found.kind === 'unavailable') return again(backoffMs(deps, job.fails++))
  const owned = await write(deps, job, () => work.owned(job.claim, found.upstreamIds))
  if (owned === null) return GONE
  for (const upstreamId of found.upstreamIds) {
    if (owned.has(upstreamId)) continue
    const row = await adopt(deps, job, upstreamId)
    if (row === 'gone') return GONE
    if (row === 'owned') continue
    meters.looked(provider.slug, 'adopted')
    log.info('video.adopted', { id: job.id, provider: provider.slug })
    return again(0)
  }
  const surelyAt = resubmitAt(job, provider)
  if (found.kind === 'partial' || requestedAt < surelyAt) {
    // The last wait ends exactly when a lookup can decide.
    const waitMs = backoffMs(deps, job.fails++)
    return again(requestedAt < surelyAt ? Math.min(waitMs, Math.max(1, surelyAt - clock.now())) : waitMs)
  }
  if (!(await takeBack(deps, job))) return GONE
  job.fails = 0
  log.info('video.not_listed', { id: job.id, provider: provider.slug })
  return again(0)
}

function resubmitAt(job: HeldJob, { video }: VideoProvider): number {
  const { submitEndsAtMs, createdAtMs } = job.claim
  return job.at((submitEndsAtMs ?? createdAtMs) + (video.lookupQuietMs ?? VIDEO_LOOKUP_QUIET_MS))
}

interface Entry<T> {
  readonly at: number
  readonly item: T
}

/** Items ordered by time, the earliest first: one timer serves all of them. */
class TimeHeap<T> {
  readonly #entries: Entry<T>[] = []

  /** Time of the earliest item; Infinity when the heap is empty. */
  get nextAt(): number {
    return this.#entries[0]?.at ?? Infinity
  }

  push(at: number, item: T): void {
    const entries = this.#entries
    let place = entries.length
    const entry = { at, item }
    entries.push(entry)
    while (place > 0) {
      const up = (place - 1) >> 1
      const above = entries[up]
      if (above === undefined || above.at <= at) break
      entries[place] = above
      place = up
    }
    entries[place] = entry
  }

  /** The earliest item, if it is due. */
  popDue(now: number): Entry<T> | null {
    const first = this.#entries[0]
    if (first === undefined || first.at > now) return null
    const last = this.#entries.pop()
    if (last !== undefined && last !== first) this.#sink(last)
    return first
  }

  #sink(entry: Entry<T>): void {
    const entries = this.#entries
    let place = 0
    for (;;) {
      const [left, right] = [entries[2 * place + 1], entries[2 * place + 2]]
      if (left === undefined) break
      const isRight = right !== undefined && right.at < left.at
      const child = isRight ? right : left
      if (child.at >= entry.at) break
      entries[place] = child
      place = 2 * place + (isRight ? 2 : 1)
    }
    entries[place] = entry
  }
}
