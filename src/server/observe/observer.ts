import { FAILURES, type FailureRow } from '../../schemas/failures.ts'
import type { CallSettled, Log, Observer } from '../ports/observe.ts'
import type { Broadcast } from './broadcast.ts'
import type { Metrics } from './metrics.ts'
import type { CallTracer } from './tracing.ts'

export interface ObserverOptions {
  readonly log: Log
  readonly metrics: Pick<Metrics, 'call' | 'unpriced'>
  readonly broadcast?: Broadcast
  readonly tracer?: CallTracer
  /** From 0 to below 1; decides which ordinary calls are logged. */
  readonly random?: () => number
  /** Milliseconds of any clock. */
  readonly now?: () => number
}

/** A call is slow beyond so many milliseconds in all, or of the gateway's own. Decision. */
const SLOW_MS = 5_000
const SLOW_OVERHEAD_MS = 250
/** Share of ordinary calls that is logged. Decision. */
const SAMPLED_SHARE = 0.01
/**
 * Lines a second of one failure; what is over is counted. A caller can bring about failures of ours as well
 * as its own, and must buy lines with neither. Decision.
 */
const FAILURE_LINES_MAX = 50

const SECOND_MS = 1_000

/**
 * Turns finished calls into metrics, log lines and spans. Slow calls are always logged, failures up to a
 * number a second of each name. Design §11.
 */
export function createObserver(options: ObserverOptions): Observer {
  const { log, metrics, broadcast, tracer, random = Math.random, now = Date.now } = options
  const lines = new LineBudget(log, now)
  return {
    log,
    settled(call) {
      const overheadMs = Math.max(0, call.durationMs - (call.notes.upstreamMs ?? 0))
      const { operation, status, failure, durationMs } = call
      metrics.call(operation, { status, failure, durationMs, overheadMs })
      if (call.notes.isUnpriced === true) metrics.unpriced(operation, call.notes.provider ?? '')
      tracer?.settled(call)
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

/** An operator must learn that a provider fails although another one answers in its stead. */
function logFellBack(call: CallSettled, log: Log, lines: LineBudget): void {
  if (lines.mayLog('fallback')) log.warn('call_fell_back', fieldsOf(call))
}

/** What a line says of a call: ids and figures, never content, a session id or a plain key. */
function fieldsOf(call: CallSettled): Record<string, unknown> {
  const { operation, requestId, status, failure, cause, isClientGone, durationMs, workspaceId, keyHash } =
    call
  const { sessionId: _private, ...notes } = call.notes
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
 * Lines of each failure in the current second; at its end the ones that were left out are told in one line.
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
