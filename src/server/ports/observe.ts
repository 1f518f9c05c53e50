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
  /** Milliseconds until the most that the call may cost was reserved and written. */
  holdMs?: number
  upstreamMs?: number
  /** Milliseconds until the first output, or the whole answer, was there. */
  ttftMs?: number
  model?: string
  /** The caller's name for a session, of a length that the operation has checked. */
  sessionId?: string
  provider?: string
  /** Host that a request was relayed to. */
  host?: string
  /** Tokens of the prompt. */
  promptTokens?: number
  outputTokens?: number
  /** Tokens of the prompt that the provider had in its cache. */
  cachedTokens?: number
  costUsd?: number
  /** Unix milliseconds in which the ledger has it. */
  paidMs?: number
  /** Called with a credential of the workspace. */
  isByok?: true
  /** The tokens are Sluice's own count. */
  isEstimated?: true
  /** The endpoint has no price: nothing was charged, whatever its provider charges. */
  isUnpriced?: boolean
  attempts?: number
  /** In order. */
  failedAttempts?: FailedAttempt[]
  /** The begin of each of these, in milliseconds of `performance.now()`, and its duration; one after the other. */
  attemptTimes?: number[]
}

/** Without any content of the request or the response. */
export interface FailedAttempt {
  readonly provider: string
  /** HTTP status of the provider; null when it did not answer. */
  readonly status: number | null
  /** The provider's own code, else the code of the failed connection, else the name of the failure. */
  readonly code: string
}

/** One finished call; reported once, after its last byte or its abort. */
export interface CallSettled {
  readonly operation: string
  readonly requestId: string
  readonly status: number
  readonly failure: FailureName | null
  readonly cause?: unknown
  /** Why it failed, without anything of its content; made when it is asked for. Null: its name is all. */
  readonly reason?: (() => FailureReason | null) | undefined
  readonly isClientGone: boolean
  /** Milliseconds of `performance.now()`. */
  readonly startedAt: number
  readonly durationMs: number
  /** Null: the call had no valid key. */
  readonly organizationId: string | null
  readonly workspaceId: string | null
  readonly keyHash: string | null
  /** Limits of money that calls of the key count against; null without a key. */
  readonly limits: LimitFlags | null
  /** What refused the call: the owner of a limit and its interval, such as `workspace monthly`. */
  readonly limit: string | null
  /** The model that the call named and did not get, where the request log may keep its name. */
  readonly askedModel?: string | undefined
  /** Null: the body came in chunks. */
  readonly requestBytes: number | null
  /** As far as the body was written; null: the connection was cut before there was a call. */
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
  /** The call's own object, which `CallSettled` carries too: several calls may share a request id. */
  readonly notes: CallNotes
}

/** As one front sees them. */
export interface BreakerReading {
  readonly provider: string
  /** Number of openings since the start of the process. */
  readonly openings: number
  /** Endpoints whose breaker is open now. Times are milliseconds; a probe in 0 ms is the next call. */
  readonly open: readonly {
    readonly endpoint: string
    readonly openForMs: number
    readonly probeInMs: number
  }[]
}

/** Figures that stages outside `http` count; every argument comes from a closed set. */
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
  /** Canonical id in the catalogue; `private`: a model of a workspace's own. */
  readonly model: string
}

export interface FirstOutput {
  /** Milliseconds from the request. */
  readonly ms: number
  /** Of these, those before the first attempt. */
  readonly ownMs: number
  /** Endpoints that were tried before the one that answers. */
  readonly failed: number
}

export interface StreamEnd {
  /** What ended the stream before the answer did; null: the answer is whole. */
  readonly cause: FailureName | null
  /** Of the output, with its reasoning. */
  readonly tokens: number
  /** Milliseconds from the first output. */
  readonly ms: number
  /** Milliseconds in which the provider was not read, since the caller did not read. */
  readonly pausedMs: number
  /** The provider was read on when the caller had left. */
  readonly isDrained: boolean
}

export interface AnsweredInput {
  /** Tokens of the input that no cache of the provider had or took. */
  readonly fresh: number
  readonly cacheRead: number
  readonly cacheWrite: number
  /** Members of the request that the provider did not get, as `x-sluice-dropped` names them. */
  readonly dropped: readonly string[]
  /** What the answer reports and the catalogue has no price of; null: nothing. */
  readonly unpricedTier: CountedTier | null
}

/** A member and its value, as modifiers name it or OTHER_TIER. */
export interface CountedTier {
  readonly member: TierMember
  readonly tier: string
}

export interface StreamMeters {
  /** The same for all calls under these labels. */
  of(by: AnswerLabels): AnswerMeter
}

export interface AnswerMeter {
  /** The first output leaves. */
  committed(first: FirstOutput): void
  /** So many tokens more were written. */
  wrote(tokens: number): void
  /** Once for each committed stream. */
  ended(end: StreamEnd): void
  /** Once for each call that an endpoint has answered, whole or in part. */
  answered(input: AnsweredInput): void
  /** Once for each call. @param failure null: the answer is whole @param isEstimated the usage is Sluice's own count */
  called(failure: FailureName | null, isEstimated: boolean): void
}
