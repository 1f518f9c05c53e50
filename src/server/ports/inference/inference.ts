import type { PaidUsage, TextEvents, TextHead } from '../../../dialects/answers.ts'
import type { ShownUsage } from '../../../dialects/parts.ts'
import type { PresetFields } from '../../../dialects/presets/text-preset.ts'
import type { TextRequest, CompleteText } from '../../../schemas/inference/text-request.ts'
import type { FileReference } from '../../../schemas/inference/file-references.ts'
import type { Outcome } from '../../../schemas/failures.ts'
import type { LimitFlags } from '../../../schemas/money/costs.ts'
import type { Caller } from '../../../schemas/values/callers.ts'
import type { Content } from '../byte-streams.ts'
import type { EventStream, EventStreamHead } from '../event-stream.ts'
import type { ModelReply, PayingCall, PaymentPorts } from '../model-calls.ts'
import type { CallableModel } from '../models/models.ts'
import type { CallNotes } from '../observe.ts'
import type { Generations } from './generations.ts'
import type { WholeTextOf } from '../../../dialects/native-answer.ts'

/** A file of the workspace whose content goes to the provider within the request. */
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
  /** Id of the operation, for the metrics and the audit log. */
  readonly operation: string
  /** `performance.now()` of the request. */
  readonly startedAt: number
  /** At least one, in the order to try them; an endpoint of several is tried once. */
  readonly models: readonly CallableModel[]
  readonly request: TextRequest
  /** The content of the request's `files`, in their order; absent: it has none. */
  readonly files?: readonly InlineFile[]
  /** What the answer begins with, whatever endpoint gives it. */
  readonly head: { readonly id: string; readonly createdS: number }
  /** Headers of the caller that go to the provider: a flat list of names in lower case and values. */
  readonly passedHeaders?: readonly string[]
  /** Flags of the key's limits, as in `EmbeddingJob`. */
  readonly limits: LimitFlags | null
  /** Tokens of an answer where the request has no maximum and `limits` count the call. */
  readonly defaultTokensMax?: number | null
  readonly caller: Caller
  /** The caller's own name of the conversation; null: the call has none. */
  readonly session: string | null
  /** Id of the request for the audit log, where an endpoint's credential has to be released. */
  readonly requestId: string
  /** Number of gateways that the call has passed. */
  readonly hops: number
  /** `performance.now()` milliseconds until which an answer has to be whole, or to begin. */
  readonly deadlineAt: number
  /**
   * The call: its signal ends when the caller leaves or the node stops. Its notes receive attempts that
   * failed.
   */
  readonly call: {
    readonly signal: AbortSignal
    readonly notes?: Pick<CallNotes, 'failedAttempts'>
    /** As in `EmbeddingCaller`. A whole answer that a provider has begun is charged. */
    sent?(isSent: boolean): void
  }
}

/** A call whose answer is written, and paid for. */
export interface TextJob extends InferenceJob {
  readonly head: TextHead
  readonly call: TextCaller
}

/** The call of a caller, as far as its answer needs it. */
export interface TextCaller extends PayingCall {
  /** `performance.now()` of the request. */
  readonly startedAt: number
  /**
   * Reports that a call that outlives its client is charged from now on, or no longer. While the call is
   * charged, the signal ignores that the client leaves.
   */
  sent(isSent: boolean): void
  /**
   * Has the client's leave noticed at once, also before the answer. A client that sends its next request
   * before the answer is cut.
   */
  watch(): void
  /**
   * Begins a reply of events with status 200, which then ends as `streamed`. Called at most once; the head
   * leaves with the first event. The signal still ends when the client leaves or the node stops.
   */
  events(head: EventStreamHead): EventStream
}

/** The form of calls and answers in one dialect. */
export interface TextForm {
  /** The member of a request with the most tokens of an answer. */
  readonly tokensMember: 'max_tokens' | 'max_output_tokens'
  /** Statuses of the operation. */
  readonly statuses: readonly number[]
  /** The events of a streamed answer. */
  events(head: TextHead, request: TextRequest): TextEvents
  readonly whole: WholeTextOf
  /** @param nano the charged part of the cost */
  usageOf(end: PaidUsage, nano: number): ShownUsage
}

/** What an answer is paid from, and where its record is kept. */
export interface AnswerPorts extends PaymentPorts {
  readonly generations: Pick<Generations, 'keep'>
}

/** Who uses a preset. */
export interface PresetBy {
  readonly caller: Caller
  readonly signal: AbortSignal
  /** The body is that of a prompt whose tokens are counted. */
  readonly isCount?: true
}

/** A prompt whose tokens are counted; the first model counts. */
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
  /**
   * The request with what it lacks of a preset, read again as a body that came so. The bytes of the request
   * are given up. Failures: body_invalid, not_supported, busy and its kin.
   */
  withPreset(
    request: TextRequest,
    preset: { readonly content: PresetFields; readonly model: string },
    by: PresetBy,
  ): Promise<Outcome<CompleteText>>
  /**
   * The provider's count of the tokens of a prompt. Nothing of it changes how endpoints are chosen.
   * Failures: count_unavailable, those of `answer` before the payment, and of providers.
   */
  count(job: CountJob): Promise<Outcome<CountedPrompt>>
  /**
   * Chooses the endpoints, reserves the most that the call may cost, passes the answer on, pays, and keeps the
   * record. No promise for a call that no endpoint can serve, unless the endpoints that take it have to be
   * found on a thread. Failures: model_unfit, endpoint_excluded, endpoint_unconfigured, hops_exceeded,
   * field_unsupported, those of a request that the model cannot answer, of the pool of short jobs, of a
   * payment, and of providers.
   */
  answer(job: TextJob, form: TextForm, ports: AnswerPorts): Outcome<ModelReply> | Promise<Outcome<ModelReply>>
}
