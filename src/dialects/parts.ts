import type { CarriedSignature } from './prompt/signatures.ts'
import type { TierMember } from '../schemas/models/price-conditions.ts'
import type { Failure } from '../schemas/failures.ts'
import type { NamedOrigin } from './prompt/prompt.ts'
import type { TokenCounts } from '../schemas/money/costs.ts'
import type { ThinksIn, TextProtocol } from '../schemas/models/protocols.ts'

export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter'

/**
 * What a model writes, in the form between the protocols of providers and the dialects of callers. `choice`
 * counts the answers to one call. Parts stand in the order of the answer: what belongs to a call of a tool
 * follows it before the next call begins.
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
      /** In which the caller declared the tool; absent: in none. */
      readonly namespace?: string
      /** The caller declared a tool whose input is a text (`custom`). */
      readonly isFreeform?: true
    }
  /** A fragment of the JSON arguments of the tool that was called last, or of its text where it is freeform. */
  | { readonly kind: 'arguments'; readonly choice: number; readonly text: string }
  /**
   * What the provider needs back. It belongs to the reasoning that was written last, and ends that block; or
   * to the call that was written last; reasoning that is redacted stands for itself.
   */
  | ({ readonly kind: 'signature'; readonly choice: number } & CarriedSignature)
  | {
      readonly kind: 'finish'
      readonly choice: number
      readonly reason: FinishReason
      /** In the provider's word. */
      readonly native: string
      /** The text of the request at which the model stopped; null: none, or not reported. */
      readonly stopSequence: string | null
    }

export type CalledTool = Extract<WrittenPart, { readonly kind: 'tool' }>

/** Tokens that a provider reported, or that Sluice estimated. */
export type TokenUsage = TokenCounts

/** Tiers as the provider writes them; absent: it reported none. */
export type ReportedTiers = Readonly<Partial<Record<TierMember, string>>>

/** The usage of a call as its caller gets it, in the caller's dialect. */
export interface ShownUsage {
  /** JSON of the whole object. */
  readonly whole: string
  /**
   * JSON of the members that only Sluice reports, without braces (`"cost":0.1,"is_byok":false`), for dialects
   * that pass the provider's own object on; null: that object is not credible, and `whole` replaces it.
   */
  readonly added: string | null
  /** The tier that the answer reports, by one name whatever its provider calls it; absent: none. */
  readonly tier?: string
}

/** The last events of a stream, which wait until the call is paid. */
export interface FinalEvents {
  /** Whole events in pieces, to be sent in one write where they are small. */
  withUsage(usage: ShownUsage): readonly Uint8Array[]
}

export interface NoAnswer {
  readonly ok: false
  readonly failure: Failure
  /**
   * JSON of the error that the provider reports in its place, which stands for the failure once its text is
   * cleaned; absent: it reports none.
   */
  readonly error?: Uint8Array
}

/** What the bytes of one read gave. */
export interface NativeRead {
  /**
   * Whole events in the caller's form, to be sent in one write; null: no event was completed. Valid until the
   * next read of any stream.
   */
  readonly events: Uint8Array | null
  /**
   * Why nothing more is read: the provider's own error event, upstream_invalid, upstream_too_large. What came
   * before it is in `events`.
   */
  readonly failure: Failure | null
}

/** What is known of a provider's stream while, and after, it is read. */
export interface StreamFigures {
  /** The provider's body has ended. Null: the stream was whole. */
  end(): Failure | null
  /** Bytes of memory that an event takes whose end has not come. */
  readonly heldBytes: number
  /** An output was among the events so far. */
  readonly hasOutput: boolean
  /** Nothing after the last event counts. */
  readonly isDone: boolean
  /** The output is over, and the usage alone is still to come. */
  readonly awaitsUsage: boolean
  /** The last usage that the provider reported; null: none, not numbers, or no output after some was sent. */
  readonly usage: TokenUsage | null
  /** Bytes in UTF-8 of delivered text, reasoning and arguments of tools. */
  readonly outputBytes: number
  /** Of the part of the answer that ended last, in the provider's words; null: none has ended. */
  readonly finishReason: string | null
  /** The provider's own id; null before it came. */
  readonly upstreamId: string | null
  /** By the last event that reports each. */
  readonly reported: ReportedTiers
  /** As in `AnswerFigures`. */
  readonly blocked?: string | undefined
  /** Where a chat had its reasoning; null: it had none. Absent: the protocol has one place. */
  readonly thinksIn?: ThinksIn | null
}

export interface NativeStream extends StreamFigures {
  read(bytes: Uint8Array): NativeRead
  /** Events that a whole stream keeps back; null: none. */
  readonly finalEvents: FinalEvents | null
  /** As in `AnsweredBy`. */
  readonly createdS?: number
}

/** What the bytes of one read gave of a stream that is translated. */
export interface PartRead {
  /** In the order of the answer; empty: no part was completed. */
  readonly parts: readonly WrittenPart[]
  /** As in `NativeRead`. */
  readonly failure: Failure | null
  /** Reads on, with an event that a thread reads: to be called once, and before the next read. Absent: all was read. */
  readonly rest?: () => Promise<PartRead>
}

/** The stream of a provider in its own protocol, for callers of other dialects. */
export interface PartStream extends StreamFigures {
  read(bytes: Uint8Array): PartRead
  /** Parts that only the end of the body completes; absent: there are none. */
  readonly finalParts?: readonly WrittenPart[]
}

/** A whole answer that was read, or why it cannot be. */
export type WholeRead<T> = { readonly ok: true; readonly value: T } | NoAnswer

/** A whole answer of a provider in its own protocol, for a caller of another dialect. */
export interface WholeAsked {
  readonly protocol: TextProtocol
  readonly answer: Uint8Array
  /** Of the provider's signatures: see `Signature`. */
  readonly signatureFormat: string
  /** What the head of the answer reports; null: nothing. */
  readonly tier: string | null
  /** Functions of the request whose calls have other words in the caller's dialect. */
  readonly origins: readonly NamedOrigin[]
}

export interface WholeParts extends AnswerFigures {
  readonly parts: readonly WrittenPart[]
}

export interface AnswerFigures {
  /** Null: missing, no counts, or no output where there was some. */
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

/** An answer, or an event, around the place of its usage. */
export interface AnswerPieces {
  readonly before: readonly Uint8Array[]
  /**
   * Members of the provider's own usage, without its braces and without those that Sluice adds; null: the
   * place gets the whole object.
   */
  readonly usageMembers: readonly Uint8Array[] | null
  readonly after: readonly Uint8Array[]
}

export interface ReadAnswer extends AnswerFigures {
  readonly pieces: AnswerPieces
}

/** A whole answer in the caller's dialect, as a provider that speaks it gave it, or translated. */
export interface NativeAnswer extends AnswerFigures {
  /** The answer in pieces. */
  withUsage(usage: ShownUsage): readonly Uint8Array[]
}

/**
 * The failure that a provider's error stands for, with its text cleaned by what Sluice alone knows.
 * @param error JSON of an event, or of an answer
 * @param isOfAnswer the error is of the answer, and not of the request
 */
export type FailureOf = (error: Uint8Array, isOfAnswer?: boolean) => Failure

/** What every event, or the answer, of one call is made of. */
export interface NativeHead {
  /** `gen_…` */
  readonly id: string
  /** Canonical id of the model. */
  readonly model: string
  readonly provider: string
  /** Unix seconds, for where the provider gives none. */
  readonly createdS: number
}

/** A body in the form that was asked for. */
export type Reframed = { readonly ok: true; readonly bytes: Uint8Array } | NoAnswer

/** `answer` is in the pieces of `AnswerPieces`; the other members are those of `NativeAnswer`. */
export type JoinedAnswer =
  | {
      readonly ok: true
      readonly answer: Uint8Array
      readonly beforeBytes: number
      /** Null: the place of the usage is empty. */
      readonly usageBytes: number | null
      readonly usage: TokenUsage | null
      readonly outputBytes: number
      readonly finishReason: string | null
      readonly upstreamId: string | null
      readonly reported: ReportedTiers
      readonly thinksIn?: ThinksIn | null
    }
  | NoAnswer
