import { FAILURES, type FailureRow } from '../../schemas/failures.ts'
import type { CallSettled, Log, Observer } from '../ports/observe.ts'
import type { Broadcast } from './broadcast.ts'
import type { Metrics } from './metrics.ts'
import type { CallTracer } from './tracing.ts'
import type { RequestBatch } from '../../schemas/requests/request-record.ts'
import type { CountRequests } from '../ports/requests/request-log.ts'
import { GatheredCalls } from './requests/gathered-calls.ts'
import { AskedModels, Sampling } from './requests/sampling.ts'

/** Milliseconds that a finished call may wait for others before the batch is written to the spill. Decision. */
export const REQUESTS_FLUSH_MS = 250
/**
 * Matters while another batch is being written and half of the room for the next one is taken: an organization
 * that already has one in this many of the gathered calls gets no more room. Its further calls are lost, and
 * counted. Decision.
 */
export const REQUESTS_GATHERED_SHARE = 4

export interface ObserverOptions {
  readonly log: Log
  readonly metrics: Pick<Metrics, 'call' | 'unpriced' | 'settled'>
  readonly broadcast?: Broadcast
  readonly tracer?: CallTracer
  readonly requests?: { settled(call: CallSettled): void }
  /** A number from 0 to below 1; decides which ordinary calls are logged. */
  readonly random?: () => number
  /** Milliseconds of any clock. */
  readonly now?: () => number
}

/** Total milliseconds above which a call is slow. Decision. */
const SLOW_MS = 5_000
/** Milliseconds spent in the gateway itself above which a call is slow. Decision. */
const SLOW_OVERHEAD_MS = 250
/** Share of ordinary calls that are logged. Decision. */
const SAMPLED_SHARE = 0.01
/**
 * Log lines a second for one failure; further failures are only counted. A caller can cause failures of both
 * kinds, its own and Sluice's, and must not flood the log with either. Decision.
 */
const FAILURE_LINES_MAX = 50

const SECOND_MS = 1_000

/**
 * Turns finished calls into metrics, log lines and spans. Slow calls are always logged; failures up to
 * FAILURE_LINES_MAX a second for each name. Design §11.
 */
export function createObserver(options: ObserverOptions): Observer {
  const { log, metrics, broadcast, tracer, requests } = options
  const { random = Math.random, now = Date.now } = options
  const lines = new LineBudget(log, now)
  return {
    log,
    settled(call) {
      const overheadMs = Math.max(0, call.durationMs - (call.notes.upstreamMs ?? 0))
      const { operation, status, failure, durationMs } = call
      metrics.call(operation, { status, failure, durationMs, overheadMs })
      metrics.settled.add(call)
      if (call.notes.isUnpriced === true) metrics.unpriced(operation, call.notes.provider ?? '')
      tracer?.settled(call)
      requests?.settled(call)
      if (failure !== null) return logFailure(call, log, lines)
      if (call.notes.failedAttempts !== undefined) return logFellBack(call, log, lines)
      if (durationMs > SLOW_MS || overheadMs > SLOW_OVERHEAD_MS) return log.warn('call_slow', fieldsOf(call))
      if (random() < SAMPLED_SHARE) log.info('call', fieldsOf(call))
    },
    trace(trace, call) {
      tracer?.remember(call.notes, trace)
      broadcast?.offer(trace, call)
    },
  }
}

function logFailure(call: CallSettled, log: Log, lines: LineBudget): void {
  const failure = call.failure ?? 'internal'
  const row: FailureRow = FAILURES[failure]
  if (!lines.mayLog(failure)) return
  log[row.log]('call_failed', fieldsOf(call))
}

/** Logs a fallback: an operator must learn that a provider fails even though another one answers instead. */
function logFellBack(call: CallSettled, log: Log, lines: LineBudget): void {
  if (lines.mayLog('fallback')) log.warn('call_fell_back', fieldsOf(call))
}

/** The fields of a call's log line: ids and figures, never content, a session id or a plain key. */
function fieldsOf(call: CallSettled): Record<string, unknown> {
  const { operation, requestId, status, failure, cause, isClientGone, durationMs, workspaceId, keyHash } =
    call
  const { sessionId: _private, attemptTimes: _times, ...notes } = call.notes
  return {
    operation,
    requestId,
    status,
    ...(failure === null ? {} : { failure }),
    ...(isClientGone ? { isClientGone } : {}),
    durationMs: Math.round(durationMs * 100) / 100,
    ...(workspaceId === null ? {} : { workspaceId }),
    ...(keyHash === null ? {} : { keyHash }),
    ...notes,
    ...(cause === undefined ? {} : { cause }),
  }
}

/** Counts the lines of each failure in the current second; at the end of the second one line reports how many were left out. */
class LineBudget {
  readonly #log: Log
  readonly #now: () => number
  readonly #counts = new Map<string, number>()
  #secondAt = 0

  constructor(log: Log, now: () => number) {
    this.#log = log
    this.#now = now
  }

  mayLog(failure: string): boolean {
    const now = this.#now()
    if (Math.abs(now - this.#secondAt) >= SECOND_MS) this.#turn(now)
    const count = (this.#counts.get(failure) ?? 0) + 1
    this.#counts.set(failure, count)
    return count <= FAILURE_LINES_MAX
  }

  #turn(now: number): void {
    for (const [failure, count] of this.#counts) {
      const unlisted = count - FAILURE_LINES_MAX
      if (unlisted > 0) this.#log.info('calls_failed_unlisted', { failure, count: unlisted })
    }
    this.#counts.clear()
    this.#secondAt = now
  }
}

/** The operation that reads the log: recording it would fill the log while a page follows the log. */
const OWN_OPERATION = 'requests.list'

export interface RecorderOptions {
  /** Writes a batch. @returns number of its calls for which there was room. Rejects when the disk refuses the write */
  readonly spill: (batch: RequestBatch) => Promise<number>
  readonly count: CountRequests
  readonly log: Pick<Log, 'warn'>
  /** Unix milliseconds. */
  readonly now?: () => number
}

/**
 * Keeps the finished calls of a front until they are written, in batches: while one batch is written the next
 * one is gathered. Calls for which there is no room are lost, and counted; calls that cost money are still in
 * the ledger.
 */
export class RequestRecorder {
  readonly #options: RecorderOptions
  readonly #now: () => number
  readonly #sampling = new Sampling()
  readonly #askedModels = new AskedModels()
  #gathered = new GatheredCalls()
  /** Null while a batch is being written. */
  #spare: GatheredCalls | null = new GatheredCalls()
  #timer: NodeJS.Timeout | null = null
  #writing: Promise<void> | null = null
  #lost = 0

  constructor(options: RecorderOptions) {
    this.#options = options
    this.#now = options.now ?? Date.now
  }

  settled(call: CallSettled): void {
    if (call.operation === OWN_OPERATION && call.failure === null) return
    const nowMs = this.#now()
    const { costUsd = 0 } = call.notes
    const weight = costUsd > 0 ? 1 : this.#sampling.weightOf(nowMs, call)
    if (weight === 0) return
    if (this.#gathered.isFull && !this.#flush()) return this.#lose(1)
    if (this.#spare === null && this.#isOverShare(call.organizationId)) return this.#lose(1)
    this.#gathered.add(call, nowMs, weight, call.notes.model ?? this.#askedModels.of(nowMs, call))
    this.#timer ??= setTimeout(() => this.#timeUp(), REQUESTS_FLUSH_MS)
  }

  async close(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer)
    await this.#writing
    this.#flush()
    await this.#writing
  }

  /** While a batch is being written, one organization may not take all of the room for the next one. */
  #isOverShare(organizationId: string | null): boolean {
    const gathered = this.#gathered
    if (!gathered.isHalfFull) return false
    return gathered.callsOf(organizationId) * REQUESTS_GATHERED_SHARE >= gathered.count
  }

  #timeUp(): void {
    this.#timer = null
    // If a batch is still being written, the timer is started again when the write ends.
    this.#flush()
  }

  /** @returns false while another batch is being written */
  #flush(): boolean {
    const gathered = this.#gathered
    if (this.#spare === null) return false
    if (gathered.count === 0) return true
    this.#gathered = this.#spare
    this.#spare = null
    this.#writing = this.#write(gathered.take()).then(() => {
      this.#spare = gathered
      this.#writing = null
      if (this.#gathered.count > 0) this.#timer ??= setTimeout(() => this.#timeUp(), REQUESTS_FLUSH_MS)
    })
    return true
  }

  async #write(batch: RequestBatch): Promise<void> {
    const { spill, count, log } = this.#options
    const calls = batch.requestIds.length
    try {
      const kept = await spill(batch)
      if (kept > 0) count('spilled', kept)
      if (kept < calls) this.#lose(calls - kept)
    } catch (cause) {
      log.warn('requests.spill_failed', { cause })
      this.#lose(calls)
    }
    if (this.#lost > 0) log.warn('requests.lost', { calls: this.#lost })
    this.#lost = 0
  }

  #lose(calls: number): void {
    this.#lost += calls
    this.#options.count('lost', calls)
  }
}
