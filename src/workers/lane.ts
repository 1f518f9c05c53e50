import { Piscina } from 'piscina'
import type { Caller } from '../schemas/values/callers.ts'
import { endedBy } from '../schemas/values/call-ended.ts'
import { fail, ok, type Failure, type Outcome } from '../schemas/failures.ts'
import type { Log } from '../server/ports/observe.ts'
import type { ShortJobMore } from '../server/ports/short-jobs.ts'
import { JobQueue, type QueuedJob } from './job-queue.ts'
import type { ThreadJob } from './thread.ts'
import { threadHeap } from './thread-heap.ts'

/** MiB of a semi-space of a thread: the same as the process has. Decision. */
const SEMI_SPACE_MIB = 8
/**
 * Niceness of a runner's threads above that of fronts' loops on the same machine: a clip is less urgent than
 * a call. Decision.
 */
const BACKGROUND_NICE = 5

export interface LaneOptions {
  readonly threadCount: number
  readonly queueMax: number
  /** Jobs of one organization that may wait. */
  readonly organizationQueueMax: number
  /** Milliseconds of one job; then its thread is ended and another is started. */
  readonly jobMsMax: number
  /**
   * MiB of JavaScript objects of a thread. The limit is no safeguard: a thread that exceeds it may end the
   * process, so that tasks bound their input.
   */
  readonly heapMib: number
  /**
   * Null: threads start at once and stay. Otherwise they start with the first job, and end after this many
   * milliseconds without one: the memory of a large body's heap is freed.
   */
  readonly idleMs: number | null
  readonly isBackground: boolean
  /** Threads that stay start with the first job, too. */
  readonly isLazy: boolean
  readonly log: Pick<Log, 'error'>
}

/** Figures of a lane's threads since the start. */
export interface LaneLoad {
  readonly begun: number
  readonly waitMs: number
  readonly busyMs: number
}

/**
 * Logs a thread that ends without a job; without a listener its error would end the process. Another thread
 * is started.
 */
function logErrors(threads: Piscina, log: Pick<Log, 'error'>): void {
  threads.on('error', (cause: unknown) => log.error('worker.thread_lost', { kind: 'short', cause }))
}

type Threads = Piscina<ThreadJob, unknown>

const TOO_LATE: Failure = { name: 'deadline_exceeded' }

/**
 * Threads and the jobs that wait for them. The queue is in front of Piscina, which never queues here: this
 * way a waiting job can be cancelled, while Piscina's own cancellation ends the thread of a job.
 */
export class Lane {
  readonly #options: LaneOptions
  #threads: Threads | null = null
  readonly #waiting: JobQueue
  #running = 0
  #load = { begun: 0, waitMs: 0, busyMs: 0 }
  #isClosed = false
  /** Settles when the threads have loaded their code: ending a thread earlier aborts the whole process. */
  #loaded: Promise<unknown> = Promise.resolve()
  /** Settles when threads that were idle for too long are gone. */
  #ending: Promise<unknown> = Promise.resolve()
  #idle: NodeJS.Timeout | undefined

  constructor(options: LaneOptions) {
    this.#options = options
    this.#waiting = new JobQueue({ sizeMax: options.queueMax, organizationMax: options.organizationQueueMax })
    if (!options.isLazy) this.warm()
  }

  /** Starts the threads that stay. */
  warm(): void {
    if (this.#options.idleMs === null && !this.#isClosed) this.#open()
  }

  get waiting(): number {
    return this.#waiting.size
  }

  get load(): LaneLoad {
    return this.#load
  }

  async run(job: ThreadJob, more: ShortJobMore): Promise<Outcome<unknown>> {
    if (this.#isClosed) return fail('draining')
    // Before the first await: `close` waits for threads that it knows.
    const threads = this.#open()
    const queuedAtMs = performance.now()
    const refusal = await this.#turn(more)
    if (refusal !== null) {
      this.#rest()
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
      this.#loaded = this.#warm(threads)
      if (this.#isClosed) return fail('draining', { cause })
      return fail(limit.signal.aborted ? 'deadline_exceeded' : 'internal', { cause })
    } finally {
      limit.stop()
      this.#end(more.caller, performance.now() - begunMs)
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#idle)
    this.#waiting.refuse({ name: 'draining' })
    await this.#loaded
    await Promise.all([this.#threads?.destroy(), this.#ending])
  }

  #end(caller: Caller, ms: number): void {
    this.#load.busyMs += ms
    this.#running--
    this.#waiting.ended(caller, ms)
    const turn = this.#waiting.next()
    if (turn === null) return this.#rest()
    this.#running++
    turn(null)
  }

  /** Ends threads that have been idle for long. Threads that are still loading get a longer time. */
  #rest(): void {
    const { idleMs } = this.#options
    if (idleMs === null || this.#running > 0 || this.#isClosed) return
    clearTimeout(this.#idle)
    const threads = this.#threads
    this.#idle = setTimeout(
      () =>
        void this.#loaded.then(() => {
          if (this.#running > 0 || this.#isClosed || this.#threads !== threads) return
          this.#threads = null
          this.#ending = Promise.allSettled([this.#ending, threads?.destroy()])
        }),
      idleMs,
    )
    this.#idle.unref()
  }

  #open(): Threads {
    clearTimeout(this.#idle)
    if (this.#threads !== null) return this.#threads
    const { threadCount, isBackground, heapMib, log } = this.#options
    const threads: Threads = new Piscina<ThreadJob, unknown>({
      filename: new URL('../../bundle/thread.js', import.meta.url).href,
      minThreads: threadCount,
      maxThreads: threadCount,
      niceIncrement: isBackground ? BACKGROUND_NICE : 0,
      resourceLimits: threadHeap({ heapMib, semiSpaceMib: SEMI_SPACE_MIB }),
    })
    logErrors(threads, log)
    this.#threads = threads
    this.#loaded = this.#warm(threads)
    return threads
  }

  /** Ends the thread of a job that runs for too long. The time starts when the threads are loaded. */
  #limit(): { readonly signal: AbortSignal; readonly stop: () => void } {
    const ender = new AbortController()
    let timer: NodeJS.Timeout | undefined
    let isOver = false
    void this.#loaded.then(() => {
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
