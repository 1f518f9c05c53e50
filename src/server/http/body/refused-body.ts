import {
  MIB,
  REFUSED_BODY_BYTES_MAX,
  REFUSED_BODY_MS,
  REFUSED_BODY_STALL_MS,
} from '../../../schemas/limits/limits.ts'
import type { Timer, TimerGuard, Timers } from '../timers.ts'
import { ChunkSizes } from './body.ts'

/** Bytes of a refused body that are read and dropped for a caller without a valid key. Decision. */
export const UNKNOWN_CALLER_BODY_BYTES_MAX = MIB
/** Chunks of a refused body above which the average chunk must have at least TINY_CHUNK_BYTES. Decision. */
export const REFUSED_TINY_CHUNKS_MAX = 4_096

/** Drops the rest of a refused body, then closes the connection: closing it while the client still sends would destroy the answer. */
export class RefusedBody {
  readonly #exchange: Pick<Timers, 'start'> & TimerGuard
  /** Bytes that are dropped before the connection is closed. */
  readonly #bytesMax: number
  #discard: Discard | null = null
  #isReadAway = false
  /** Closes the connection after the answer was written and the rest of the body was dropped, up to its limit. */
  #close: (() => void) | null = null

  /** @param isLetIn the caller has a key for the operation: more of the body is read and dropped */
  constructor(exchange: Pick<Timers, 'start'> & TimerGuard, isLetIn: boolean) {
    this.#exchange = exchange
    this.#bytesMax = isLetIn ? REFUSED_BODY_BYTES_MAX : UNKNOWN_CALLER_BODY_BYTES_MAX
  }

  chunk(bytes: number, isLast: boolean): void {
    this.#discard?.chunk(bytes, isLast)
  }

  /** @param isReceiving the rest of the body is still arriving, and is dropped first */
  closeAfter(close: () => void, isReceiving: boolean): void {
    this.#close = close
    if (isReceiving) this.readAway()
    else this.#closeSoon()
  }

  /** Begins when the answer is known, since bytes that arrive before the answer is written count too. */
  readAway(): void {
    if (this.#isReadAway) return this.#closeSoon()
    this.#discard ??= new Discard(this.#exchange, this.#bytesMax, () => {
      this.#discard = null
      this.#isReadAway = true
      this.#closeSoon()
    })
  }

  stop(): void {
    this.#discard?.stop()
  }

  /** Deferred: corked bytes are sent after the read in progress, which may also bring the end of the body. */
  #closeSoon(): void {
    setImmediate(() => this.#exchange.guard(() => this.#close?.()))
  }
}

/**
 * Reads and drops the body of a refused request, within bounds of bytes and time, so that a client that reads
 * only after it has sent everything still gets its answer.
 */
class Discard {
  readonly #timers: Pick<Timers, 'start'>
  readonly #over: () => void
  readonly #whole: Timer
  readonly #chunks = new ChunkSizes(REFUSED_TINY_CHUNKS_MAX)
  #stall: Timer
  #bytesLeft: number
  #hasCome = false

  /** @param over called once, when enough was dropped */
  constructor(timers: Pick<Timers, 'start'>, bytesMax: number, over: () => void) {
    this.#bytesLeft = bytesMax
    this.#timers = timers
    this.#over = over
    this.#whole = timers.start(REFUSED_BODY_MS, () => this.#finish())
    this.#stall = this.#watch()
  }

  chunk(bytes: number, isLast: boolean): void {
    this.#bytesLeft -= bytes
    this.#hasCome = true
    if (isLast || this.#bytesLeft < 0 || !this.#chunks.add(bytes)) this.#finish()
  }

  stop(): void {
    this.#whole.stop()
    this.#stall.stop()
  }

  /** One timer for each turn instead of one for each chunk: a stall is noticed at most one turn late. */
  #watch(): Timer {
    return this.#timers.start(REFUSED_BODY_STALL_MS, () => {
      if (!this.#hasCome) return this.#finish()
      this.#hasCome = false
      this.#stall = this.#watch()
    })
  }

  #finish(): void {
    this.stop()
    this.#over()
  }
}
