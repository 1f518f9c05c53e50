/** One cell of a load test of streams: its calls by their arrivals, and the connections that carry them. */
import { createWriteStream, type WriteStream } from 'node:fs'
import { StreamedCall, type CallDeps } from './call.ts'
import { csvLine } from './csv.ts'
import { StreamConnection, type StreamPlace } from './connection.ts'
import { DIALECT_FACTS, type Dialect } from './dialects.ts'
import { dueTimes, randomOf, type Arrivals } from './draws.ts'
import { DueCalls } from './due-calls.ts'
import { latencyOf } from '../../test/support/load/load-latency.ts'
import {
  STREAM_CALL_MS_MAX,
  STREAM_DRAIN_SECONDS,
  STREAM_SILENCE_MS_MAX,
  STREAM_STOP_SECONDS,
} from './limits.ts'
import { bodiesOf, type Prompts } from './prompts.ts'
import type { Slo } from './slo.ts'
import { Tally, type EndedCall, type TallyFigures } from './tally.ts'

export interface StreamsPlan {
  readonly place: StreamPlace
  /** Value of the `host` header. */
  readonly authority: string
  readonly key: string
  /** Of the API, before the path of the dialect. */
  readonly basePath: string
  readonly dialect: Dialect
  readonly model: string
  readonly prompts: Prompts
  /** Streams at once. */
  readonly connections: number
  /** Null: each connection begins its next stream when the last one is over. */
  readonly arrivals: { readonly ratePerS: number; readonly kind: Arrivals } | null
  readonly seconds: number
  readonly seed: number
  /** Bounds in milliseconds; null, as JSON has it: no bound. */
  readonly slo: { readonly [name in keyof Slo]: number | null }
  /** Share of failed and cut calls above which the cell ends. */
  readonly errorsMax: number
  /** File to which a line for each call is added; null: none is written. */
  readonly csv: string | null
  readonly cell: string
}

export interface StreamsResult extends TallyFigures {
  /** Epoch milliseconds. */
  readonly startedAtMs: number
  readonly sent: number
  /** Of the sent calls, those whose kept connection ended as they were sent. */
  readonly resent: number
  /** Due, and no connection was free for them until the end: failed. */
  readonly unsent: number
  /** The cell ended early: too many calls failed. */
  readonly isStopped: boolean
  /** Seconds in which calls were begun. */
  readonly seconds: number
  /**
   * Seconds in which the ended streams were carried: of a closed pace the mean time that a connection spent
   * on them, of an open pace until the last call was sent.
   */
  readonly carriedSeconds: number
  /** Seconds in which calls were due; of a closed pace the same as `carriedSeconds`. */
  readonly dueSeconds: number
  /** Share of one core that this process used while calls were begun. */
  readonly cores: number
}

/** Ended calls below which a share of errors says nothing. */
const JUDGED_CALLS_MIN = 20
/** Milliseconds before a connection of a closed pace tries again after a failed or cut call. */
const AFTER_FAILURE_MS = 100
/** Milliseconds that a `Retry-After` is heeded at most. */
const RETRY_AFTER_MS_MAX = 60_000
/** Milliseconds over which the first streams of a closed pace begin: streams that begin together are read together. */
const STAGGER_MS = 1_000
/** Milliseconds between two looks at what has been silent for too long. */
const LOOK_MS = 1_000
/** Prompts do not move when more arrivals are drawn. */
const PROMPTS_SALT = 0x5bd1e995
const NO_REQUEST = Buffer.alloc(0)
/** Calls a second up to which the last millisecond before a call is waited out without a timer. */
const EXACT_RATE_MAX = 200

export class Cell {
  readonly #plan: StreamsPlan
  readonly #tally: Tally
  readonly #startedAt = performance.now()
  readonly #startedAtMs = Date.now()
  readonly #cpu = process.cpuUsage()
  readonly #free: StreamConnection[] = []
  /** Calls that are under way, by their connection. */
  readonly #busy = new Map<StreamedCall, StreamConnection>()
  readonly #bodies: Generator<string, never>
  readonly #head: string
  readonly #csv: WriteStream | null
  readonly #deps: CallDeps
  #connections = 0
  readonly #waiting = new DueCalls()
  #sent = 0
  #resent = 0
  #lastSentMs = 0
  /** Of all connections of a closed pace together. */
  #carriedMs = 0
  #isBegun = true
  #isStopped = false
  #isEnded = false
  #unsent = 0
  #cores = 0
  #seconds = 0
  #settle: (result: StreamsResult) => void = () => undefined

  constructor(plan: StreamsPlan) {
    const { authority, basePath, csv, dialect, key, model, prompts, seconds, seed, slo } = plan
    this.#plan = plan
    this.#tally = new Tally(seconds, {
      first: slo.first ?? Infinity,
      gap: slo.gap ?? Infinity,
      total: slo.total ?? Infinity,
    })
    this.#bodies = bodiesOf(prompts, { dialect, model, random: randomOf(seed ^ PROMPTS_SALT) })
    const facts = DIALECT_FACTS[dialect]
    const headers = Object.entries({
      host: authority,
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      accept: 'text/event-stream',
      ...facts.headers,
    })
    this.#head = `POST ${basePath}${facts.path} HTTP/1.1\r\n${headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')}`
    this.#csv = csv === null ? null : createWriteStream(csv, { flags: 'a' })
    this.#csv?.on('error', ({ message }) => {
      process.stderr.write(`--csv: ${message}\n`)
      process.exit(1)
    })
    this.#deps = {
      dialect,
      tally: this.#tally,
      key,
      now: () => this.#now(),
      again: (call) => this.#again(call),
      over: (call, ended, retryAfter) => this.#over(call, ended, retryAfter),
    }
  }

  run(): Promise<StreamsResult> {
    const { arrivals, connections, seconds } = this.#plan
    if (arrivals === null)
      for (let nth = 0; nth < connections; nth++)
        setTimeout(() => this.#next(), (STAGGER_MS / connections) * nth)
    else this.#arrive(dueTimes(arrivals.ratePerS, arrivals.kind, randomOf(this.#plan.seed)))
    setTimeout(() => this.#stop(), seconds * 1_000)
    setInterval(() => this.#look(), LOOK_MS).unref()
    return new Promise((resolve) => (this.#settle = resolve))
  }

  /** Begins no more calls; those that are under way end. */
  stop(): void {
    this.#isStopped = true
    this.#stop()
  }

  #now(): number {
    return performance.now() - this.#startedAt
  }

  #arrive(due: Generator<number, never>): void {
    const isExact = (this.#plan.arrivals?.ratePerS ?? 0) <= EXACT_RATE_MAX
    let next = due.next().value
    const step = (): void => {
      if (!this.#isBegun) return
      for (let now = this.#now(); next <= now; next = due.next().value) {
        this.#tally.late(now - next)
        this.#call(next)
      }
      const leftMs = next - this.#now()
      if (!isExact) setTimeout(step, Math.max(0, leftMs))
      else if (leftMs > 2) setTimeout(step, leftMs - 1)
      else setImmediate(step)
    }
    step()
  }

  /** The next stream of a closed pace. */
  #next(): void {
    if (this.#isBegun) this.#call(this.#now())
  }

  #call(dueMs: number): void {
    this.#waiting.push(dueMs)
    this.#serve()
  }

  /** Sends what waits, as far as connections are free; a body is drawn when its call is sent. */
  #serve(): void {
    while (this.#waiting.size > 0) {
      const connection = this.#free.pop() ?? this.#opened()
      const dueMs = connection === null ? undefined : this.#waiting.shift()
      if (connection === null || dueMs === undefined) return
      const body = Buffer.from(this.#bodies.next().value)
      const head = Buffer.from(`${this.#head}content-length: ${body.length}\r\n\r\n`, 'latin1')
      this.#sent++
      this.#send(new StreamedCall(dueMs, Buffer.concat([head, body]), this.#deps), connection)
    }
  }

  #send(call: StreamedCall, connection: StreamConnection): void {
    this.#busy.set(call, connection)
    call.sent()
    this.#lastSentMs = call.sentMs
    connection.send(call.request, call)
  }

  /** Another connection: the one that the call had is gone, so that there is room for it. */
  #again(call: StreamedCall): void {
    const connection = this.#opened()
    if (connection === null) call.fail('failed', 'no connection to send it again')
    else {
      this.#resent++
      this.#send(call, connection)
    }
  }

  #opened(): StreamConnection | null {
    if (this.#connections >= this.#plan.connections) return null
    this.#connections++
    return new StreamConnection(this.#plan.place, {
      free: (connection) => {
        this.#free.push(connection)
        this.#serve()
      },
      gone: (connection) => {
        this.#connections--
        const at = this.#free.indexOf(connection)
        if (at >= 0) this.#free.splice(at, 1)
        // The call of the connection hears of it first.
        queueMicrotask(() => this.#serve())
      },
    })
  }

  #over(call: StreamedCall, ended: EndedCall, retryAfter: string | null): void {
    this.#busy.delete(call)
    this.#csv?.write(csvLine(this.#plan.cell, ended))
    this.#carriedMs += ended.endedMs - ended.dueMs
    const { failed, cut } = this.#tally.ended
    const { count } = this.#tally
    if (count >= JUDGED_CALLS_MIN && failed + cut > this.#plan.errorsMax * count && this.#isBegun) this.stop()
    if (this.#plan.arrivals === null && this.#isBegun) {
      const waitMs =
        ended.outcome === 'limited'
          ? Math.min(RETRY_AFTER_MS_MAX, Math.max(0, Number(retryAfter) || 1) * 1_000)
          : ended.outcome === 'whole'
            ? 0
            : AFTER_FAILURE_MS
      this.#carriedMs += waitMs
      // In a turn of its own: the connection is free by then.
      if (waitMs === 0) setImmediate(() => this.#next())
      else setTimeout(() => this.#next(), waitMs)
    }
    this.#settleIfOver()
  }

  #stop(): void {
    if (!this.#isBegun) return
    this.#isBegun = false
    this.#seconds = this.#now() / 1_000
    const { user, system } = process.cpuUsage(this.#cpu)
    this.#cores = (user + system) / 1e6 / this.#seconds
    const drainSeconds = this.#isStopped ? STREAM_STOP_SECONDS : STREAM_DRAIN_SECONDS
    setTimeout(() => this.#end(), drainSeconds * 1_000).unref()
    if (this.#isStopped) this.#leaveUnsent()
    this.#settleIfOver()
  }

  /** A call that takes too long, or has been silent for too long, is cut. */
  #look(): void {
    const now = this.#now()
    for (const [call, connection] of this.#busy) {
      const isSilent = now - call.lastMs > STREAM_SILENCE_MS_MAX
      if (!isSilent && now - call.sentMs < STREAM_CALL_MS_MAX) continue
      connection.close()
      this.#connections--
      queueMicrotask(() => this.#serve())
      call.fail(
        'failed',
        isSilent
          ? `no byte for ${STREAM_SILENCE_MS_MAX / 1_000} s`
          : `longer than ${STREAM_CALL_MS_MAX / 1_000} s`,
      )
    }
  }

  #settleIfOver(): void {
    if (!this.#isBegun && this.#busy.size === 0 && this.#waiting.size === 0) this.#end()
  }

  #leaveUnsent(): void {
    for (let due = this.#waiting.shift(); due !== undefined; due = this.#waiting.shift()) {
      this.#unsent++
      const call = new StreamedCall(due, NO_REQUEST, this.#deps)
      call.fail('failed', `not sent: all ${this.#plan.connections} streams were busy`)
    }
  }

  #end(): void {
    if (this.#isEnded) return
    this.#isEnded = true
    this.#leaveUnsent()
    for (const [call, connection] of this.#busy) {
      connection.close()
      call.leave()
    }
    for (const connection of this.#free) connection.close()
    const carriedSeconds = this.#carriedSeconds()
    const result = {
      ...this.#tally.figures(),
      startedAtMs: this.#startedAtMs,
      sent: this.#sent,
      resent: this.#resent,
      unsent: this.#unsent,
      dueSeconds: this.#plan.arrivals === null ? carriedSeconds : this.#seconds,
      carriedSeconds,
      isStopped: this.#isStopped,
      seconds: this.#seconds,
      cores: this.#cores,
    }
    if (this.#csv === null) this.#settle(result)
    else this.#csv.end(() => this.#settle(result))
  }

  #carriedSeconds(): number {
    const { arrivals, connections } = this.#plan
    if (arrivals !== null) return Math.max(this.#seconds, this.#lastSentMs / 1_000)
    return this.#carriedMs / connections / 1_000 || this.#seconds
  }

  /** The cell so far, in one line. */
  get live(): string {
    const { whole, cut, failed, limited } = this.#tally.ended
    const seconds = this.#now() / 1_000
    const { p50 } = latencyOf(this.#tally.first)
    const others = [
      cut > 0 ? `${cut} cut` : '',
      failed > 0 ? `${failed} failed` : '',
      limited > 0 ? `${limited} limited` : '',
    ]
    return [
      `${Math.round(seconds)} s: ${(this.#sent / seconds).toFixed(1)} calls/s`,
      `${this.#busy.size} open`,
      `${whole} whole`,
      ...(this.#waiting.size > 0 ? [`${this.#waiting.size} waiting`] : []),
      ...others.filter((text) => text !== ''),
      `first token p50 ${p50.toFixed(1)} ms`,
    ].join(', ')
  }
}
