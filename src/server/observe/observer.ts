import { FAILURES, type FailureRow } from '../../schemas/failures.ts'
import type { CallSettled, Log, Observer } from '../ports/observe.ts'
import type { Broadcast } from './broadcast.ts'
import type { Metrics } from './metrics.ts'
import type { CallTracer } from './tracing.ts'

export interface ObserverOptions {
  readonly log: Log
  readonly metrics: Pick<Metrics, 'call' | 'unpriced' | 'settled'>
  readonly broadcast?: Broadcast
  readonly tracer?: CallTracer
  /** Keeps the call for the request log. */
  readonly requests?: { settled(call: CallSettled): void }
  /** A number from 0 to below 1; decides which ordinary calls are logged. */
  readonly random?: () => number
  /** Milliseconds of any clock. */
  readonly now?: () => number
}

/** Milliseconds of a whole call beyond which the call is slow. Decision. */
const SLOW_MS = 5_000
/** Milliseconds of the gateway itself beyond which a call is slow. Decision. */
const SLOW_OVERHEAD_MS = 250
/** Share of ordinary calls that are logged. Decision. */
const SAMPLED_SHARE = 0.01
/**
 * Lines a second of one failure; further ones are counted. A caller can cause failures of both kinds, its own
 * and Sluice's, and must not flood the log with either. Decision.
 */
const FAILURE_LINES_MAX = 50

const SECOND_MS = 1_000

/**
 * Turns finished calls into metrics, log lines and spans. Slow calls are always logged; failures are logged
 * up to a number a second for each name. Design §11.
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

/**
 * Logs a fallback: an operator must learn that a provider fails although another one answers in its place.
 */
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

/**
 * Counts the lines of each failure in the current second; at the end of the second one line reports how many
 * were left out.
 */
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
