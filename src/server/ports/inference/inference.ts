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

/** A file of the workspace whose content is sent to the provider within the request. */
export interface InlineFile extends FileReference {
  /** Without its folders. */
  readonly filename: string
  /** A type that is accepted for its use. */
  readonly mimeType: string
  readonly sizeBytes: number
  /**
   * Called each time the request is sent. Failures: file_unknown (removed meanwhile), content_missing,
   * data_key_unavailable, storage_unavailable, busy, client_gone.
   */
  open(signal: AbortSignal): Promise<Outcome<Content>>
}

export interface InferenceJob {
  readonly operation: string
  /** `performance.now()` of the request. */
  readonly startedAt: number
  /** At least one, in the order to try them; an endpoint that serves several of them is tried once. */
  readonly models: readonly CallableModel[]
  readonly request: TextRequest
  /** The content of the request's `files`, in their order; absent: it has none. */
  readonly files?: readonly InlineFile[]
  readonly head: { readonly id: string; readonly createdS: number }
  /** Headers of the caller that are passed on to the provider: a flat list of lower-case names and values. */
  readonly passedHeaders?: readonly string[]
  /** Flags of the key's limits, as in `EmbeddingJob`. */
  readonly limits: LimitFlags | null
  /** Maximum tokens of an answer when the request sets none and the call counts against `limits`. */
  readonly defaultTokensMax?: number | null
  readonly caller: Caller
  /** The caller's own name for the conversation; null: none given. */
  readonly session: string | null
  readonly requestId: string
  readonly hops: number
  /** `performance.now()` milliseconds by which a whole answer must be complete, or a streamed one must begin. */
  readonly deadlineAt: number
  /** The signal ends when the caller leaves or the node stops. Notes receive attempts that failed. */
  readonly call: {
    readonly signal: AbortSignal
    readonly notes?: Pick<CallNotes, 'failedAttempts'>
    /** As in `EmbeddingCaller`. An unstreamed answer that a provider has begun is charged. */
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
  /** True: the call is charged from now on, and the signal ignores that the client leaves; false: this no longer applies. */
  sent(isSent: boolean): void
  /** Detects immediately that the client left, even before the answer; the connection of a client that sends its next request early is closed. */
  watch(): void
  /**
   * Begins a reply with status 200 that ends as `streamed`. Called at most once; the head is sent with the
   * first event. The signal stays in effect.
   */
  events(head: EventStreamHead): EventStream
}

export interface TextForm {
  /** Name of the member that sets the maximum tokens of an answer. */
  readonly tokensMember: 'max_tokens' | 'max_output_tokens'
  readonly statuses: readonly number[]
  events(head: TextHead, request: TextRequest): TextEvents
  readonly whole: WholeTextOf
  /** @param nano charged part of the cost, in nano-USD */
  usageOf(end: PaidUsage, nano: number): ShownUsage
}

export interface AnswerPorts extends PaymentPorts {
  readonly generations: Pick<Generations, 'keep'>
}

export interface PresetBy {
  readonly caller: Caller
  readonly signal: AbortSignal
  /** The body is a prompt whose tokens are to be counted. */
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
  /**
   * Fills missing fields of the request from a preset, and parses the result; the old bytes are released.
   * Failures: body_invalid, not_supported, busy and similar ones.
   */
  withPreset(
    request: TextRequest,
    preset: { readonly content: PresetFields; readonly model: string },
    by: PresetBy,
  ): Promise<Outcome<CompleteText>>
  /** Does not change how endpoints are chosen. Failures: count_unavailable, those of `answer` before the payment, and of providers. */
  count(job: CountJob): Promise<Outcome<CountedPrompt>>
  /**
   * Chooses the endpoints, reserves the maximum cost of the call, passes the answer on, settles the charge,
   * and stores the record. No promise for a call that no endpoint can serve, unless a thread must determine
   * which endpoints accept it. Failures: model_unfit, endpoint_excluded, endpoint_unconfigured, hops_exceeded,
   * field_unsupported, those of the request, of short jobs, of a payment, and of providers.
   */
  answer(job: TextJob, form: TextForm, ports: AnswerPorts): Outcome<ModelReply> | Promise<Outcome<ModelReply>>
}

/** The operation's `run` ends after the stream, because the cost of the call is known only then. */
export interface EventStream {
  /** False: no further byte reaches the client. Writing then does nothing. */
  readonly isOpen: boolean
  /** False: STREAM_WAITING_BYTES_MAX of output wait for the client, and the source should not be read. */
  readonly hasRoom: boolean
  /** Resolves when there is room again or the stream is not open, for callers that found `hasRoom` false. */
  room(): Promise<void>
  /** Writes whole events; all events of one read of the source should be passed in one call. @param events valid during the call only */
  write(events: Uint8Array): void
  /** Does nothing when the stream is not open. @param last whole events that are sent in the same write as the end */
  end(last?: Uint8Array): void
  /** Sends a last event, then ends the connection without the last chunk of HTTP, so that every client detects the interruption. */
  breakOff(event: Uint8Array): void
}

export interface EventStreamHead {
  readonly headers: Readonly<Record<string, string>>
  /** A comment or a ping, written between two events while the source is silent. */
  silence(): Uint8Array
}
