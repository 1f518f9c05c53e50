import type { ChatRequest } from '../../../schemas/inference/chat-input.ts'
import type { Failure, Outcome } from '../../../schemas/failures.ts'
import type { Caller } from '../../../schemas/values/callers.ts'
import type { CallableModel } from '../models/models.ts'
import type { CostBound } from '../money/money.ts'

/** Why a model stopped. */
export type FinishReason = 'stop' | 'length' | 'tool_calls'

/**
 * What a model writes, in the form between the protocols of providers and the dialects of callers. `choice`
 * counts the answers to one call. D5.
 */
export type WrittenPart =
  | { readonly kind: 'text' | 'reasoning'; readonly choice: number; readonly text: string }
  | { readonly kind: 'tool'; readonly choice: number; readonly id: string; readonly name: string }
  /** A fragment of the JSON arguments of the tool that was called last. */
  | { readonly kind: 'arguments'; readonly choice: number; readonly text: string }
  | { readonly kind: 'finish'; readonly choice: number; readonly reason: FinishReason }

/** Tokens of a call in buckets that do not overlap. D24. */
export interface TokenUsage {
  /** Input that no cache had. */
  readonly input: number
  readonly cacheRead: number
  readonly cacheWrite: number
  /** Text and tool calls. */
  readonly output: number
  readonly reasoning: number
}

export interface InferenceJob {
  readonly model: CallableModel
  readonly request: ChatRequest
  readonly caller: Caller
  /** The call: its signal ends when the caller leaves or the node stops. */
  readonly call: { readonly signal: AbortSignal }
}

/** Receives what a model writes. */
export interface InferenceSink {
  /** Called once, before the first output: from here on the answer is that of this endpoint. */
  begin(by: AnsweredBy): void
  /** @returns false: the client is behind, and the source waits for `room` */
  take(parts: readonly WrittenPart[]): boolean
  /** Resolves when the client has room again, or is gone. */
  room(): Promise<void>
}

/** The endpoint whose answer is passed on. */
export interface AnsweredBy {
  /** Slug of the provider. */
  readonly provider: string
  readonly isByok: boolean
  /** The endpoint has neither a price nor `free`. */
  readonly isUnpriced: boolean
  /** Attempts, with this one. */
  readonly attempts: number
}

/** A call that a model has begun to answer. */
export interface InferenceEnd extends AnsweredBy {
  /** Null for a whole answer; otherwise why it broke off behind its first output. */
  readonly failure: Failure | null
  readonly usage: TokenUsage
  /** The usage is that of what was delivered. */
  readonly isEstimated: boolean
  /** Cost of the usage in whole nano-USD. C14. */
  readonly costNano: number
  /** Milliseconds of the attempt that was delivered. */
  readonly upstreamMs: number
}

/** A call whose endpoints are chosen, before anything is sent. */
export interface InferencePlan {
  readonly bound: CostBound
  /** Called once. A failure: no output was passed on. */
  run(sink: InferenceSink): Promise<Outcome<InferenceEnd>>
}

/** Answers by models that write. */
export interface Inference {
  /** Failures: model_unfit. */
  plan(job: InferenceJob): Outcome<InferencePlan>
}
