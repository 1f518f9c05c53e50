import { Piscina } from 'piscina'
import { fail, type Failure, ok, type Outcome } from '../schemas/failures.ts'
import { BACKGROUND_JOB_MS_MAX, SHORT_JOB_MS_MAX, BRIEF_SECRETS_BYTES_MAX } from '../schemas/limits/limits.ts'
import { BRIEF_HEAP_MIB, LONG_HEAP_MIB } from '../schemas/operator/memory-limits.ts'
import type { Log } from '../server/ports/observe.ts'
import type { ShortJobMore, ShortJobName, ShortJobs, ShortJobTypes } from '../server/ports/short-jobs.ts'
import { bytesOf } from '../schemas/values/json-bytes.ts'
import type { Caller } from '../schemas/values/callers.ts'
import { endedBy } from '../schemas/values/call-ended.ts'
import { SessionPool } from './sessions/session-pool.ts'
import { JobQueue, type QueuedJob } from './job-queue.ts'
import type { ThreadJob } from './thread.ts'
import { threadHeap } from './thread-heap.ts'
import { RestingThreads } from './resting-threads.ts'

/** Milliseconds without a long job after which the threads end and free their grown heaps. Decision. */
const LONG_IDLE_MS = 60_000

export interface Pools {
  readonly jobs: ShortJobs
  readonly shortJobsWaiting: number
  readonly shortJobsLoad: PoolLoad
  /** Threads for long sessions, which `createIntake` and `createUnsealing` use. Design §5. */
  readonly sessions: SessionPool
  /** Ends the threads; running and waiting jobs fail with `draining`. */
  close(): Promise<void>
}

/** Figures of the threads since the start. */
export interface PoolLoad {
  readonly threads: number
  readonly begun: number
  /** Seconds that started jobs had waited. */
  readonly waitS: number
  /** Seconds that threads were busy with ended jobs. */
  readonly busyS: number
}

export interface PoolOptions {
  /** Threads of each lane: the lane of jobs below a millisecond, and the lane of the others. */
  readonly shortThreads: number
  readonly sessionThreads: number
  /** Short jobs of a lane that may wait for a thread; above this, `busy` goes to the organization with the most waiting jobs. */
  readonly queueMax: number
  /** Short jobs of one organization that may wait; no separate limit when omitted; one more is `busy`. */
  readonly organizationQueueMax?: number
  /** Milliseconds of one short job; then its thread is ended and another is started. */
  readonly jobMsMax?: number
  /** Milliseconds without a job after which a thread for jobs above a millisecond ends. */
  readonly idleMs?: number
  /**
   * True in a runner: short jobs have lower priority than fronts on the same machine, and more time; all
   * threads start with their first job.
   */
  readonly isBackground?: boolean
  /** True: no thread starts before the first job, so that an idle process needs no memory for threads. */
  readonly isLazy?: boolean
  readonly log: Pick<Log, 'error'>
}

/**
 * Opens the worker threads of a front or a runner. Design §2, §5.
 * @param here runs a prompt job on the calling thread; this module does not load the tasks, so that a process without
 * such jobs needs no memory for them
 */
export function openThreads(options: PoolOptions, here: ShortJobs['here'] = runsNothing): Pools {
  const { sessionThreads, log } = options
  const jobs = new ShortPool(options, here)
  const sessions = new SessionPool({ threadCount: sessionThreads, log })
  const close = async (): Promise<void> => {
    await Promise.all([jobs.close(), sessions.close()])
  }
  return {
    jobs,
    sessions,
    close,
    get shortJobsWaiting() {
      return jobs.waiting
    },
    get shortJobsLoad() {
      return jobs.load
    },
  }
}

function runsNothing(name: string): never {
  throw new Error(`this process runs ${name} only on its threads`)
}

/** Two lanes of threads: a caller that needs a secret does not wait for the body of another caller. */
class ShortPool implements ShortJobs {
  readonly here: ShortJobs['here']
  readonly #brief: Lane
  readonly #long: Lane
  readonly #threads: number

  constructor(options: PoolOptions, here: ShortJobs['here']) {
    this.here = here
    const {
      shortThreads: threadCount,
      queueMax,
      organizationQueueMax = queueMax,
      isBackground = false,
      isLazy = false,
      log,
    } = options
    const { jobMsMax = isBackground ? BACKGROUND_JOB_MS_MAX : SHORT_JOB_MS_MAX, idleMs = LONG_IDLE_MS } =
      options
    const common = { threadCount, queueMax, organizationQueueMax, jobMsMax, isBackground, isLazy, log }
    this.#brief = new Lane({ ...common, heapMib: BRIEF_HEAP_MIB, idleMs: isBackground ? idleMs : null })
    this.#long = new Lane({ ...common, heapMib: LONG_HEAP_MIB, idleMs })
    this.#threads = 2 * threadCount
  }

  async run<N extends ShortJobName>(
    name: N,
    input: ShortJobTypes[N]['in'],
    more: ShortJobMore,
  ): Promise<Outcome<ShortJobTypes[N]['out']>> {
    const lane = isBriefJob(name, input) ? this.#brief : this.#long
    const outcome = await lane.run({ name, input }, more)
    return outcome.ok ? ok(outcome.value as ShortJobTypes[N]['out']) : outcome
  }

  get waiting(): number {
    return this.#brief.waiting + this.#long.waiting
  }

  get load(): PoolLoad {
    const [brief, long] = [this.#brief.load, this.#long.load]
    return {
      threads: this.#threads,
      begun: brief.begun + long.begun,
      waitS: (brief.waitMs + long.waitMs) / 1_000,
      busyS: (brief.busyMs + long.busyMs) / 1_000,
    }
  }

  async close(): Promise<void> {
    await Promise.all([this.#brief.close(), this.#long.close()])
  }
}

type IsBrief<N extends ShortJobName> = (input: ShortJobTypes[N]['in']) => boolean

/** Which jobs may take less than a millisecond. This is separate from the tasks, so that queueing a job loads no task. */
const BRIEF: { readonly [N in ShortJobName]?: IsBrief<N> } = {
  // At most ECHO_UNITS_MAX of text.
  echo: () => true,
  seal_secrets: ({ secrets }) => areBrief(secrets.map(({ value }) => value)),
  open_secret: ({ sealed }) => areBrief([sealed]),
  copy_secrets: ({ from }) => areBrief(from.map(({ sealed }) => sealed)),
}

/** Returns whether a job takes less than a millisecond. */
export function isBriefJob<N extends ShortJobName>(name: N, input: ShortJobTypes[N]['in']): boolean {
  const isBrief: IsBrief<N> | undefined = BRIEF[name]
  return isBrief?.(input) === true
}

function areBrief(values: readonly Uint8Array[]): boolean {
  return bytesOf(values) <= BRIEF_SECRETS_BYTES_MAX
}

/** MiB of a semi-space of a thread: the same as the process has. Decision. */
const SEMI_SPACE_MIB = 8
/**
 * Niceness of a runner's threads relative to fronts' loops on the same machine: a clip is less urgent than
 * a call. Decision.
 */
const BACKGROUND_NICE = 5

interface LaneOptions {
  readonly threadCount: number
  readonly queueMax: number
  readonly organizationQueueMax: number
  /** Milliseconds of one job; then its thread is ended and another is started. */
  readonly jobMsMax: number
  /** MiB of JavaScript objects. The limit is no safeguard: a thread that exceeds it may end the process, so tasks limit their input. */
  readonly heapMib: number
  /**
   * Null: threads start at once and stay. Otherwise they start with the first job, and end after this many milliseconds
   * without one, to free memory.
   */
  readonly idleMs: number | null
  readonly isBackground: boolean
  /** True: threads that stay also start only with the first job. */
  readonly isLazy: boolean
  readonly log: Pick<Log, 'error'>
}

/** Figures of a lane's threads since the start. */
interface LaneLoad {
  readonly begun: number
  readonly waitMs: number
  readonly busyMs: number
}

/** Logs a thread that ends without a job; without a listener its error would end the process. Another thread is started. */
function logErrors(threads: Piscina, log: Pick<Log, 'error'>): void {
  threads.on('error', (cause: unknown) => log.error('worker.thread_lost', { kind: 'short', cause }))
}

type Threads = Piscina<ThreadJob, unknown>

const TOO_LATE: Failure = { name: 'deadline_exceeded' }

/**
 * Threads and the jobs that wait for them. Jobs wait here, before Piscina, which never queues them: a waiting job can
 * so be cancelled, while Piscina's own cancellation would end the thread of a job.
 */
class Lane {
  readonly #options: LaneOptions
  readonly #threads: RestingThreads<ThreadJob, unknown>
  readonly #waiting: JobQueue
  #running = 0
  #load = { begun: 0, waitMs: 0, busyMs: 0 }
  #isClosed = false

  constructor(options: LaneOptions) {
    this.#options = options
    this.#threads = new RestingThreads({
      open: () => this.#open(),
      load: (threads) => this.#warm(threads),
      idleMs: options.idleMs,
      isIdle: () => this.#running === 0,
    })
    this.#waiting = new JobQueue({ sizeMax: options.queueMax, organizationMax: options.organizationQueueMax })
    if (options.idleMs === null && !options.isLazy) this.#threads.use()
  }

  get waiting(): number {
    return this.#waiting.size
  }

  get load(): LaneLoad {
    return this.#load
  }

  async run(job: ThreadJob, more: ShortJobMore): Promise<Outcome<unknown>> {
    if (this.#isClosed) return fail('draining')
    // Before the first await: `close` waits only for threads that it knows.
    const threads = this.#threads.use()
    const queuedAtMs = performance.now()
    const refusal = await this.#turn(more)
    if (refusal !== null) {
      this.#threads.rest()
      return { ok: false, failure: refusal }
    }
    const begunMs = performance.now()
    this.#load.begun++
    this.#load.waitMs += begunMs - queuedAtMs
    const limit = this.#limit()
    try {
      const { signal } = limit
      return ok(await threads.run(job, { transferList: [...(more.transfer ?? [])], signal }))
    } catch (cause) {
      // A bug in a task, or a thread that ended (out of memory, out of time): Piscina starts another thread.
      this.#threads.reload()
      if (this.#isClosed) return fail('draining', { cause })
      return fail(limit.signal.aborted ? 'deadline_exceeded' : 'internal', { cause })
    } finally {
      limit.stop()
      this.#end(more.caller, performance.now() - begunMs)
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#waiting.refuse({ name: 'draining' })
    await this.#threads.close()
  }

  #end(caller: Caller, ms: number): void {
    this.#load.busyMs += ms
    this.#running--
    this.#waiting.ended(caller, ms)
    const turn = this.#waiting.next()
    if (turn === null) return this.#threads.rest()
    this.#running++
    turn(null)
  }

  #open(): Threads {
    const { threadCount, isBackground, heapMib, log } = this.#options
    const threads: Threads = new Piscina<ThreadJob, unknown>({
      filename: new URL('../../bundle/thread.js', import.meta.url).href,
      minThreads: threadCount,
      maxThreads: threadCount,
      niceIncrement: isBackground ? BACKGROUND_NICE : 0,
      resourceLimits: threadHeap({ heapMib, semiSpaceMib: SEMI_SPACE_MIB }),
    })
    logErrors(threads, log)
    return threads
  }

  /** Ends the thread of a job that runs for too long. The time starts when the threads are loaded. */
  #limit(): { readonly signal: AbortSignal; readonly stop: () => void } {
    const ender = new AbortController()
    let timer: NodeJS.Timeout | undefined
    let isOver = false
    void this.#threads.loaded.then(() => {
      if (!isOver) timer = setTimeout(() => ender.abort(), this.#options.jobMsMax)
    })
    const stop = (): void => {
      isOver = true
      clearTimeout(timer)
    }
    return { signal: ender.signal, stop }
  }

  /** One empty job for each thread, so that the first real job finds the thread warm. */
  #warm(threads: Threads): Promise<unknown> {
    const nothing: ThreadJob = { name: 'read_body', input: { body: 'embeddings', bytes: new Uint8Array(0) } }
    return Promise.allSettled(Array.from({ length: this.#options.threadCount }, () => threads.run(nothing)))
  }

  #turn({ caller, signal, endsAt = Infinity }: ShortJobMore): Failure | null | Promise<Failure | null> {
    if (signal?.aborted === true) return endedBy(signal)
    const leftMs = endsAt - performance.now()
    if (leftMs <= 0) return TOO_LATE
    if (this.#running < this.#options.threadCount) {
      this.#running++
      this.#waiting.began(caller)
      return null
    }
    const crowded = this.#waiting.makeRoom(caller)
    if (crowded !== null) return crowded
    return new Promise((resolve) => {
      const leave = (): void => turn(signal === undefined ? null : endedBy(signal))
      const turn: QueuedJob = (refusal) => {
        if (refusal === null) this.#waiting.began(caller)
        this.#waiting.remove(caller, turn)
        clearTimeout(timer)
        signal?.removeEventListener('abort', leave)
        resolve(refusal)
      }
      const timer = leftMs === Infinity ? undefined : setTimeout(turn, leftMs, TOO_LATE)
      this.#waiting.add(caller, turn)
      signal?.addEventListener('abort', leave)
    })
  }
}
