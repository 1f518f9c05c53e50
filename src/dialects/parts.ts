import type { CarriedSignature } from './prompt/signatures.ts'
import type { TierMember } from '../schemas/models/price-conditions.ts'
import type { Failure } from '../schemas/failures.ts'
import type { NamedOrigin } from './prompt/prompt.ts'
import type { TokenCounts } from '../schemas/money/costs.ts'
import type { ThinksIn, TextProtocol } from '../schemas/models/protocols.ts'

export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter'

/**
 * A part of a model's output, in the form between the protocols of providers and the dialects of callers.
 * `choice` counts the answers to one call. Parts are in the order of the answer: everything that belongs to a
 * tool call comes before the next call begins.
 */
export type WrittenPart =
  | { readonly kind: 'text' | 'refusal'; readonly choice: number; readonly text: string }
  | {
      readonly kind: 'reasoning'
      readonly choice: number
      readonly text: string
      /** The text is the provider's summary. */
      readonly isSummary?: true
    }
  | {
      readonly kind: 'tool'
      readonly choice: number
      readonly id: string
      readonly name: string
      /** The namespace in which the caller declared the tool; absent: none. */
      readonly namespace?: string
      /** The caller declared a tool whose input is a text (`custom`). */
      readonly isFreeform?: true
    }
  /** A fragment of the JSON arguments of the tool that was called last, or of its text where it is freeform. */
  | { readonly kind: 'arguments'; readonly choice: number; readonly text: string }
  /**
   * Data that the provider needs back. It belongs to the reasoning that was written last, which it ends, or
   * to the call that was written last; redacted reasoning is a part of its own.
   */
  | ({ readonly kind: 'signature'; readonly choice: number } & CarriedSignature)
  | {
      readonly kind: 'finish'
      readonly choice: number
      readonly reason: FinishReason
      /** The finish reason in the provider's word. */
      readonly native: string
      /** The text of the request at which the model stopped; null: none, or not reported. */
      readonly stopSequence: string | null
    }

export type CalledTool = Extract<WrittenPart, { readonly kind: 'tool' }>

/** Tokens that a provider reported, or that Sluice estimated. */
export type TokenUsage = TokenCounts

/** Tiers as the provider writes them; absent: it reported none. */
export type ReportedTiers = Readonly<Partial<Record<TierMember, string>>>

/** The usage of a call as its caller receives it, in the caller's dialect. */
export interface ShownUsage {
  /** JSON of the whole object. */
  readonly whole: string
  /**
   * JSON of the members that only Sluice reports, without braces (`"cost":0.1,"is_byok":false`), for dialects
   * that pass on the provider's own object; null: that object is not credible, so `whole` replaces it.
   */
  readonly added: string | null
  /** The tier that the answer reports, under the same name for all providers; absent: none. */
  readonly tier?: string
}

/** The last events of a stream, which are held until the call is charged. */
export interface FinalEvents {
  /** Whole events in pieces; small ones are sent in one write. */
  withUsage(usage: ShownUsage): readonly Uint8Array[]
}

export interface NoAnswer {
  readonly ok: false
  readonly failure: Failure
  /**
   * JSON of the error that the provider reports instead of an answer; it becomes the failure once its text is
   * cleaned. Absent: none reported.
   */
  readonly error?: Uint8Array
}

/** Result of reading some bytes of a stream. */
export interface NativeRead {
  /**
   * Whole events in the caller's form, to be sent in one write; null: no event was completed. Valid until the
   * next read of any stream.
   */
  readonly events: Uint8Array | null
  /**
   * Why reading stops: the provider's own error event, upstream_invalid, upstream_too_large. Earlier output
   * is in `events`.
   */
  readonly failure: Failure | null
}

/** Figures of a provider's stream, available while it is read and afterwards. */
export interface StreamFigures {
  /** The provider's body has ended. Null: the stream was whole. */
  end(): Failure | null
  /** Bytes of memory that an incomplete event takes. */
  readonly heldBytes: number
  /** The events so far contained output. */
  readonly hasOutput: boolean
  /** The last event has come; later bytes are ignored. */
  readonly isDone: boolean
  /** The output is complete; only the usage is missing. */
  readonly awaitsUsage: boolean
  /** The last usage that the provider reported; null when there is no usage, it is not numeric, or it reports zero output although output was sent. */
  readonly usage: TokenUsage | null
  /** Bytes in UTF-8 of delivered text, reasoning and arguments of tools. */
  readonly outputBytes: number
  /** Finish reason of the part of the answer that ended last, in the provider's words; null: none has ended. */
  readonly finishReason: string | null
  /** The provider's own id; null until it was received. */
  readonly upstreamId: string | null
  /** Tiers as the last event with each of them reports them. */
  readonly reported: ReportedTiers
  /** As in `AnswerFigures`. */
  readonly blocked?: string | undefined
  /** The member that held the reasoning of a chat; null: no reasoning. Absent: the protocol has only one such member. */
  readonly thinksIn?: ThinksIn | null
}

export interface NativeStream extends StreamFigures {
  read(bytes: Uint8Array): NativeRead
  /** The events held back at the end of a complete stream; null: none. */
  readonly finalEvents: FinalEvents | null
  /** As in `AnsweredBy`. */
  readonly createdS?: number
}

/** Result of reading some bytes of a translated stream. */
export interface PartRead {
  /** In the order of the answer; empty: no part was completed. */
  readonly parts: readonly WrittenPart[]
  /** As in `NativeRead`. */
  readonly failure: Failure | null
  /** Continues after an event that a worker thread parses; call it once, before the next read. Absent: all was read. */
  readonly rest?: () => Promise<PartRead>
}

/** The stream of a provider in its own protocol, for callers of other dialects. */
export interface PartStream extends StreamFigures {
  read(bytes: Uint8Array): PartRead
  /** Parts that are complete only at the end of the body; absent: none. */
  readonly finalParts?: readonly WrittenPart[]
}

/** A whole answer, or the reason why it cannot be read. */
export type WholeRead<T> = { readonly ok: true; readonly value: T } | NoAnswer

/** A whole answer of a provider in its own protocol, for a caller of another dialect. */
export interface WholeAsked {
  readonly protocol: TextProtocol
  readonly answer: Uint8Array
  /** Format of the provider's signatures: see `Signature`. */
  readonly signatureFormat: string
  /** The tier that the headers of the answer report; null: none. */
  readonly tier: string | null
  /** Functions of the request whose calls have another name or form in the caller's dialect. */
  readonly origins: readonly NamedOrigin[]
}

export interface WholeParts extends AnswerFigures {
  readonly parts: readonly WrittenPart[]
}

export interface AnswerFigures {
  /** Null: missing, not valid counts, or zero output although there was output. */
  readonly usage: TokenUsage | null
  /** Bytes in UTF-8 of text, reasoning and arguments of tools. */
  readonly outputBytes: number
  /** The last choice's reason, in the provider's words; null: not reported. */
  readonly finishReason: string | null
  /** The provider's own id; null without one. */
  readonly upstreamId: string | null
  readonly reported: ReportedTiers
  /** The provider's word for a prompt that its filter blocked before any output; absent: it blocked none. */
  readonly blocked?: string | undefined
  /** As in `StreamFigures`. */
  readonly thinksIn?: ThinksIn | null
}

/** An answer or an event, split at the place of its usage. */
export interface AnswerPieces {
  readonly before: readonly Uint8Array[]
  /**
   * Members of the provider's own usage, without its braces and without those that Sluice adds; null: the
   * whole object is written in this place.
   */
  readonly usageMembers: readonly Uint8Array[] | null
  readonly after: readonly Uint8Array[]
}

export interface ReadAnswer extends AnswerFigures {
  readonly pieces: AnswerPieces
}

/** A whole answer in the caller's dialect, either passed on from a provider that speaks it, or translated. */
export interface NativeAnswer extends AnswerFigures {
  /** The answer in pieces. */
  withUsage(usage: ShownUsage): readonly Uint8Array[]
}

/**
 * The failure for a provider's error, with the text cleaned of data that only Sluice knows, such as the
 * credential.
 * @param error JSON of an event, or of an answer
 * @param isOfAnswer the error is about the answer, not about the request
 */
export type FailureOf = (error: Uint8Array, isOfAnswer?: boolean) => Failure

/** Values that every event, or the answer, of one call contains. */
export interface NativeHead {
  /** `gen_…` */
  readonly id: string
  /** Canonical id of the model. */
  readonly model: string
  readonly provider: string
  /** Unix seconds, used when the provider gives none. */
  readonly createdS: number
}

/** A body in the requested form. */
export type Reframed = { readonly ok: true; readonly bytes: Uint8Array } | NoAnswer

/** `answer` is in the pieces of `AnswerPieces`; the other members are those of `NativeAnswer`. */
export type JoinedAnswer =
  | {
      readonly ok: true
      readonly answer: Uint8Array
      readonly beforeBytes: number
      /** Null: `usageMembers` is null. */
      readonly usageBytes: number | null
      readonly usage: TokenUsage | null
      readonly outputBytes: number
      readonly finishReason: string | null
      readonly upstreamId: string | null
      readonly reported: ReportedTiers
      readonly thinksIn?: ThinksIn | null
    }
  | NoAnswer
