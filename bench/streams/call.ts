/** One streamed call of a load test, from when it is due to its end. */
import { SseReader } from '../../src/dialects/sse-reader.ts'
import type { CallEvents } from './connection.ts'
import { refusalText, withoutKey } from '../deployment/refusal-text.ts'
import { DIALECT_FACTS, type Dialect } from './dialects.ts'
import { REFUSAL_BYTES_MAX } from './limits.ts'
import type { CallOutcome, EndedCall, Tally } from './tally.ts'

export interface CallDeps {
  readonly dialect: Dialect
  readonly tally: Tally
  /** Left out of the reasons: an answer may repeat it. */
  readonly key: string
  /** Milliseconds from the start of the cell. */
  now(): number
  /** The call has to be sent again, on another connection. */
  again(call: StreamedCall): void
  /** @param retryAfter of the answer; null: the header is absent */
  over(call: StreamedCall, ended: EndedCall, retryAfter: string | null): void
}

const OK = 200
const LIMITED = 429

export class StreamedCall implements CallEvents {
  readonly dueMs: number
  readonly request: Buffer
  readonly #deps: CallDeps
  readonly #reader = new SseReader()
  #sentMs = Number.NaN
  /** When a byte of the answer came last, or the call was sent. */
  lastMs = Number.NaN
  #status = 0
  #retryAfter: string | null = null
  /** The begin of an answer other than 200. */
  readonly #refusal: Buffer[] = []
  #refusalBytes = 0
  #firstMs = Number.NaN
  #tokenMs = Number.NaN
  #tokenEvents = 0
  #maxGapMs = Number.NaN
  #tokens: number | null = null
  #isWhole = false
  #error: string | null = null
  #isOver = false

  constructor(dueMs: number, request: Buffer, deps: CallDeps) {
    this.dueMs = dueMs
    this.request = request
    this.#deps = deps
  }

  /** NaN: it was not sent yet. */
  get sentMs(): number {
    return this.#sentMs
  }

  sent(): void {
    this.#sentMs = this.lastMs = this.#deps.now()
  }

  onHead(status: number, retryAfter: string | null): void {
    this.#status = status
    this.#retryAfter = retryAfter
    this.lastMs = this.#deps.now()
  }

  onBody(bytes: Buffer): void {
    const now = this.#deps.now()
    this.lastMs = now
    if (this.#status !== OK) {
      if (this.#refusalBytes < REFUSAL_BYTES_MAX) this.#refusal.push(Buffer.from(bytes))
      this.#refusalBytes += bytes.length
      return
    }
    const { events, failure } = this.#reader.read(bytes)
    for (const { name, data } of events) this.#event(data.toString(), name, now)
    if (failure !== null) this.#error ??= failure.detail ?? failure.name
  }

  onEnd(): void {
    if (this.#status === LIMITED) return this.fail('limited', `status ${LIMITED}`)
    if (this.#status !== OK) return this.fail('failed', this.#refused())
    if (this.#error !== null) return this.fail('failed', `an error in the stream: ${this.#error}`)
    if (this.#isWhole) this.fail('whole', '')
    else this.fail('cut', 'the answer ended without its last event')
  }

  onBroken(code: string): void {
    if (this.#status === OK && this.#isWhole) return this.onEnd()
    if (this.#status === OK) this.fail('cut', `the connection broke in the answer (${code})`)
    else this.fail('failed', `no answer (${code})`)
  }

  onStale(): void {
    this.#deps.again(this)
  }

  /** Ends the call, which is still under way when the cell has ended. */
  leave(): void {
    if (this.#tokenEvents > 0) this.fail('open', 'not ended when the cell was over')
    else this.fail('failed', 'no token when the cell was over')
  }

  /** Ends the call; a call ends once. */
  fail(outcome: CallOutcome, reason: string): void {
    if (this.#isOver) return
    this.#isOver = true
    const gaps = this.#tokenEvents - 1
    const ended: EndedCall = {
      dueMs: this.dueMs,
      sentMs: this.#sentMs,
      endedMs: this.#deps.now(),
      status: this.#status,
      outcome,
      reason: withoutKey(reason, this.#deps.key),
      firstMs: this.#firstMs,
      tokenEvents: this.#tokenEvents,
      tokens: this.#tokens,
      meanGapMs: gaps > 0 ? (this.#tokenMs - this.dueMs - this.#firstMs) / gaps : Number.NaN,
      maxGapMs: this.#maxGapMs,
    }
    this.#deps.tally.end(ended)
    this.#deps.over(this, ended, this.#retryAfter)
  }

  #refused(): string {
    const message = refusalText(Buffer.concat(this.#refusal).toString())
    return `status ${this.#status}${message === null ? '' : `: ${message}`}`
  }

  #event(data: string, name: string, now: number): void {
    const news = DIALECT_FACTS[this.#deps.dialect].news(data, name)
    this.#isWhole ||= news.isEnd
    this.#tokens = news.tokens ?? this.#tokens
    this.#error ??= news.error
    if (news.hasToken) this.#token(now)
  }

  #token(now: number): void {
    const { tally } = this.#deps
    if (this.#tokenEvents++ === 0) {
      this.#firstMs = now - this.dueMs
      tally.firstToken(this.dueMs, this.#firstMs)
    } else {
      const gapMs = now - this.#tokenMs
      tally.gap(gapMs)
      this.#maxGapMs = Number.isNaN(this.#maxGapMs) ? gapMs : Math.max(this.#maxGapMs, gapMs)
    }
    this.#tokenMs = now
  }
}
