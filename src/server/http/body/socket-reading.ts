import { REPLY_BEAT_MS } from '../../../schemas/limits/limits.ts'
import type { WireResponse } from '../reply/wire.ts'
import type { Timer, TimerGuard, Timers } from '../timers.ts'

/**
 * Milliseconds that the front does not read a connection while the connection's call has no answer yet and
 * ends with its client. Decision.
 */
export const UNREAD_MS = 1_000

/** The part of an exchange that the reading of its connection uses. */
export interface ReadExchange extends Pick<Timers, 'start'>, TimerGuard {
  /** True once the client left or was answered. */
  readonly isOver: boolean
  /** The whole request has arrived. */
  readonly isWhole: boolean
  awaitAnswer(): void
  /** A callback threw: a bug. */
  crashed(error: unknown): void
}

/** When the front reads the connection of one exchange, and when it pauses reading. */
export class SocketReading {
  readonly #exchange: ReadExchange
  /** Null once the exchange no longer owns the response. */
  #res: WireResponse | null
  #isPaused = false
  /** Runs while the front does not read a connection with an open answer, and ends this pause. */
  #unread: Timer | null = null
  /** The call in progress costs money: the connection is not read before the answer. */
  #isHeld = false
  /** The call in progress ends with its client at once. */
  #isWatched = false

  constructor(res: WireResponse, exchange: ReadExchange) {
    this.#res = res
    this.#exchange = exchange
  }

  pause(): void {
    this.#isPaused = true
    this.#res?.pause()
  }

  /**
   * Resumes only a paused socket, and pauses it once more for that: the library stops reading for good when a
   * socket is resumed that is not paused.
   */
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
   * The library cuts a connection when a request arrives while another one has no answer. So the connection
   * is not read meanwhile, and further requests wait in the kernel. The front then does not notice that the
   * client leaves, so that a call that ends with its client pauses reading for UNREAD_MS only, and a watched
   * call not at all. Called after the read: a request pipelined in the same read cannot be held back.
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

  /** The pause has lasted its time. */
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
   * Reads the connection from now on, so that the front notices at once that the client leaves. A further
   * request before the answer cuts the connection.
   */
  watch(): void {
    this.#isWatched = true
    this.#readNext()
  }

  /** @param isHeld the call costs money whether the client leaves or not; false: the client's leave matters again */
  hold(isHeld: boolean): void {
    if (isHeld === this.#isHeld) return
    this.#isHeld = isHeld
    if (!isHeld) return this.#readNext()
    this.#unread?.stop()
    this.#unread = null
    if (!this.#isPaused) this.#exchange.awaitAnswer()
  }

  /** The answer begins, or the client left: no pause ends by time any more. */
  stopTimer(): void {
    this.#unread?.stop()
  }

  /** The exchange gives the response up. */
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
   * Runs after all `after` callbacks and their promises, and before the loop polls again: a call that is
   * answered by then needs no pause, which costs three system calls.
   */
  atEnd(one: EndOfRead): void {
    if (!this.#pauses.isExpected) this.#acts.expect()
    this.#pauses.add(one)
  }
}

/** What hears together in an immediate. Between two immediates promises run. */
class Turn {
  isExpected = false
  #waiting: EndOfRead[] = []

  add(one: EndOfRead): void {
    this.#waiting.push(one)
    this.expect()
  }

  /** Takes the place of these in the order of immediates. */
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
