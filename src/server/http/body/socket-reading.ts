import { REPLY_BEAT_MS } from '../../../schemas/limits/limits.ts'
import type { WireResponse } from '../reply/wire.ts'
import type { Timer, TimerGuard, Timers } from '../timers.ts'

/**
 * Milliseconds for which the front stops reading the connection of a call that has no answer yet and is
 * canceled when its client disconnects. Decision.
 */
export const UNREAD_MS = 1_000

/** The part of an exchange that the reading of its connection uses. */
export interface ReadExchange extends Pick<Timers, 'start'>, TimerGuard {
  /** True once the client has disconnected or was answered. */
  readonly isOver: boolean
  /** The whole request has arrived. */
  readonly isWhole: boolean
  awaitAnswer(): void
  /** Called when a callback threw, which is a bug. */
  crashed(error: unknown): void
}

/** Decides when the front reads the connection of one exchange, and when it pauses reading. */
export class SocketReading {
  readonly #exchange: ReadExchange
  /** Null once the exchange no longer owns the response. */
  #res: WireResponse | null
  #isPaused = false
  /** Timer that runs while the front does not read a connection with an open answer; it ends this pause. */
  #unread: Timer | null = null
  /** True when the call in progress costs money: the connection is not read before the answer. */
  #isHeld = false
  /** True when the call in progress must be canceled as soon as its client disconnects. */
  #isWatched = false

  constructor(res: WireResponse, exchange: ReadExchange) {
    this.#res = res
    this.#exchange = exchange
  }

  pause(): void {
    this.#isPaused = true
    this.#res?.pause()
  }

  /** Resumes only a paused socket, and pauses it again just before: the library stops reading forever when a socket is resumed that is not paused. */
  resume(): void {
    if (this.#isPaused) this.beat()
    this.#isPaused = false
  }

  /** Pauses and resumes, which shows the library that the connection is in use. */
  beat(): void {
    this.#res?.pause()
    this.#res?.resume()
  }

  /** When the socket takes only a part of a write, the library resumes reading a paused request. */
  wrote(): void {
    if (this.#isPaused) this.#res?.pause()
  }

  /**
   * The library cuts a connection when a request arrives while another one has no answer. So the connection is
   * not read meanwhile, and further requests wait in the kernel. The front then does not notice when the
   * client disconnects. So a call that is canceled with its client pauses reading only for UNREAD_MS, and a
   * watched call not at all. Called after the read: a request pipelined in the same read cannot be held back.
   */
  #holdNext(): void {
    if (this.#exchange.isOver || !this.#exchange.isWhole || this.#isPaused || this.#isWatched) return
    this.pause()
    if (!this.#isHeld) this.#unread = this.#exchange.start(UNREAD_MS, this)
  }

  readEnded(): void {
    try {
      this.#holdNext()
    } catch (error) {
      this.#exchange.crashed(error)
    }
  }

  /** Called at the end of the pause. */
  timeUp(): void {
    this.#readNext()
  }

  /**
   * The library cuts a resumed connection that sends nothing for 10 s, although the client waits for its
   * answer: the beat prevents this.
   */
  #readNext(): void {
    this.#unread?.stop()
    this.#unread = null
    if (this.#exchange.isOver || !this.#exchange.isWhole) return
    if (this.#isPaused) this.resume()
    else this.beat()
    this.#unread = this.#exchange.start(REPLY_BEAT_MS, this)
  }

  /**
   * Reads the connection from now on, so that the front notices at once when the client disconnects. Another
   * request before the answer cuts the connection.
   */
  watch(): void {
    this.#isWatched = true
    this.#readNext()
  }

  /** @param isHeld the call costs money even if the client disconnects; false: a disconnect of the client matters again */
  hold(isHeld: boolean): void {
    if (isHeld === this.#isHeld) return
    this.#isHeld = isHeld
    if (!isHeld) return this.#readNext()
    this.#unread?.stop()
    this.#unread = null
    if (!this.#isPaused) this.#exchange.awaitAnswer()
  }

  /** Called when the answer begins or the client disconnected: no timer ends the pause any more. */
  stopTimer(): void {
    this.#unread?.stop()
  }

  /** Called when the exchange gives up the response. */
  end(): void {
    this.#res = null
    this.stopTimer()
  }
}

interface EndOfRead {
  /** Must not throw. */
  readEnded(): void
}

/** Work for the end of a read, if the exchange is not over by then. */
class WorkAfterRead implements EndOfRead {
  readonly #exchange: ReadExchange
  readonly #act: () => void

  constructor(exchange: ReadExchange, act: () => void) {
    this.#exchange = exchange
    this.#act = act
  }

  readEnded(): void {
    if (!this.#exchange.isOver) this.#exchange.guard(this.#act)
  }
}

/**
 * Calls back when the library has parsed all bytes of its read. The library does not report the end of a
 * read; but it parses only while the loop polls, and immediates run after that.
 */
export class ReadEnd {
  readonly #acts = new Turn()
  readonly #pauses = new Turn()

  after(exchange: ReadExchange, act: () => void): void {
    this.#acts.add(new WorkAfterRead(exchange, act))
    this.#pauses.expect()
  }

  /**
   * Runs after all `after` callbacks and their promises, and before the loop polls again: a call answered by
   * then needs no pause, which would cost three system calls.
   */
  atEnd(one: EndOfRead): void {
    if (!this.#pauses.isExpected) this.#acts.expect()
    this.#pauses.add(one)
  }
}

/** Callbacks that run together in one immediate. Promises run between two immediates. */
class Turn {
  isExpected = false
  #waiting: EndOfRead[] = []

  add(one: EndOfRead): void {
    this.#waiting.push(one)
    this.expect()
  }

  /** Schedules the immediate, which fixes the order among immediates. */
  expect(): void {
    if (this.isExpected) return
    this.isExpected = true
    setImmediate(this.#run)
  }

  readonly #run = (): void => {
    const waiting = this.#waiting
    this.#waiting = []
    this.isExpected = false
    for (const one of waiting) one.readEnded()
  }
}
