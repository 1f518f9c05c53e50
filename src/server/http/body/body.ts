import type { Caller } from '../../../schemas/values/callers.ts'
import { fail, ok, type Failure, type Outcome } from '../../../schemas/failures.ts'
import {
  BODY_STALL_MS,
  INLINE_JSON_BYTES_MAX,
  TINY_CHUNKS_MAX,
  TINY_CHUNK_BYTES,
} from '../../../schemas/limits/limits.ts'
import type { Timer, Timers } from '../timers.ts'
import { CallerShares } from '../../../schemas/values/callers.ts'

/** Bytes of a body that are kept before its caller is admitted; beyond them its socket is paused. Decision. */
const UNADMITTED_BYTES_MAX = 64 * 1024

const EMPTY = new Uint8Array(0)
const BUSY = fail('busy', { retryAfterS: 1 })
const OVER = fail('client_gone')
const TOO_TINY = fail('body_invalid', { detail: 'The body arrives in too many tiny chunks.' })

/** Share of a body's announced length that must have arrived before a buffer of the whole length is allocated. Decision. */
const TRUSTED_SHARE = 1 / 4
/** The socket operations that a body needs; the exchange ignores them after its end. */
export interface BodySocket {
  pauseBody(): void
  resumeBody(): void
}

/** Receives the request's body from an exchange. */
export interface BodyTaker {
  readonly isComplete: boolean
  /** True while the body arrives: a slow client has separate limits, and its time does not count for the operation. */
  readonly isReceiving: boolean
  /** @param chunk detached after the call */
  chunk(chunk: ArrayBuffer, isLast: boolean): void
  /** Called when the call ends in any way: the body receives nothing more. */
  stop(): void
  /** Work on the received bytes begins; `returned` reports that the worker no longer holds them. */
  lend(): void
  returned(): void
}

export interface BodyOptions {
  /** Announced bytes; null when the body comes in chunks. */
  readonly declared: number | null
  readonly bytesMax: number
  readonly budget: BodyBudget
  readonly timers: Pick<Timers, 'start'>
  readonly socket: BodySocket
}

export type BodyTaken = (outcome: Outcome<Uint8Array>) => void

/**
 * Receives a body into one buffer, which gets the announced length once a part of the body has arrived, under
 * a byte limit that is checked while receiving. Until the caller is admitted, at most UNADMITTED_BYTES_MAX and
 * one more read are kept; then the socket pauses. Failures: `body_too_large`, `body_slow` (BODY_STALL_MS
 * without a byte), `busy` (the front is full, or the share of the caller's organization), `body_invalid`
 * (TINY_CHUNKS_MAX).
 */
export class Body implements BodyTaker {
  readonly #options: BodyOptions
  readonly #chunks = new ChunkSizes(TINY_CHUNKS_MAX)
  #buffer: Uint8Array = EMPTY
  #received = 0
  /** Bytes of the budget that this body holds. */
  #held = 0
  /** Workers that hold the bytes: these stay in memory even if the call is over. */
  #loans = 0
  #isStopped = false
  #caller: Caller | null = null
  #isComplete = false
  #isPaused = false
  #stall: Timer | null = null
  #taken: BodyTaken | null = null
  #refusal: Outcome<never> | null = null

  constructor(options: BodyOptions) {
    this.#options = options
    const { declared, bytesMax } = options
    if (declared !== null && declared > bytesMax) this.#refuse(tooLarge(bytesMax))
  }

  get isComplete(): boolean {
    return this.#isComplete
  }

  get isReceiving(): boolean {
    return !this.#isComplete
  }

  /** The reason to refuse the body: its announced length, or a fault in the received part. */
  get refusal(): Failure | null {
    return this.#refusal?.ok === false ? this.#refusal.failure : null
  }

  /**
   * Admits the body. `taken` is called once, possibly before this returns. Up to INLINE_JSON_BYTES_MAX bytes
   * are only lent for the call; a longer body has its own buffer, which may be transferred.
   */
  admit(caller: Caller, taken: BodyTaken, now?: number): void {
    this.#taken = taken
    if (this.#held > 0 && this.#refusal === null) this.#charge(caller)
    this.#caller = caller
    if (this.#refusal !== null) return this.#finish(this.#refusal)
    if (this.#isComplete) return this.#finish(ok(this.#buffer.subarray(0, this.#received)))
    this.#watch(now)
    if (!this.#isPaused) return
    this.#isPaused = false
    this.#options.socket.resumeBody()
  }

  /** @param chunk detached after the call */
  chunk(chunk: ArrayBuffer, isLast: boolean): void {
    this.#isComplete = isLast
    if (this.#refusal !== null) return
    if (!this.#chunks.add(chunk.byteLength)) return void this.#refuse(TOO_TINY)
    const bytes = new Uint8Array(chunk)
    const isWhole = isLast && this.#received === 0
    if (isWhole && this.#taken !== null && bytes.length <= INLINE_JSON_BYTES_MAX)
      return this.#finish(ok(bytes))
    if (!this.#keep(bytes)) return
    if (isLast && this.#taken !== null) return this.#finish(ok(this.#buffer.subarray(0, this.#received)))
    if (this.#taken !== null) return this.#watch()
    if (isLast || this.#received < UNADMITTED_BYTES_MAX) return
    this.#isPaused = true
    this.#options.socket.pauseBody()
  }

  /**
   * Receives no more; later chunks only count. Called when the call ends in any way. The bytes are returned to
   * the budget when no worker holds them.
   */
  stop(): void {
    this.#stall?.stop()
    this.#taken = null
    this.#refusal ??= OVER
    this.#buffer = EMPTY
    this.#isStopped = true
    this.#giveBack()
  }

  /**
   * The received bytes for a call that keeps them: the body's own buffer unchanged, or a copy of lent bytes,
   * which counts in the budget. Null: the budget has no room.
   */
  kept(bytes: Uint8Array): Uint8Array | null {
    if (bytes.buffer === this.#buffer.buffer) return bytes
    if (!this.#options.budget.take(bytes.length, this.#caller)) return null
    this.#held += bytes.length
    return bytes.slice()
  }

  /** Called when the call no longer needs the received bytes, before its end: they are returned to the budget. */
  release(): void {
    this.#buffer = EMPTY
    this.#options.budget.giveBack(this.#held, this.#caller)
    this.#held = 0
  }

  /** Work on the received bytes begins; `returned` reports that the worker no longer holds them. */
  lend(): void {
    this.#loans++
  }

  returned(): void {
    this.#loans--
    this.#giveBack()
  }

  #giveBack(): void {
    if (!this.#isStopped || this.#loans > 0) return
    this.#options.budget.giveBack(this.#held, this.#caller)
    this.#held = 0
  }

  /** Charges the caller for the bytes that arrived before the caller was known. */
  #charge(caller: Caller): void {
    const { budget } = this.#options
    budget.giveBack(this.#held, null)
    if (budget.take(this.#held, caller)) return
    this.#held = 0
    this.#refusal = BUSY
    this.#buffer = EMPTY
  }

  #keep(bytes: Uint8Array): boolean {
    const needed = this.#received + bytes.length
    const { bytesMax } = this.#options
    if (needed > bytesMax) return this.#refuse(tooLarge(bytesMax))
    if (needed > this.#buffer.length && !this.#grow(needed)) return false
    this.#buffer.set(bytes, this.#received)
    this.#received = needed
    return true
  }

  /**
   * Doubles the buffer each time. After a quarter of the announced length one buffer takes the whole body and
   * need not grow again: an announcement with only a few bytes must not take memory and budget for the whole
   * body.
   */
  #grow(needed: number): boolean {
    const { declared, bytesMax, budget } = this.#options
    const isSmall = declared !== null && declared <= UNADMITTED_BYTES_MAX
    const isTrusted = declared !== null && this.#taken !== null && needed >= declared * TRUSTED_SHARE
    const most = declared ?? bytesMax
    const size = isSmall || isTrusted ? most : Math.min(most, Math.max(needed, 2 * this.#buffer.length))
    if (!budget.take(size - this.#held, this.#caller)) return this.#refuse(BUSY)
    this.#held = size
    const grown = new Uint8Array(size)
    grown.set(this.#buffer.subarray(0, this.#received))
    this.#buffer = grown
    return true
  }

  /** Starts the timer for the next byte of the caller. */
  #watch(now?: number): void {
    this.#stall?.stop()
    this.#stall = this.#options.timers.start(BODY_STALL_MS, this, now)
  }

  /** Called when no byte arrived in time. */
  timeUp(): void {
    this.#refuse(fail('body_slow'))
  }

  #refuse(refusal: Outcome<never>): false {
    this.#refusal = refusal
    this.#buffer = EMPTY
    if (this.#taken !== null) this.#finish(refusal)
    return false
  }

  #finish(outcome: Outcome<Uint8Array>): void {
    this.#stall?.stop()
    const taken = this.#taken
    this.#taken = null
    taken?.(outcome)
  }
}

function tooLarge(bytesMax: number): Outcome<never> {
  return fail('body_too_large', { fields: { limit: bytesMax } })
}

/**
 * Counts the chunks of a body. The library passes each chunk in a separate call, so that many tiny chunks cost
 * the loop a hundred times as much as their bytes.
 */
export class ChunkSizes {
  readonly #countMax: number
  #count = 0
  #bytes = 0

  /** @param countMax chunks whose size does not matter */
  constructor(countMax: number) {
    this.#countMax = countMax
  }

  /** @returns false when there are too many chunks with less than TINY_CHUNK_BYTES on average */
  add(bytes: number): boolean {
    this.#count++
    this.#bytes += bytes
    return this.#count <= this.#countMax || this.#bytes >= this.#count * TINY_CHUNK_BYTES
  }
}

/** Share of the budget that one organization may hold: with any number of keys, it cannot lock out all others. Decision. */
const ORGANIZATION_SHARE = 3 / 4

/** Share of the budget that one workspace may hold. Decision. */
const WORKSPACE_SHARE = 5 / 8

/** Share of the budget that one key may hold. Decision. */
const KEY_SHARE = 1 / 2

/** Bytes of bodies that one front holds at once, in all and for each organization, workspace and key. */
export class BodyBudget {
  #left: number
  readonly #shares: CallerShares

  constructor(bytesMax: number) {
    this.#left = bytesMax
    this.#shares = new CallerShares({
      organization: bytesMax * ORGANIZATION_SHARE,
      workspace: bytesMax * WORKSPACE_SHARE,
      key: bytesMax * KEY_SHARE,
    })
  }

  get left(): number {
    return this.#left
  }

  /** @param caller null before the caller is admitted */
  take(bytes: number, caller: Caller | null): boolean {
    if (bytes > this.#left) return false
    if (caller !== null && !this.#shares.fits(bytes, caller)) return false
    this.#count(bytes, caller)
    return true
  }

  giveBack(bytes: number, caller: Caller | null): void {
    this.#count(-bytes, caller)
  }

  #count(bytes: number, caller: Caller | null): void {
    this.#left -= bytes
    if (caller !== null) this.#shares.add(bytes, caller)
  }
}
