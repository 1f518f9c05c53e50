import type { PaidUsage, TextEvents, TextHead } from '../../../dialects/answers.ts'
import type { ShownUsage } from '../../../dialects/parts.ts'
import type { PresetFields } from '../../../dialects/presets/text-preset.ts'
import type { TextRequest, CompleteText } from '../../../schemas/inference/text-request.ts'
import type { FileReference } from '../../../schemas/inference/file-references.ts'
import type { Outcome } from '../../../schemas/failures.ts'
import type { LimitFlags } from '../../../schemas/money/costs.ts'
import type { Caller } from '../../../schemas/values/callers.ts'
import type { Content } from '../byte-streams.ts'
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
   * Called for each sending. Failures: file_unknown (removed meanwhile), content_missing,
   * data_key_unavailable, storage_unavailable, busy, client_gone.
   */
  open(signal: AbortSignal): Promise<Outcome<Content>>
}

export interface InferenceJob {
  readonly operation: string
  /** `performance.now()` of the request. */
  readonly startedAt: number
  /** At least one, in the order to try them; an endpoint of several is tried once. */
  readonly models: readonly CallableModel[]
  readonly request: TextRequest
  /** The content of the request's `files`, in their order; absent: it has none. */
  readonly files?: readonly InlineFile[]
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
  readonly requestId: string
  readonly hops: number
  /** `performance.now()` milliseconds until which an answer has to be whole, or to begin. */
  readonly deadlineAt: number
  /** The signal ends when the caller leaves or the node stops. Notes receive attempts that failed. */
  readonly call: {
    readonly signal: AbortSignal
    readonly notes?: Pick<CallNotes, 'failedAttempts'>
    /** As in `EmbeddingCaller`. A whole answer that a provider has begun is charged. */
    sent?(isSent: boolean): void
  }
}

export interface TextJob extends InferenceJob {
  readonly head: TextHead
  readonly call: TextCaller
}

export interface TextCaller extends PayingCall {
  /** `performance.now()` of the request. */
  readonly startedAt: number
  /** True: the call is charged from now on, and the signal ignores that the client leaves; false: no longer. */
  sent(isSent: boolean): void
  /** Notices the client's leave at once, also before the answer; a client that sends its next request early is cut. */
  watch(): void
  /** Begins a reply with status 200 that ends as `streamed`. Called at most once; the head leaves with the first event. The signal stays. */
  events(head: EventStreamHead): EventStream
}

export interface TextForm {
  /** Holds the most tokens of an answer. */
  readonly tokensMember: 'max_tokens' | 'max_output_tokens'
  readonly statuses: readonly number[]
  events(head: TextHead, request: TextRequest): TextEvents
  readonly whole: WholeTextOf
  /** @param nano the charged part of the cost */
  usageOf(end: PaidUsage, nano: number): ShownUsage
}

export interface AnswerPorts extends PaymentPorts {
  readonly generations: Pick<Generations, 'keep'>
}

export interface PresetBy {
  readonly caller: Caller
  readonly signal: AbortSignal
  /** The body is that of a prompt whose tokens are counted. */
  readonly isCount?: true
}

/** The first model counts. */
export type CountJob = Omit<InferenceJob, 'startedAt' | 'head' | 'limits' | 'defaultTokensMax'>

export interface CountedPrompt {
  /** In the caller's dialect. */
  readonly json: Uint8Array
  /** Fields of the request that are not counted, as `x-sluice-dropped` names them. */
  readonly dropped: readonly string[]
}

export interface Inference {
  /** Adds what the request lacks of a preset, and reads it again; its bytes are given up. Failures: body_invalid, not_supported, busy and its kin. */
  withPreset(
    request: TextRequest,
    preset: { readonly content: PresetFields; readonly model: string },
    by: PresetBy,
  ): Promise<Outcome<CompleteText>>
  /** Does not change how endpoints are chosen. Failures: count_unavailable, those of `answer` before the payment, and of providers. */
  count(job: CountJob): Promise<Outcome<CountedPrompt>>
  /**
   * Chooses the endpoints, reserves the most that the call may cost, passes the answer on, pays, and keeps
   * the record. No promise for a call that no endpoint can serve, unless a thread has to find those that take
   * it. Failures: model_unfit, endpoint_excluded, endpoint_unconfigured, hops_exceeded, field_unsupported,
   * those of the request, of short jobs, of a payment, and of providers.
   */
  answer(job: TextJob, form: TextForm, ports: AnswerPorts): Outcome<ModelReply> | Promise<Outcome<ModelReply>>
}

/** The operation's `run` ends after the stream: what a call costs is known only then. */
export interface EventStream {
  /** False: no further byte reaches the client. Writing then does nothing. */
  readonly isOpen: boolean
  /** False: the client lags by STREAM_WAITING_BYTES_MAX, and the source should not be read. */
  readonly hasRoom: boolean
  /** Resolves when there is room again or the stream is not open, for callers that found `hasRoom` false. */
  room(): Promise<void>
  /** Whole events; those of one read of the source belong into one write. @param events valid during the call only */
  write(events: Uint8Array): void
  /** Harmless once the stream is not open. @param last whole events that leave in the same write as the end */
  end(last?: Uint8Array): void
  /** Sends a last event, then ends the connection without the last chunk of HTTP, so that every client notices. */
  breakOff(event: Uint8Array): void
}

export interface EventStreamHead {
  readonly headers: Readonly<Record<string, string>>
  /** A comment or a ping, written between two events while the source is silent. */
  silence(): Uint8Array
}
