import { setImmediate as turn } from 'node:timers/promises'
import type { Failure, Outcome } from '../../schemas/failures.ts'
import {
  DRAIN_MS_MAX,
  DRAINS_MAX,
  STREAM_BYTES_MAX,
  STREAM_HELD_BYTES_MAX,
  STREAM_MS_MAX,
  USAGE_MS_MAX,
} from '../../schemas/inference/stream-limits.ts'
import { endedBy } from '../../schemas/values/call-ended.ts'
import type { ByteReader } from '../ports/byte-streams.ts'
import type { AnswerRoom } from '../ports/egress/egress.ts'
import type { StreamBudget } from '../structures/loop-budget.ts'
import { MovingTimer } from '../structures/moving-timer.ts'
import { blockedPrompt } from '../upstream/provider-failure.ts'
import type { WritingAttempt, InferenceSink } from '../upstream/inference/protocol.ts'
import { areLarge, slicesOf } from '../upstream/inference/sliced-parts.ts'
import type { WrittenPart, NativeRead, NativeStream, PartRead, PartStream } from '../../dialects/parts.ts'
import { readOut } from '../upstream/inference/framing.ts'
import type { LeaveKind } from '../../schemas/models/protocols.ts'

/**
 * Bytes of events before the first output of a stream, for example a role and a few empty texts. They are held
 * back until the first output, so that a failed attempt leaves no trace. Decision.
 */
export const STREAM_PREFACE_BYTES_MAX = 256 * 1024

const TOO_LARGE: Failure = { name: 'upstream_too_large', fields: { limit: STREAM_BYTES_MAX } }
const NO_OUTPUT: Failure = {
  name: 'upstream_invalid',
  detail: "The provider's stream began without an output.",
}

/** Counts the streams of a front that are read to their end although their callers have disconnected. */
export class Drains {
  #count = 0

  /** @returns false when too many are already being read */
  begin(): boolean {
    if (this.#count >= DRAINS_MAX) return false
    this.#count++
    return true
  }

  end(): void {
    this.#count--
  }
}

export interface RelayInput {
  readonly body: ByteReader
  readonly stream: NativeStream | PartStream
  /** The attempt: its sink receives the answer, and its `begin` is called before the first output is passed on. */
  readonly attempt: Pick<WritingAttempt, 'sink' | 'begin' | 'mayChangeModel'>
  /** Members of the request that were not sent to the provider. */
  readonly dropped: readonly string[]
  /** The call. */
  readonly signal: AbortSignal
  /** Milliseconds until the first output. */
  readonly firstOutputMs: number
  /** Milliseconds between two events after the first output. */
  readonly stallMs: number
  readonly onLeave: LeaveKind
  readonly drains: Drains
  /** Room in the front's budget, for an incomplete event above STREAM_HELD_BYTES_MAX. */
  readonly room: Pick<AnswerRoom, 'bytes' | 'more' | 'give'>
  /** Budget of the turns of the event loop. */
  readonly budget: Pick<StreamBudget, 'isSpent' | 'used' | 'next'>
  /** Monotonic milliseconds; absent: the clock of the process. */
  readonly now?: () => number
}

export interface Relayed {
  /** Null: the stream was whole. */
  readonly failure: Failure | null
  /** True when the first output was passed on. */
  readonly hasBegun: boolean
  /** Milliseconds in which the provider was not read: the caller did not read, or the loop was shared. */
  readonly pausedMs: number
  /** True when the provider was read further after the caller had disconnected. */
  readonly isDrained: boolean
}

/** The end of a stream. */
interface Over {
  readonly failure: Failure | null
}

/** Complete events in the caller's dialect, or parts from which they are written. */
type Output = Uint8Array | readonly WrittenPart[]
/**
 * Bytes of a read that a stream processes at once: reduced while they take longer than SLICE_MS_MAX, and up to
 * a whole read of the socket while they do not. Decision.
 */
const [SLICE_BYTES_MIN, SLICE_BYTES, SLICE_BYTES_MAX] = [1_024, 8_192, 65_536] as const
const SLICE_MS_MAX = 0.25
/** Memory counted for a part that is not output: the end of a block, a signature. */
const PART_BYTES = 256

/** Passes each event on in the turn in which its last byte arrived. Parts before the first output are held back: a failed attempt leaves no trace. */
export class Relay {
  readonly #input: RelayInput
  readonly #now: () => number
  /** Parts before the first output. */
  readonly #held: Output[] = []
  #heldBytes = 0
  /** Bytes of the provider's body so far. */
  #bodyBytes = 0
  #hasBegun = false
  /** The caller keeps up. */
  #hasRoom = true
  /** Bytes of the last read of the body that the stream has not processed; null: none. */
  #unread: Uint8Array | null = null
  #sliceBytes: number = SLICE_BYTES
  /** Parts that are written in several turns of the loop; null: there are none. */
  #slices: Iterable<readonly WrittenPart[]> | null = null
  /** Continues after an event that a thread processes; null: no such event. */
  #rest: NonNullable<PartRead['rest']> | null = null
  #isLate = false
  #isDraining = false
  #pausedMs = 0
  readonly #timer: MovingTimer
  /** Timer that ends an endless stream. */
  #whole: NodeJS.Timeout | undefined
  #isOver = false

  constructor(input: RelayInput) {
    this.#input = input
    this.#now = input.now ?? (() => performance.now())
    this.#timer = new MovingTimer(this.#onLate, this.#now)
  }

  async run(): Promise<Relayed> {
    const { signal, drains, body, stream, room } = this.#input
    signal.addEventListener('abort', this.#onLeave)
    if (signal.aborted) this.#onLeave()
    this.#timer.start(this.#input.firstOutputMs)
    this.#whole = setTimeout(this.#onOver, STREAM_MS_MAX)
    try {
      const failure = (await this.#read()) ?? this.#blocked()
      if (failure === null && !this.#hasBegun) this.#begin()
      return {
        failure,
        hasBegun: this.#hasBegun,
        pausedMs: this.#pausedMs,
        isDrained: this.#isDraining,
      }
    } finally {
      this.#timer.close()
      clearTimeout(this.#whole)
      signal.removeEventListener('abort', this.#onLeave)
      if (this.#isDraining) drains.end()
      room.give()
      if (stream.isDone) void readOut(body)
      else body.close()
    }
  }

  /** The failure of a blocked prompt if another model may still answer; otherwise the block is the answer. */
  #blocked(): Failure | null {
    const { stream, attempt } = this.#input
    const { blocked } = stream
    return blocked !== undefined && attempt.mayChangeModel() ? blockedPrompt(blocked) : null
  }

  async #read(): Promise<Failure | null> {
    const { body, budget } = this.#input
    for (;;) {
      if (this.#unread === null) {
        const ended = this.#take(await body.next())
        if (ended !== null) return ended.failure
      }
      // Checked first: awaiting each time would cost a turn of the microtasks.
      if (budget.isSpent) await this.#pause()
      const taken = this.#readSlice()
      const over = this.#rest === null && this.#slices === null ? taken : await this.#goOn(taken)
      if (over !== null) return over.failure
      const memory = this.#hasMemory()
      if (memory !== true && !(await memory)) return this.#endedAs({ name: 'busy' })
      // A caller who has disconnected reads nothing, and the time limit of a drain continues to run.
      if (!this.#hasRoom && !this.#isDraining) await this.#waitForRoom()
    }
  }

  /** Continues in a later turn of the loop; the provider is not read until then. */
  async #pause(): Promise<void> {
    const pausedAt = this.#now()
    await this.#besides(this.#input.budget.next())
    this.#pausedMs += this.#now() - pausedAt
  }

  /** Processes a slice of a read: a whole read of small events would take many milliseconds. */
  #readSlice(): Over | null {
    const { stream, budget } = this.#input
    const unread = this.#unread
    // The call ended during a wait: the next read reports how.
    if (unread === null) return null
    const slice = unread.length <= this.#sliceBytes ? unread : unread.subarray(0, this.#sliceBytes)
    this.#unread = slice === unread ? null : unread.subarray(slice.length)
    const startedAt = this.#now()
    const over = this.#took(stream.read(slice))
    const ms = this.#now() - startedAt
    budget.used(ms, slice.length)
    if (ms > SLICE_MS_MAX) this.#sliceBytes = Math.max(SLICE_BYTES_MIN, this.#sliceBytes / 2)
    else if (slice.length === this.#sliceBytes && ms * 2 < SLICE_MS_MAX)
      this.#sliceBytes = Math.min(SLICE_BYTES_MAX, this.#sliceBytes * 2)
    return over
  }

  /** Waits for the caller to read; this time does not count as the provider's. */
  async #waitForRoom(): Promise<void> {
    const { attempt, stallMs } = this.#input
    this.#timer.stop()
    const pausedAt = this.#now()
    await attempt.sink.room()
    this.#pausedMs += this.#now() - pausedAt
    if (!this.#isDraining) this.#timer.start(stallMs)
  }

  /** Writes output that exceeds one turn of the loop, and continues after events that a thread processes. */
  async #goOn(taken: Over | null): Promise<Over | null> {
    let over = taken
    for (;;) {
      await this.#writeSlices()
      const rest = this.#rest
      if (rest === null) return over
      this.#rest = null
      if (!this.#hasRoom && !this.#isDraining) await this.#waitForRoom()
      over = this.#took(await this.#besides(rest()))
    }
  }

  async #writeSlices(): Promise<void> {
    const { attempt, signal } = this.#input
    const slices = this.#slices ?? []
    this.#slices = null
    for (const slice of slices) {
      if (this.#hasRoom || this.#isDraining) await this.#besides(turn())
      else await this.#waitForRoom()
      // The client has disconnected and reads no more.
      if (signal.aborted && !this.#isDraining) return
      this.#hasRoom = deliver(slice, attempt.sink)
    }
  }

  /** Waits for Sluice's own work; the provider's timer is stopped meanwhile. */
  async #besides<T>(work: Promise<T>): Promise<T> {
    const { leftMs } = this.#timer
    if (!this.#isDraining) this.#timer.stop()
    const done = await work
    if (!this.#isDraining) this.#timer.start(leftMs)
    return done
  }

  /** Takes the result of a read. @returns null: the stream continues */
  #take(next: Outcome<Uint8Array | null>): Over | null {
    if (this.#isOver) return { failure: { name: 'deadline_exceeded' } }
    if (this.#isLate && !this.#isDraining) return { failure: { name: 'upstream_slow' } }
    if (!next.ok) return { failure: this.#endedAs(next.failure) }
    if (next.value === null) return { failure: this.#end() }
    this.#bodyBytes += next.value.length
    if (this.#bodyBytes > STREAM_BYTES_MAX) return { failure: TOO_LARGE }
    this.#unread = next.value
    return null
  }

  #took(read: NativeRead | PartRead): Over | null {
    const { stream } = this.#input
    const { failure } = read
    const output = outputOf(read)
    this.#hasRoom = output === null || this.#pass(output)
    if ('rest' in read) this.#rest = read.rest ?? null
    if (failure !== null) return { failure }
    if (stream.isDone) return { failure: stream.end() }
    return this.#heldBytes > STREAM_PREFACE_BYTES_MAX ? { failure: NO_OUTPUT } : null
  }

  #end(): Failure | null {
    const { stream } = this.#input
    const failure = stream.end()
    // If the call ended, the received part was dropped: its missing end is then not the provider's fault.
    if (failure !== null) return this.#endedAs(failure)
    if ('finalParts' in stream) this.#pass(stream.finalParts ?? [])
    return null
  }

  /**
   * Takes room for an incomplete event: thousands of streams could each have one of 16 MiB. The provider is
   * not read meanwhile, but its time limit continues to run.
   */
  #hasMemory(): true | Promise<boolean> {
    const { stream, room } = this.#input
    const { heldBytes } = stream
    if (heldBytes > Math.max(room.bytes, STREAM_HELD_BYTES_MAX)) return room.more(heldBytes - room.bytes)
    if (heldBytes <= STREAM_HELD_BYTES_MAX) room.give()
    return true
  }

  /** The failure after a wait: the end of the call, if that ended the wait, else the given one. */
  #endedAs(failure: Failure): Failure {
    const { signal } = this.#input
    if (this.#isOver) return { name: 'deadline_exceeded' }
    return signal.aborted && !this.#isDraining ? endedBy(signal) : failure
  }

  /** Ends all waits by closing the body. */
  #stop(): void {
    this.#unread = null
    this.#input.room.give()
    this.#input.body.close()
  }

  /** @returns false: the client is slow */
  #pass(output: Output): boolean {
    if (!this.#input.stream.hasOutput) {
      this.#hold(output)
      return true
    }
    if (!this.#hasBegun) this.#begin()
    if (!this.#isDraining) this.#timer.start(this.#input.stallMs)
    if (output instanceof Uint8Array || !areLarge(output)) return deliver(output, this.#input.attempt.sink)
    this.#slices = slicesOf(output)
    return true
  }

  /** Keeps output. It is copied, since events are lent only until the next read. */
  #hold(output: Output): void {
    this.#held.push(output instanceof Uint8Array ? Uint8Array.from(output) : output)
    this.#heldBytes += output instanceof Uint8Array ? output.length : output.length * PART_BYTES
  }

  #begin(): void {
    const { attempt, dropped, stream } = this.#input
    this.#hasBegun = true
    this.#heldBytes = 0
    attempt.begin(dropped, stream)
    for (const output of this.#held.splice(0)) deliver(output, attempt.sink)
  }

  readonly #onLate = (): void => {
    this.#isLate = true
    this.#stop()
  }

  readonly #onOver = (): void => {
    this.#isOver = true
    this.#stop()
  }

  /** Called when the caller disconnects: closes the connection in the same turn, or reads on, to the end or for the usage that is still missing. */
  readonly #onLeave = (): void => {
    const { onLeave, drains, signal, stream } = this.#input
    if (this.#isDraining) return
    // When the node stops, the caller is still connected and waits for the event that reports it.
    const isNodeEnding = endedBy(signal).name === 'draining'
    const isReadOn = !isNodeEnding && (onLeave === 'drain' || stream.awaitsUsage)
    if (!isReadOn || !drains.begin()) return this.#stop()
    this.#isDraining = true
    this.#timer.start(onLeave === 'drain' ? DRAIN_MS_MAX : USAGE_MS_MAX)
  }
}

/** Null: the read completed nothing. */
function outputOf(read: NativeRead | PartRead): Output | null {
  if ('events' in read) return read.events
  return read.parts.length === 0 ? null : read.parts
}

/** @returns false: the client is slow */
function deliver(output: Output, sink: InferenceSink): boolean {
  return output instanceof Uint8Array ? sink.pass(output) : sink.take(output)
}
