import type { PresetFields } from '../../../dialects/presets/text-preset.ts'
import type { TextRequest, CompleteText } from '../../../schemas/inference/text-request.ts'
import type { FileReference } from '../../../schemas/inference/file-references.ts'
import type { Failure, Outcome } from '../../../schemas/failures.ts'
import type { LimitFlags } from '../../../schemas/money/costs.ts'
import type { TierMember } from '../../../schemas/models/price-conditions.ts'
import type { ResolvedPrice } from '../../../schemas/money/price-at.ts'
import type { Caller } from '../../../schemas/values/callers.ts'
import type { Content } from '../byte-streams.ts'
import type { CallableModel } from '../models/models.ts'
import type { CostBound } from '../money/money.ts'
import type { CallNotes } from '../observe.ts'
import type {
  WrittenPart,
  TokenUsage,
  ReportedTiers,
  ShownUsage,
  FinalEvents,
} from '../../../dialects/parts.ts'

/** A file of the workspace whose content goes to the provider within the request. D31. */
export interface InlineFile extends FileReference {
  /** Without its folders. */
  readonly filename: string
  /** A type that its use takes. */
  readonly mimeType: string
  readonly sizeBytes: number
  /**
   * Called for each time that the content is sent. Failures: file_unknown (it was removed meanwhile),
   * content_missing, data_key_unavailable, storage_unavailable, busy, client_gone.
   */
  open(signal: AbortSignal): Promise<Outcome<Content>>
}

export interface InferenceJob {
  /** Id of the operation, for the metrics and the audit log. D36. */
  readonly operation: string
  /** `performance.now()` of the request. */
  readonly startedAt: number
  /** At least one, in the order to try them; an endpoint of several is tried once. D11. */
  readonly models: readonly CallableModel[]
  readonly request: TextRequest
  /** The content of the request's `files`, in their order; absent: it has none. */
  readonly files?: readonly InlineFile[]
  /** What the answer begins with, whatever endpoint gives it. */
  readonly head: { readonly id: string; readonly createdS: number }
  /** Headers of the caller that go to the provider: a flat list of names in lower case and values. D4. */
  readonly passedHeaders?: readonly string[]
  /** Flags of the key's limits, as in `EmbeddingJob`. C40. */
  readonly limits: LimitFlags | null
  /** Tokens of an answer where the request has no maximum and `limits` count the call. D25. */
  readonly defaultTokensMax?: number | null
  readonly caller: Caller
  /** The caller's own name of the conversation; null: the call has none. D4. */
  readonly session: string | null
  /** Id of the request for the audit log, where an endpoint's credential has to be released. */
  readonly requestId: string
  /** Number of gateways that the call has passed. */
  readonly hops: number
  /** `performance.now()` milliseconds until which an answer has to be whole, or to begin. D17. */
  readonly deadlineAt: number
  /**
   * The call: its signal ends when the caller leaves or the node stops. Its notes receive attempts that
   * failed.
   */
  readonly call: {
    readonly signal: AbortSignal
    readonly notes?: Pick<CallNotes, 'failedAttempts'>
    /** As in `EmbeddingJob`. A whole answer that a provider has begun is charged. C24. */
    sent?(isSent: boolean): void
  }
}

/** Receives what a model writes. */
export interface InferenceSink {
  /** Called once, before the first output: from here on the answer is that of this endpoint. */
  begin(by: AnsweredBy): void
  /** @returns false: the client is behind, and the source waits for `room` */
  take(parts: readonly WrittenPart[]): boolean
  /**
   * Whole events of a provider that speaks the caller's dialect.
   * @returns as `take`
   */
  pass(events: Uint8Array): boolean
  /** Resolves when the client has room again, or is gone. */
  room(): Promise<void>
  /** Called about once a second while an answer streams, and not after its end. D28. */
  progressed(progress: InferenceProgress): void
}

/** The endpoint whose answer is passed on. */
export interface AnsweredBy {
  /** Canonical id of the model. D11. */
  readonly model: string
  /** Slug of the provider. */
  readonly provider: string
  readonly isByok: boolean
  /** The endpoint has neither a price nor `free`, or the provider ran tools that have none. */
  readonly isUnpriced: boolean
  /** What the answer reports without a modifier in the catalogue, so that the base price counts; null: nothing. F8. */
  readonly unpricedTier: TierMember | null
  /** Attempts, with this one. */
  readonly attempts: number
  /** Members of the request that the provider did not get, or that have no effect. D6, D9. */
  readonly dropped: readonly string[]
  /** Unix seconds that the events of the provider have in common; absent: those of the call. D23. */
  readonly createdS?: number | undefined
}

/** An answer in the caller's dialect that a provider gave whole. D14. */
export interface WholeAnswer {
  /** The bytes of the answer with its usage. */
  withUsage(usage: ShownUsage): readonly Uint8Array[]
  /** Gives its bytes back to the front's budget; called once when they were written. */
  release(): void
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
  /** The prices of that cost. F13. */
  readonly price: ResolvedPrice
  readonly reported: ReportedTiers
  /** Milliseconds of the attempt that was delivered. */
  readonly upstreamMs: number
  /** Null: the sink has all of the answer. */
  readonly answer: WholeAnswer | null
  /**
   * Gives the bytes of a whole answer whose parts the sink has back to the front's budget; called once when
   * the answer was written.
   */
  readonly release?: () => void
  /** Null: the dialect tells the usage in an event of Sluice's own, or the stream is not whole. */
  readonly finalEvents: FinalEvents | null
  /** The provider's own id of the answer; null: it told none. D32. */
  readonly upstreamId: string | null
  /** In the provider's words; null: nothing has ended. */
  readonly finishReason: string | null
}

/** How far a streamed answer has come, with two more seconds at its rate. D28. */
export interface InferenceProgress extends AnsweredBy {
  readonly usage: TokenUsage
  /** Cost of the usage in whole nano-USD. C14. */
  readonly costNano: number
  readonly price: ResolvedPrice
  readonly reported: ReportedTiers
  /** Milliseconds of the attempt. */
  readonly upstreamMs: number
  /** The provider goes on when its connection ends, and charges for it. */
  readonly isDrained: boolean
  readonly upstreamId: string | null
}

/** A call whose endpoints are chosen, before anything is sent. */
export interface InferencePlan {
  readonly bound: CostBound
  /**
   * Tokens that the call is expected to use: of its prompt, and of its answers up to a few thousand each.
   * D29.
   */
  estimatedTokens(): number
  /**
   * The most tokens of one answer for which the call costs at most so many nano-USD, by whichever endpoint; 0
   * where the prompt alone may cost more. Null: fewer tokens make it no cheaper. D25.
   */
  affordableTokens(availableNano: number): number | null
  /** Called once. A failure: no output was passed on. */
  run(sink: InferenceSink): Promise<Outcome<InferenceEnd>>
}

/** Who uses a preset. */
export interface PresetBy {
  readonly caller: Caller
  readonly signal: AbortSignal
  /** The body is that of a prompt whose tokens are counted. */
  readonly isCount?: true
}

/** A prompt whose tokens are counted; the first model counts. D5. */
export type CountJob = Omit<InferenceJob, 'startedAt' | 'head' | 'limits' | 'defaultTokensMax'>

/** The tokens of a prompt. */
export interface CountedPrompt {
  /** In the caller's dialect. */
  readonly json: Uint8Array
  /** Fields of the request that are not counted, as `x-sluice-dropped` names them. */
  readonly dropped: readonly string[]
}

/** Answers by models that write. */
export interface Inference {
  /** Milliseconds without an output after which the head of a streamed answer leaves. D15. */
  readonly streamHoldMs: number
  /**
   * The request with what it lacks of a preset, read again as a body that came so. The bytes of the request
   * are given up. Failures: body_invalid, not_supported, busy and its kin. D10.
   */
  withPreset(
    request: TextRequest,
    preset: { readonly content: PresetFields; readonly model: string },
    by: PresetBy,
  ): Promise<Outcome<CompleteText>>
  /**
   * The provider's count of the tokens of a prompt. Nothing of it changes how endpoints are chosen.
   * Failures: count_unavailable, those of `plan` and of providers.
   */
  count(job: CountJob): Promise<Outcome<CountedPrompt>>
  /**
   * No promise for a request that all endpoints get as it came, nor for a short one. Failures: model_unfit,
   * endpoint_excluded, endpoint_unconfigured, hops_exceeded, field_unsupported, those of a request that the
   * model cannot answer, and those of the pool of short jobs.
   */
  plan(job: InferenceJob): Outcome<InferencePlan> | Promise<Outcome<InferencePlan>>
}
