import { Piscina } from 'piscina'
import type { Caller } from '../schemas/values/callers.ts'
import { endedBy } from '../schemas/values/call-ended.ts'
import { fail, ok, type Failure, type Outcome } from '../schemas/failures.ts'
import type { Log } from '../server/ports/observe.ts'
import type { ShortJobMore } from '../server/ports/short-jobs.ts'
import { JobQueue, type QueuedJob } from './job-queue.ts'
import type { ThreadJob } from './thread.ts'
import { threadHeap } from './thread-heap.ts'

/** As that of the process. Decision. */
const SEMI_SPACE_MIB = 8
/**
 * How much less a thread of a runner counts than the loops of fronts on the same machine: nobody waits for a
 * clip as for a call. Decision.
 */
const BACKGROUND_NICE = 5

export interface LaneOptions {
  readonly threadCount: number
  readonly queueMax: number
  /** Of one organization. */
  readonly organizationQueueMax: number
  /** Milliseconds of one job; beyond, its thread is ended and another one started. */
  readonly jobMsMax: number
  /**
   * Of JavaScript objects of a thread. It is no fence: a thread that runs out may end the process, so that
   * tasks bound their input.
   */
  readonly heapMib: number
  /**
   * Null: threads stand ready from the start. Else they start with the first job, and end when there was none
   * for so many milliseconds: the memory that the heap of a large body took goes back.
   */
  readonly idleMs: number | null
  readonly isBackground: boolean
  /** Threads that stand ready do so from `warm` on. */
  readonly isLazy: boolean
  readonly log: Pick<Log, 'error'>
}

/** What a lane's threads did since the start. */
export interface LaneLoad {
  readonly begun: number
  readonly waitMs: number
  readonly busyMs: number
}

/**
 * A thread that ends without a job is told here alone; unheard, it would end the process. Another one is
 * started.
 */
function hear(threads: Piscina, log: Pick<Log, 'error'>): void {
  threads.on('error', (cause: unknown) => log.error('worker.thread_lost', { kind: 'short', cause }))
}

type Threads = Piscina<ThreadJob, unknown>

const TOO_LATE: Failure = { name: 'deadline_exceeded' }

/**
 * Threads and the jobs that wait for them. The queue stands in front of Piscina, which never queues here: a
 * job that waits can then be cancelled, while Piscina's own way to cancel ends the thread that runs it.
 */
export class Lane {
  readonly #options: LaneOptions
  #threads: Threads | null = null
  readonly #waiting: JobQueue
  #running = 0
  #load = { begun: 0, waitMs: 0, busyMs: 0 }
  #isClosed = false
  /** Settles when the threads have loaded their code: ending one before aborts the whole process. */
  #loaded: Promise<unknown> = Promise.resolve()
  /** Threads that were idle for too long, until they are gone. */
  #ending: Promise<unknown> = Promise.resolve()
  #idle: NodeJS.Timeout | undefined

  constructor(options: LaneOptions) {
    this.#options = options
    this.#waiting = new JobQueue({ sizeMax: options.queueMax, organizationMax: options.organizationQueueMax })
    if (!options.isLazy) this.warm()
  }

  /** Starts threads that are to stand ready. */
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
    // Before anything is awaited: `close` waits for threads that it knows of.
    const threads = this.#open()
    const askedMs = performance.now()
    const refusal = await this.#turn(more)
    if (refusal !== null) {
      this.#rest()
      return { ok: false, failure: refusal }
    }
    const begunMs = performance.now()
    this.#load.begun++
    this.#load.waitMs += begunMs - askedMs
    const limit = this.#limit()
    try {
      const { signal } = limit
      return ok(await threads.run(job, { transferList: [...(more.transfer ?? [])], signal }))
    } catch (cause) {
      // A bug in a task, or a thread that ended (out of memory, out of time): Piscina starts another one.
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

  /**
   * Ends threads that have nothing to do for long. Those that are loading then have nothing to do for longer.
   */
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
    hear(threads, log)
    this.#threads = threads
    this.#loaded = this.#warm(threads)
    return threads
  }

  /** Ends the thread of a job that runs for too long. It begins to count when the threads are loaded. */
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

  /** One empty job for each thread, so that the first real one finds it warm. */
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
