import { MessageChannel, receiveMessageOnPort, type MessagePort, type Worker } from 'node:worker_threads'
import { Piscina } from 'piscina'
import { fail, ok, type Outcome } from '../../schemas/failures.ts'
import {
  SESSIONS_PER_THREAD_MAX,
  THREAD_SILENT_MS_MAX,
  TRANSFERS_MAX,
} from '../../schemas/files/file-limits.ts'
import type { Log } from '../../server/ports/observe.ts'
import { Places } from './places.ts'
import { RestingThreads } from '../resting-threads.ts'
import { threadHeap } from '../thread-heap.ts'
import type { FromThread, SessionJob, ToThread } from './protocol.ts'

/** MiB of JavaScript objects of a thread: a scanner needs well under 1 MiB. Decision. */
const SESSION_THREAD_HEAP_MIB = 512
/**
 * MiB of a semi-space: garbage of sessions is short-lived. 8 MiB would take as much CPU, and permanently 11 MiB more
 * memory in every thread. Decision.
 */
const SESSION_SEMI_SPACE_MIB = 1
/** Niceness of a session thread relative to the loop, for when both need a core: every call waits for the loop. Decision. */
const SESSION_THREAD_NICE = 5
/** Milliseconds without a session after which the threads end. Decision. */
const THREAD_IDLE_MS = 30_000
/** Pings that a thread may leave unanswered, one for each check. */
const PINGS_MAX = 5
/** Checks during which a session may wait for a thread. */
const LOOKS_MAX = 2 * PINGS_MAX

export interface Session {
  post(message: ToThread, moved?: ArrayBuffer): void
  /** May be called twice, and after the end. */
  cancel(): void
  /** Resolves when the thread has released all resources, or has ended: never for a thread that is stuck in a system call. */
  readonly released: Promise<void>
  /** Resolves when the session is released or lost, whichever comes first. */
  readonly over: Promise<void>
  /** The thread did not answer, or no thread accepted the session. */
  readonly isLost: boolean
}

/** The callbacks of a session's main side. None is called after `onLost` or a last message, or for a cancelled session. */
export interface SessionCallbacks {
  onMessage(message: FromThread): void
  /** The thread ended without a last message. */
  onLost(cause: unknown): void
}

export interface SessionLoad {
  readonly threads: number
  readonly intakes: number
  readonly unsealings: number
  readonly waiting: number
  /** Seconds that sessions waited for their thread to begin, since the start. */
  readonly waitS: number
  /** Sessions that began, since the start. */
  readonly begun: number
  /** Seconds that all threads were busy since the start. Its increase per second is their utilization, at most `threads`. */
  readonly busyS: number
  /** Threads that did not answer and were ended. */
  readonly silentThreads: number
}

export interface SessionPoolOptions {
  readonly threadCount: number
  readonly log: Pick<Log, 'error'>
  /** Milliseconds of silence after which a thread is ended. */
  readonly silentMs?: number
  /** Milliseconds without a session after which the threads end. */
  readonly idleMs?: number
  /** Module of the threads. */
  readonly entry?: URL
}

export interface SessionTerms {
  /** The workspace that holds the place. */
  readonly holder: string
  /** Buffers that move to the thread. */
  readonly moved: readonly ArrayBuffer[]
}

type Threads = Piscina<SessionJob | null, void>

type Job<J> = J extends SessionJob ? Omit<J, 'port'> : never

/**
 * Threads for long sessions, one Piscina task for each session, any number of them in a thread. The threads start with
 * the first session, which waits for them, and end after THREAD_IDLE_MS without a session. Piscina never gets an
 * `AbortSignal`, since with one it runs only one task per thread. Instead the sessions of a thread are pinged, and a
 * silent thread is ended; Piscina then starts another and fails the tasks, and Node closes the descriptors that the
 * thread had opened.
 */
export class SessionPool {
  readonly #options: SessionPoolOptions
  readonly #placesMax: number
  readonly #threads: RestingThreads<SessionJob | null, void>
  readonly #places: Places
  readonly #running = new Set<RunningSession>()
  /** Null while no session runs. */
  #watch: NodeJS.Timeout | null = null
  readonly #silence = new Map<number, { pings: number; hasAnswered: boolean }>()
  readonly #ended = new Set<number>()
  readonly #clock = new ThreadClock()
  #silentThreads = 0
  #waitMs = 0
  #begun = 0
  #isClosed = false

  constructor(options: SessionPoolOptions) {
    this.#options = options
    this.#placesMax = Math.min(TRANSFERS_MAX, options.threadCount * SESSIONS_PER_THREAD_MAX)
    this.#places = new Places(this.#placesMax)
    this.#threads = new RestingThreads({
      open: () => this.#open(),
      load: (threads) => this.#load(threads),
      idleMs: options.idleMs ?? THREAD_IDLE_MS,
      isIdle: () => this.#running.size === 0,
      onRest: ({ threads }) => this.#clock.busyS(threads),
    })
  }

  /** Failures: busy (no place, or none for the holder), draining. */
  start(
    job: Job<SessionJob>,
    { holder, moved }: SessionTerms,
    callbacks: SessionCallbacks,
  ): Outcome<Session> {
    if (this.#isClosed) return fail('draining')
    const place = this.#places.take(job.kind, holder)
    if (place === null) return fail('busy', { retryAfterS: 1 })
    const { port1, port2 } = new MessageChannel()
    const session = new RunningSession({
      kind: job.kind,
      port: port1,
      callbacks,
      answered: () => this.#answered(session),
    })
    this.#running.add(session)
    this.#watchSessions()
    const ended = this.#threads.use().run({ ...job, port: port2 }, { transferList: [port2, ...moved] })
    // A caller that awaits the session's end must find its place free.
    const leave = (): void => {
      this.#running.delete(session)
      place.leave()
      this.#threads.rest()
    }
    session.released = ended.finally(leave).then(
      () => session.close(null),
      (cause: unknown) => session.close({ cause }),
    )
    return ok(session)
  }

  count(kind: SessionJob['kind']): number {
    let count = 0
    for (const session of this.#running) if (session.kind === kind) count++
    return count
  }

  get load(): SessionLoad {
    const threads = this.#threads.running?.threads ?? []
    return {
      threads: threads.length,
      intakes: this.count('intake'),
      unsealings: this.count('unseal'),
      waiting: [...this.#running].filter((session) => session.threadId === null).length,
      waitS: this.#waitMs / 1000,
      begun: this.#begun,
      busyS: this.#clock.busyS(threads),
      silentThreads: this.#silentThreads,
    }
  }

  /** Cancels the sessions and ends the threads. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#stopWatching()
    for (const session of this.#running) session.cancel()
    await this.#threads.close()
  }

  #answered(session: RunningSession): void {
    const { threadId, begunMs, startedMs } = session
    if (threadId === null || begunMs === null) return
    const silence = this.#silence.get(threadId)
    if (silence !== undefined) silence.hasAnswered = true
    if (session.isCounted) return
    session.isCounted = true
    this.#begun++
    this.#waitMs += begunMs - startedMs
  }

  #watchSessions(): void {
    const { silentMs = THREAD_SILENT_MS_MAX } = this.#options
    this.#watch ??= setInterval(() => this.#look(), silentMs / PINGS_MAX).unref()
  }

  #stopWatching(): void {
    if (this.#watch !== null) clearInterval(this.#watch)
    this.#watch = null
  }

  /** Counts checks instead of milliseconds: after this side was suspended, the answers are already waiting. */
  #look(): void {
    if (this.#running.size === 0) this.#stopWatching()
    const byThread = new Map<number, RunningSession>()
    for (const session of this.#running) {
      if (session.threadId !== null) byThread.set(session.threadId, session)
      // Every thread may be stuck in a way that even ending it fails.
      else if (session.looks++ > LOOKS_MAX) session.lose(new Error('no thread accepted the session'))
    }
    for (const threadId of this.#silence.keys()) if (!byThread.has(threadId)) this.#silence.delete(threadId)
    for (const [threadId, session] of byThread) {
      const before = this.#silence.get(threadId)
      const pings = before === undefined || before.hasAnswered ? 0 : before.pings
      if (pings >= PINGS_MAX) this.#end(threadId)
      this.#silence.set(threadId, { pings: pings + 1, hasAnswered: false })
      session.post({ kind: 'ping' })
    }
  }

  /** Ends a thread. A thread that is stuck in a system call ends after the call, but its sessions end at once. */
  #end(threadId: number): void {
    const threads = this.#threads.running?.threads ?? []
    const thread = threads.find((known) => known.threadId === threadId)
    if (thread === undefined || this.#ended.has(threadId)) return
    this.#ended.add(threadId)
    this.#silentThreads++
    this.#options.log.error('worker.thread_silent', { threadId })
    this.#clock.busyS(threads)
    void thread.terminate().then(() => {
      this.#ended.delete(threadId)
      this.#threads.reload()
    })
    for (const session of this.#running) {
      if (session.threadId === threadId) session.lose(new Error("the session's thread did not answer"))
    }
  }

  #open(): Threads {
    const { threadCount, log, entry } = this.#options
    const pool: Threads = new Piscina({
      filename: (entry ?? new URL('../../../bundle/session-thread.js', import.meta.url)).href,
      minThreads: threadCount,
      maxThreads: threadCount,
      // Equal to all places: while one thread is replaced, the others take over its share.
      concurrentTasksPerWorker: this.#placesMax,
      // An idle thread waits in its loop, so that ports close and its idle time is measured as idle.
      atomics: 'disabled',
      niceIncrement: SESSION_THREAD_NICE,
      loadBalancer: (_task, threads) => leastBusy(threads.filter((thread) => !this.#ended.has(thread.id))),
      resourceLimits: threadHeap({ heapMib: SESSION_THREAD_HEAP_MIB, semiSpaceMib: SESSION_SEMI_SPACE_MIB }),
    })
    // Logs a thread that ends without a session; without a listener its error would end the process.
    pool.on('error', (cause: unknown) => log.error('worker.thread_lost', { kind: 'session', cause }))
    return pool
  }

  /** One empty task for each thread. */
  #load(pool: Threads): Promise<unknown> {
    return Promise.allSettled(Array.from({ length: this.#options.threadCount }, () => pool.run(null)))
  }
}

class RunningSession implements Session {
  readonly kind: SessionJob['kind']
  readonly startedMs = performance.now()
  begunMs: number | null = null
  threadId: number | null = null
  isCounted = false
  looks = 0
  released: Promise<void> = Promise.resolve()
  readonly over: Promise<void>
  isLost = false
  #end: () => void = () => {}
  readonly #port: MessagePort
  readonly #answered: () => void
  /** Null: no further callbacks. */
  #callbacks: SessionCallbacks | null

  constructor({
    kind,
    port,
    callbacks,
    answered,
  }: {
    kind: SessionJob['kind']
    port: MessagePort
    callbacks: SessionCallbacks
    answered: () => void
  }) {
    this.kind = kind
    this.#port = port
    this.#callbacks = callbacks
    this.#answered = answered
    this.over = new Promise((resolve) => {
      this.#end = resolve
    })
    port.on('message', (message: FromThread) => this.#receive(message))
  }

  post(message: ToThread, moved?: ArrayBuffer): void {
    this.#port.postMessage(message, moved === undefined ? [] : [moved])
  }

  cancel(): void {
    if (this.#callbacks === null) return
    this.#callbacks = null
    this.post({ kind: 'cancel' })
  }

  /** Reports that the task has ended. Earlier messages of the thread may still wait at the port. */
  close(lost: { readonly cause: unknown } | null): void {
    for (
      let waiting = receiveMessageOnPort(this.#port);
      waiting !== undefined;
      waiting = receiveMessageOnPort(this.#port)
    ) {
      this.#receive(waiting.message as FromThread)
    }
    this.#port.close()
    this.#end()
    this.#reportLoss(lost?.cause ?? new Error('the session ended without a last message'))
  }

  /** The session has ended for its main side; its thread may still hold resources. */
  lose(cause: unknown): void {
    if (this.#callbacks !== null) this.post({ kind: 'cancel' })
    this.isLost = true
    this.#end()
    this.#reportLoss(cause)
  }

  #reportLoss(cause: unknown): void {
    const callbacks = this.#callbacks
    this.#callbacks = null
    callbacks?.onLost(cause)
  }

  #receive(message: FromThread): void {
    if (message.kind === 'begun') {
      this.threadId = message.threadId
      this.begunMs = performance.now()
    }
    this.#answered()
    const callbacks = this.#callbacks
    if (isLast(message)) this.#callbacks = null
    if (message.kind !== 'begun' && message.kind !== 'pong') callbacks?.onMessage(message)
  }
}

function leastBusy<T extends { readonly currentUsage: number }>(threads: readonly T[]): T | null {
  return threads.reduce<T | null>(
    (best, thread) => (best === null || thread.currentUsage < best.currentUsage ? thread : best),
    null,
  )
}

function isLast({ kind }: FromThread): boolean {
  return kind === 'verdict' || kind === 'opened' || kind === 'failed' || kind === 'system'
}

/** The busy time of threads, ended threads included. */
class ThreadClock {
  readonly #busyMs = new Map<number, number>()
  #endedMs = 0

  /** @param threads that live now; call it often, so that little of an ending thread's time is lost */
  busyS(threads: readonly Worker[]): number {
    const living = new Set(threads.map((thread) => thread.threadId))
    for (const [id, busyMs] of this.#busyMs) {
      if (living.has(id)) continue
      this.#endedMs += busyMs
      this.#busyMs.delete(id)
    }
    for (const thread of threads)
      this.#busyMs.set(thread.threadId, thread.performance.eventLoopUtilization().active)
    const livingMs = [...this.#busyMs.values()].reduce((sum, busyMs) => sum + busyMs, 0)
    return (this.#endedMs + livingMs) / 1000
  }
}
