/** One cell of a load test of streams: its calls by their arrivals, and the connections that carry them. */
import { createWriteStream, type WriteStream } from 'node:fs'
import { StreamedCall, type CallDeps } from './call.ts'
import { csvLine } from './csv.ts'
import { StreamConnection, type StreamPlace } from './connection.ts'
import { DIALECT_FACTS, type Dialect } from './dialects.ts'
import { dueTimes, randomOf, type Arrivals } from './draws.ts'
import { latencyOf } from '../../test/support/load/load-latency.ts'
import { STREAM_CALL_MS_MAX, STREAM_DRAIN_SECONDS, STREAM_SILENCE_MS_MAX } from './limits.ts'
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
  readonly sent: number
  /** Due, and no connection was free for them until the end: failed. */
  readonly unsent: number
  /** Still open STREAM_DRAIN_SECONDS after the cell, and left out. */
  readonly open: number
  /** The cell ended early: too many calls failed. */
  readonly isStopped: boolean
  /** Seconds in which calls were begun. */
  readonly seconds: number
  /** Share of one core that this process used while calls were begun. */
  readonly cores: number
}

/** Ended calls below which a share of errors says nothing. */
const JUDGED_CALLS_MIN = 20
/** Milliseconds before a connection of a closed pace tries again after a failure. */
const AFTER_FAILURE_MS = 100
/** Milliseconds that a `Retry-After` is heeded at most. */
const RETRY_AFTER_MS_MAX = 60_000
/** Milliseconds over which the first streams of a closed pace begin: streams that begin together are read together. */
const STAGGER_MS = 1_000
/** Milliseconds between two looks at what has been silent for too long. */
const LOOK_MS = 1_000
/** Calls a second up to which the last millisecond before a call is waited out without a timer. */
const EXACT_RATE_MAX = 200

export class Cell {
  readonly #plan: StreamsPlan
  readonly #tally: Tally
  readonly #startedAt = performance.now()
  readonly #cpu = process.cpuUsage()
  readonly #free: StreamConnection[] = []
  /** Calls that are under way, by their connection. */
  readonly #busy = new Map<StreamedCall, StreamConnection>()
  readonly #bodies: Generator<string, never>
  readonly #head: string
  readonly #csv: WriteStream | null
  readonly #deps: CallDeps
  #connections = 0
  #waiting: StreamedCall[] = []
  #sent = 0
  #isBegun = true
  #isStopped = false
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
    this.#deps = {
      dialect,
      tally: this.#tally,
      now: () => this.#now(),
      again: (call) => this.#begin(call),
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
    const body = Buffer.from(this.#bodies.next().value)
    const head = Buffer.from(`${this.#head}content-length: ${body.length}\r\n\r\n`, 'latin1')
    this.#begin(new StreamedCall(dueMs, Buffer.concat([head, body]), this.#deps))
  }

  #begin(call: StreamedCall): void {
    const connection = this.#free.pop() ?? this.#opened()
    if (connection === null) return void this.#waiting.push(call)
    if (Number.isNaN(call.sentMs)) this.#sent++
    this.#busy.set(call, connection)
    call.sent()
    connection.send(call.request, call)
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

  #serve(): void {
    const call = this.#waiting.shift()
    if (call !== undefined) this.#begin(call)
  }

  #over(call: StreamedCall, ended: EndedCall, retryAfter: string | null): void {
    this.#busy.delete(call)
    this.#csv?.write(csvLine(this.#plan.cell, ended))
    const { failed, cut } = this.#tally.ended
    const { count } = this.#tally
    if (count >= JUDGED_CALLS_MIN && failed + cut > this.#plan.errorsMax * count && this.#isBegun) this.stop()
    if (this.#plan.arrivals === null && this.#isBegun) {
      const waitMs =
        ended.outcome === 'limited'
          ? Math.min(RETRY_AFTER_MS_MAX, (Number(retryAfter) || 1) * 1_000)
          : ended.outcome === 'failed'
            ? AFTER_FAILURE_MS
            : 0
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
    setTimeout(() => this.#end(), STREAM_DRAIN_SECONDS * 1_000).unref()
    if (this.#isStopped) this.#waiting = []
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
      call.fail(
        'failed',
        isSilent
          ? `no byte for ${STREAM_SILENCE_MS_MAX / 1_000} s`
          : `longer than ${STREAM_CALL_MS_MAX / 1_000} s`,
      )
    }
  }

  #settleIfOver(): void {
    if (!this.#isBegun && this.#busy.size === 0 && this.#waiting.length === 0) this.#end()
  }

  #end(): void {
    const settle = this.#settle
    this.#settle = () => undefined
    const unsent = this.#waiting
    this.#waiting = []
    for (const call of unsent)
      call.fail('failed', `not sent: all ${this.#plan.connections} streams were busy`)
    const result = {
      ...this.#tally.figures(),
      sent: this.#sent,
      unsent: unsent.length,
      open: this.#busy.size,
      isStopped: this.#isStopped,
      seconds: this.#seconds,
      cores: this.#cores,
    }
    for (const connection of [...this.#busy.values(), ...this.#free]) connection.close()
    if (this.#csv === null) settle(result)
    else this.#csv.end(() => settle(result))
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
      ...others.filter((text) => text !== ''),
      `first token p50 ${p50.toFixed(1)} ms`,
    ].join(', ')
  }
}

/** Prompts do not move when more arrivals are drawn. */
const PROMPTS_SALT = 0x5bd1e995
