import type { FailureName } from '../../schemas/failures.ts'
import type { TierMember } from '../../schemas/models/price-conditions.ts'
import type { FailureReason } from '../../schemas/requests/failure-reason.ts'
import type { LimitFlags } from '../../schemas/money/costs.ts'
import type { Trace } from '../../schemas/trace.ts'

export type Fields = Readonly<Record<string, unknown>>

/** Structured events, never prose. Fields carry no bodies, keys or secret values. */
export interface Log {
  debug(event: string, fields?: Fields): void
  info(event: string, fields?: Fields): void
  warn(event: string, fields?: Fields): void
  error(event: string, fields?: Fields): void
}

/** For the reply's `server-timing`, the log line, metrics and spans. */
export interface CallNotes {
  authMs?: number
  limitsMs?: number
  validateMs?: number
  /** Milliseconds until the maximum cost of the call was reserved and written. */
  holdMs?: number
  upstreamMs?: number
  /** Milliseconds until the first output, or for an unstreamed call the whole answer, arrived. */
  ttftMs?: number
  model?: string
  /** The caller's name for a session, of a length that the operation has checked. */
  sessionId?: string
  provider?: string
  /** Host to which a request was relayed. */
  host?: string
  /** Tokens of the prompt. */
  promptTokens?: number
  outputTokens?: number
  /** Tokens of the prompt that were in the provider's cache. */
  cachedTokens?: number
  costUsd?: number
  /** Unix milliseconds at which the ledger recorded the payment. */
  paidMs?: number
  /** Called with a credential of the workspace. */
  isByok?: true
  /** The tokens are Sluice's own count. */
  isEstimated?: true
  /** The endpoint has no price: nothing was charged, even if its provider charges. */
  isUnpriced?: boolean
  attempts?: number
  /** In order. */
  failedAttempts?: FailedAttempt[]
  /** Start, in milliseconds of `performance.now()`, and duration of each failed attempt, alternating. */
  attemptTimes?: number[]
}

/** Without any content of the request or the response. */
export interface FailedAttempt {
  readonly provider: string
  /** HTTP status of the provider; null when it did not answer. */
  readonly status: number | null
  /** The provider's own code; without one the code of the failed connection; otherwise the name of the failure. */
  readonly code: string
}

/** One finished call; reported once, after its last byte or its abort. */
export interface CallSettled {
  readonly operation: string
  readonly requestId: string
  readonly status: number
  readonly failure: FailureName | null
  readonly cause?: unknown
  /** Why it failed, without any of its content; created on demand. Null: only the name of the failure is known. */
  readonly reason?: (() => FailureReason | null) | undefined
  readonly isClientGone: boolean
  /** Milliseconds of `performance.now()`. */
  readonly startedAt: number
  readonly durationMs: number
  /** Null: the call had no valid key. */
  readonly organizationId: string | null
  readonly workspaceId: string | null
  readonly keyHash: string | null
  /** Money limits against which calls of the key count; null without a key. */
  readonly limits: LimitFlags | null
  /** The limit that refused the call: its owner and its interval, such as `workspace monthly`. */
  readonly limit: string | null
  /** The model that the call named and that could not be used, if the request log may keep its name. */
  readonly askedModel?: string | undefined
  /** Null: the body was chunked. */
  readonly requestBytes: number | null
  /** Bytes of the body that were written; null: the connection was closed before the call began. */
  readonly replyBytes: number | null
  /** The caller's W3C trace context, as it was sent. */
  readonly traceparent?: string | undefined
  readonly notes: CallNotes
}

export interface Observer {
  readonly log: Log
  settled(call: CallSettled): void
  /** Posts the trace object of a call to the operator's broadcast address, in batches, when one is set. */
  trace(trace: Trace, call: TracedCall): void
}

interface TracedCall {
  readonly requestId: string
  readonly operation: string
  readonly model: string
  readonly sessionId: string | null
  /** The call's own object, which is also in `CallSettled`: several calls may share a request id. */
  readonly notes: CallNotes
}

/** Circuit breakers as seen by one front. */
export interface BreakerReading {
  readonly provider: string
  /** Number of openings since the start of the process. */
  readonly openings: number
  /** Endpoints whose breaker is open now. Times are milliseconds; 0 ms until a probe: the next call is the probe. */
  readonly open: readonly {
    readonly endpoint: string
    readonly openForMs: number
    readonly probeInMs: number
  }[]
}

/** Figures counted by modules outside `http`; every argument is from a closed set. */
export interface Meters {
  keyLookup(source: 'cache' | 'unknown_cache' | 'store'): void
  rateDecision(decision: 'admitted' | 'refused', source: 'purse' | 'authority' | 'fallback'): void
  upstream(provider: string, outcome: 'ok' | FailureName, durationMs: number): void
  readonly streams: StreamMeters
}

export interface AnswerLabels {
  readonly operation: string
  /** Slug in the catalogue; empty: no endpoint has answered. */
  readonly provider: string
  /** Canonical id in the catalogue; `private`: a workspace's own model. */
  readonly model: string
}

export interface FirstOutput {
  /** Milliseconds from the request. */
  readonly ms: number
  /** Of these, milliseconds before the first attempt. */
  readonly ownMs: number
  /** Endpoints that were tried before the one that answered. */
  readonly failed: number
}

export interface StreamEnd {
  /** The failure that ended the stream before the answer was complete; null: the answer is whole. */
  readonly cause: FailureName | null
  /** Tokens of the output, including reasoning. */
  readonly tokens: number
  /** Milliseconds since the first output. */
  readonly ms: number
  /** Milliseconds during which Sluice did not read from the provider, because the caller did not read. */
  readonly pausedMs: number
  /** True when Sluice continued to read from the provider after the caller had left. */
  readonly isDrained: boolean
}

export interface AnsweredInput {
  /** Input tokens that were neither read from nor written to a cache of the provider. */
  readonly fresh: number
  readonly cacheRead: number
  readonly cacheWrite: number
  /** Members of the request that were dropped for the provider, as `x-sluice-dropped` names them. */
  readonly dropped: readonly string[]
  /** The tier, speed or region that the answer reports and for which the catalogue has no price; null: none. */
  readonly unpricedTier: CountedTier | null
}

/** A member and its value, named as in price modifiers, or OTHER_TIER. */
export interface CountedTier {
  readonly member: TierMember
  readonly tier: string
}

export interface StreamMeters {
  /** Returns the same meter for all calls with these labels. */
  of(by: AnswerLabels): AnswerMeter
}

export interface AnswerMeter {
  /** The first output leaves. */
  committed(first: FirstOutput): void
  /** Adds output tokens that were written. */
  wrote(tokens: number): void
  /** Called once for each committed stream. */
  ended(end: StreamEnd): void
  /** Called once for each call that an endpoint has answered, whole or in part. */
  answered(input: AnsweredInput): void
  /** Called once for each call. @param failure null: the answer is whole @param isEstimated the usage was counted by Sluice */
  called(failure: FailureName | null, isEstimated: boolean): void
}
