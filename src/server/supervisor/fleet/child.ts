import { fork, type ChildProcess } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import type { HistoryData } from '../../../schemas/operator/history.ts'
import type { HistoryInput } from '../../../schemas/operator/history-range.ts'
import { FRONT_HEAP_MIB } from '../../../schemas/operator/memory-limits.ts'
import { childEnvironment } from '../../config.ts'
import type { HistoryHour } from '../../ports/operator/history.ts'
import type { FrontFigures } from '../../observe/history/figure-reader.ts'
import type { LiveReading } from '../../observe/live-reader.ts'
import type { ChildPart, FromChild, KeyList, Role, ToChild } from './ipc.ts'
import { isTraced } from './process-state.ts'
import { PACKAGE_ROOT } from '../version.ts'
import { PendingRequests } from './channel.ts'

/** Milliseconds that a child may take to become ready; a loaded machine is slow. */
const READY_MS_MAX = 30_000
/** Milliseconds that a child may take to return its metrics or its reading for the live view. */
const ANSWER_MS_MAX = 1_000
/** Milliseconds that a runner may take to write an hour of the history. */
const ROLL_UP_MS_MAX = 2_000

/**
 * A young generation that stays in a core's cache. The default one grows to 16 MiB, and then every request's garbage
 * passes through memory outside of the cache: 90 µs of CPU a request against 58 for embeddings responses of 18 KB. The
 * thread of the event loop collects such a small generation by itself: helper threads cost more than they save, and on
 * a machine with few cores the loop waits for them. Decision.
 */
export const YOUNG_HEAP: readonly string[] = [
  '--min-semi-space-size=8',
  '--max-semi-space-size=8',
  '--no-parallel-scavenge',
]

/** Lets an idle process collect its garbage (`observe/heap-collector.ts`). */
const COLLECTS = '--expose-gc'

/** Options of a runner: its young generation grows with its work, up to that of a front, and takes little memory until then. */
export const RUNNER_HEAP: readonly string[] = ['--max-semi-space-size=8', '--no-parallel-scavenge', COLLECTS]

/** Options of a front, whose threads have heaps of their own. */
export const FRONT_HEAP: readonly string[] = [
  ...YOUNG_HEAP,
  `--max-old-space-size=${FRONT_HEAP_MIB}`,
  COLLECTS,
]
/** Signal by which the runtime ends a process with a full heap. */
const HEAP_FULL_SIGNAL = 'SIGABRT'
/** Reason for the log of such an end. */
const HEAP_FULL_TEXT =
  'the JavaScript runtime aborted; "heap out of memory" on stderr means its heap was full'

/** The part of the node's history that a child uses. */
export interface ChildHistory {
  /** @param childId id of the child that sent the figures */
  take(childId: string, figures: FrontFigures): void
  read(input: HistoryInput): HistoryData
}

/** A forked front or runner. The process loads its role at once and builds it after `start`. */
export class Child {
  readonly id: string = randomUUID()
  readonly role: Role
  readonly pid: number
  /** Why the process ended, in words for the log. */
  readonly ended: Promise<string>
  #isReady = false
  #isGone = false
  #pulses = 0
  #isInspected = false
  #hasCalls = false
  #hasStore = false
  #hasReachedStore = false
  #reason = ''
  /** Open requests to the child by number: each gets one reply, null when none comes. */
  readonly #snapshots = new PendingRequests<unknown>(ANSWER_MS_MAX)
  readonly #looks = new PendingRequests<LiveReading>(ANSWER_MS_MAX)
  readonly #knownKeys = new PendingRequests<KeyList>(ANSWER_MS_MAX)
  readonly #rollUps = new PendingRequests<boolean>(ROLL_UP_MS_MAX)
  readonly #process: ChildProcess
  readonly #history: ChildHistory | undefined

  /** @param isAhead true for a preloaded process: process lists show it as a spare until it is started */
  constructor(role: Role, isAhead: boolean, history?: ChildHistory) {
    this.role = role
    this.#history = history
    // The child has its own session: Ctrl-C and a closing terminal reach only the supervisor, which drains first.
    this.#process = fork(fileURLToPath(new URL('bin/sluice', PACKAGE_ROOT)), [isAhead ? 'spare' : role], {
      env: childEnvironment(),
      execArgv: [...(role === 'front' ? FRONT_HEAP : RUNNER_HEAP)],
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      detached: true,
    })
    this.pid = this.#process.pid ?? 0
    this.ended = new Promise((resolve) => {
      this.#process.once('error', (error) => resolve(error.message))
      this.#process.once('exit', (code, by) => {
        this.#snapshots.giveUp()
        this.#looks.giveUp()
        this.#knownKeys.giveUp()
        this.#rollUps.giveUp()
        this.#isGone = true
        const reason = by === HEAP_FULL_SIGNAL ? HEAP_FULL_TEXT : this.#reason
        resolve([by ?? `exit code ${code}`, reason].filter((word) => word !== '').join(': '))
      })
    })
    this.#process.on('message', (message: FromChild) => this.#receive(message))
  }

  get isGone(): boolean {
    return this.#isGone
  }

  get isReady(): boolean {
    return this.#isReady
  }

  /** Heartbeats that the child has sent. */
  get pulses(): number {
    return this.#pulses
  }

  /** True when the child had calls before its last heartbeat. */
  get hasCalls(): boolean {
    return this.#hasCalls
  }

  /** True when the child's connections to Postgres answered at its last heartbeat. */
  get hasStore(): boolean {
    return this.#hasStore
  }

  /** True from the first answer of Postgres on: before that, a front knows no key. */
  get hasReachedStore(): boolean {
    return this.#hasReachedStore
  }

  /** True when a debugger is attached to the child, so that it may be paused. */
  get isDebugged(): boolean {
    return this.#isInspected || isTraced(this.pid)
  }

  /** Assigns a place to the child; true when the child is ready, false when it ended before. Call once. */
  start(part: ChildPart): Promise<boolean> {
    const ready = this.#whenReady()
    this.#send({ kind: 'start', part: { ...part, id: this.id } })
    return ready
  }

  announce(): void {
    this.#send({ kind: 'announced' })
  }

  /** @param idleMs milliseconds for which a front that is not being replaced keeps connections without a call */
  drain(isReplaced: boolean, idleMs = 0): void {
    this.#send({ kind: 'drain', isReplaced, idleMs })
  }

  /** Sends the number of connections that the node may hold from now on. */
  scaled(connections: number): void {
    this.#send({ kind: 'scaled', connections })
  }

  kill(): void {
    this.#process.kill('SIGKILL')
  }

  /** Metrics in prom-client's JSON form; null when the child does not answer in time. */
  snapshot(): Promise<unknown> {
    return this.#snapshots.ask((id) => this.#send({ kind: 'snapshot', id }))
  }

  /** The child's reading for the live view; null when the child does not answer in time. */
  look(): Promise<LiveReading | null> {
    return this.#looks.ask((id) => this.#send({ kind: 'look', id }))
  }

  /** The keys that a front has cached; null when the front does not answer in time. */
  knownKeys(): Promise<KeyList | null> {
    return this.#knownKeys.ask((id) => this.#send({ kind: 'known_keys', id }))
  }

  /** Sends a starting front the keys to begin with: the front waits a short time for them. */
  beginWith(keys: KeyList): void {
    this.#send({ kind: 'begin_with', keys })
  }

  /** Has a runner write an hour to the store. @returns whether it did */
  async rollUp(hour: HistoryHour): Promise<boolean> {
    return (await this.#rollUps.ask((id) => this.#send({ kind: 'roll_up', id, hour }))) === true
  }

  /** Makes a runner look now for uploads whose front has died. */
  sweep(): void {
    this.#send({ kind: 'sweep' })
  }

  #whenReady(): Promise<boolean> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        this.#reason = `not ready after ${READY_MS_MAX} ms`
        this.kill()
      }, READY_MS_MAX)
      const settle = (isReady: boolean): void => {
        clearTimeout(timer)
        this.#isReady = isReady
        resolve(isReady)
      }
      this.#process.on('message', (message: FromChild) => {
        if (message.kind !== 'ready') return
        this.#noteStore(message.hasStore)
        settle(true)
      })
      void this.ended.then(() => {
        settle(false)
      })
    })
  }

  #receive(message: FromChild): void {
    if (message.kind === 'pulse') {
      this.#pulses++
      this.#isInspected = message.isInspected
      this.#hasCalls = message.hasCalls
      this.#noteStore(message.hasStore)
      if (message.figures !== undefined) this.#history?.take(this.id, message.figures)
    }
    if (message.kind === 'history' && this.#history !== undefined)
      this.#send({ kind: 'history', id: message.id, data: this.#history.read(message.input) })
    if (message.kind === 'failed') this.#reason = message.reason
    if (message.kind === 'snapshot') this.#snapshots.answer(message.id, message.metrics)
    if (message.kind === 'looked') this.#looks.answer(message.id, message.reading)
    if (message.kind === 'rolled_up') this.#rollUps.answer(message.id, message.isKept)
    if (message.kind === 'known_keys') this.#knownKeys.answer(message.id, message.keys)
  }

  #noteStore(hasStore: boolean): void {
    this.#hasStore = hasStore
    this.#hasReachedStore ||= hasStore
  }

  /** A child that is just ending has no channel any more; `ended` reports its end. */
  #send(message: ToChild): void {
    if (this.#process.connected) this.#process.send(message, () => undefined)
  }
}
