import { Piscina } from 'piscina'
import { endedBy } from '../schemas/call-ended.ts'
import { fail, ok, type Failure, type Outcome } from '../schemas/failures.ts'
import { BACKGROUND_JOB_MS_MAX, SHORT_JOB_MS_MAX } from '../schemas/limits.ts'
import type { Log } from '../server/ports/observe.ts'
import type { PromptJobName, ShortJobMore, ShortJobName, ShortJobs, ShortJobTypes } from '../server/ports/short-jobs.ts'
import { JobQueue, type Turn } from './job-queue.ts'
import { SessionPool } from './sessions/session-pool.ts'
import { runTask } from './tasks.ts'
import type { ThreadJob } from './thread.ts'
import { youngHeap } from './young-heap.ts'

/**
 * A 32 MiB body of tiny objects, the worst one, stays below it. It is no fence: Node 20 now and then ends the whole
 * process when a thread runs out, so each task must bound its input. Decision.
 */
const THREAD_HEAP_MIB = 1_536
/** As that of the process. Decision. */
const SEMI_SPACE_MIB = 8
/** How much less a thread of a runner counts than the loops of fronts on the same machine: nobody waits for a clip as for a call. Decision. */
const BACKGROUND_NICE = 5

export interface Pools {
  readonly jobs: ShortJobs
  /** Short jobs that wait for a thread now. */
  readonly shortJobsWaiting: number
  readonly shortJobsLoad: PoolLoad
  /** Threads for long sessions: what `createIntake` and `createUnsealing` need. Design §5. */
  readonly sessions: SessionPool
  /** Ends the threads; jobs under way and waiting answer `draining`. */
  close(): Promise<void>
}

/** What the threads did since the start. */
export interface PoolLoad {
  readonly threads: number
  readonly begun: number
  /** Seconds that those which began had waited, and that threads were busy with those which ended. */
  readonly waitS: number
  readonly busyS: number
}

/**
 * Opens the worker threads of a front or a runner. Design §2, §5.
 * @param options.queueMax short jobs that may wait for a thread; one more is `busy`, of the caller who has the most of them
 * @param options.callerQueueMax of one caller, as many as of all when left out; one more is `busy`
 * @param options.jobMsMax milliseconds of one short job; beyond, its thread is ended and another one started
 * @param options.isBackground of a runner: short jobs give way to fronts on the same machine, and may take so much longer; their threads start with the first
 */
export function openPools(options: {
  readonly shortThreads: number
  readonly sessionThreads: number
  readonly queueMax: number
  readonly callerQueueMax?: number
  readonly jobMsMax?: number
  readonly isBackground?: boolean
  readonly log: Pick<Log, 'error'>
}): Pools {
  const { shortThreads, queueMax, callerQueueMax = queueMax, isBackground = false, log } = options
  const { jobMsMax = isBackground ? BACKGROUND_JOB_MS_MAX : SHORT_JOB_MS_MAX } = options
  const queue = new JobQueue({ sizeMax: queueMax, callerMax: callerQueueMax })
  const jobs = new ShortPool({ threadCount: shortThreads, queue, jobMsMax, isBackground, log })
  const sessions = new SessionPool({ threadCount: options.sessionThreads, log })
  const close = async (): Promise<void> => {
    await Promise.all([jobs.close(), sessions.close()])
  }
  return { jobs, sessions, close, get shortJobsWaiting() { return jobs.waiting }, get shortJobsLoad() { return jobs.load } }
}

interface ShortPoolOptions {
  readonly threadCount: number
  readonly queue: JobQueue
  readonly jobMsMax: number
  readonly isBackground: boolean
  readonly log: Pick<Log, 'error'>
}

/** A thread that ends without a job is told here alone; unheard, it would end the process. Another one is started. */
function hear(threads: Piscina, log: Pick<Log, 'error'>): void {
  threads.on('error', (cause: unknown) => log.error('worker.thread_lost', { kind: 'short', cause }))
}

const TOO_LATE: Failure = { name: 'deadline_exceeded' }

/**
 * The queue stands in front of Piscina, which never queues here: a job that waits can then be cancelled, while
 * Piscina's own way to cancel ends the thread that runs it.
 */
class ShortPool implements ShortJobs {
  readonly #options: ShortPoolOptions
  /** Null until somebody needs them: most runners render no clip, and a thread takes half a second of CPU to load. */
  #threads: Piscina<ThreadJob, unknown> | null = null
  readonly #waiting: JobQueue
  #running = 0
  #begun = 0
  #waitMs = 0
  #busyMs = 0
  #isClosed = false
  /** Settles when the threads have loaded their code: ending one before aborts the whole process. */
  #loaded: Promise<unknown> = Promise.resolve()

  constructor(options: ShortPoolOptions) {
    this.#options = options
    this.#waiting = options.queue
    if (!options.isBackground) this.#open()
  }

  #open(): Piscina<ThreadJob, unknown> {
    if (this.#threads !== null) return this.#threads
    const { threadCount, isBackground, log } = this.#options
    const threads = new Piscina<ThreadJob, unknown>({
      filename: new URL('../../bundle/thread.js', import.meta.url).href,
      minThreads: threadCount,
      maxThreads: threadCount,
      niceIncrement: isBackground ? BACKGROUND_NICE : 0,
      resourceLimits: { maxOldGenerationSizeMb: THREAD_HEAP_MIB, ...youngHeap(SEMI_SPACE_MIB) },
    })
    hear(threads, log)
    this.#threads = threads
    this.#loaded = this.#load(threads)
    return threads
  }

  here<N extends PromptJobName>(name: N, input: ShortJobTypes[N]['in']): ShortJobTypes[N]['out'] {
    return runTask(name, input)
  }

  async run<N extends ShortJobName>(
    name: N,
    input: ShortJobTypes[N]['in'],
    more: ShortJobMore,
  ): Promise<Outcome<ShortJobTypes[N]['out']>> {
    if (this.#isClosed) return fail('draining')
    // Before anything is awaited: `close` waits for threads that it knows of.
    const threads = this.#open()
    const askedMs = performance.now()
    const refusal = await this.#turn(more)
    if (refusal !== null) return { ok: false, failure: refusal }
    const begunMs = performance.now()
    this.#begun++
    this.#waitMs += begunMs - askedMs
    const limit = this.#limit()
    try {
      const { signal } = limit
      const out = await threads.run({ name, input }, { transferList: [...(more.transfer ?? [])], signal })
      return ok(out as ShortJobTypes[N]['out'])
    } catch (cause) {
      // A bug in a task, or a thread that ended (out of memory, out of time): Piscina starts another one.
      this.#loaded = this.#load(threads)
      if (this.#isClosed) return fail('draining', { cause })
      return fail(limit.signal.aborted ? 'deadline_exceeded' : 'internal', { cause })
    } finally {
      limit.stop()
      this.#busyMs += performance.now() - begunMs
      this.#running--
      this.#startNext()
    }
  }

  get waiting(): number {
    return this.#waiting.size
  }

  get load(): PoolLoad {
    return {
      threads: this.#options.threadCount, begun: this.#begun, waitS: this.#waitMs / 1000, busyS: this.#busyMs / 1000,
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#waiting.refuse({ name: 'draining' })
    await this.#loaded
    await this.#threads?.destroy()
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
  #load(threads: Piscina<ThreadJob, unknown>): Promise<unknown> {
    const nothing: ThreadJob = { name: 'read_body', input: { body: 'embeddings', bytes: new Uint8Array(0) } }
    return Promise.allSettled(Array.from({ length: this.#options.threadCount }, () => threads.run(nothing)))
  }

  #turn({ caller, signal, endsAt = Infinity }: ShortJobMore): Failure | null | Promise<Failure | null> {
    if (signal?.aborted === true) return endedBy(signal)
    const leftMs = endsAt - performance.now()
    if (leftMs <= 0) return TOO_LATE
    if (this.#running < this.#options.threadCount) {
      this.#running++
      return null
    }
    const crowded = this.#waiting.makeRoom(caller)
    if (crowded !== null) return crowded
    return new Promise((resolve) => {
      const leave = (): void => turn(signal === undefined ? null : endedBy(signal))
      const turn: Turn = (refusal) => {
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

  #startNext(): void {
    const turn = this.#waiting.next()
    if (turn === null) return
    this.#running++
    turn(null)
  }
}
