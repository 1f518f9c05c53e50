import type { BodyName, BulkFacts, TextBodyName } from '../../schemas/bodies.ts'
import type { Caller } from '../../schemas/values/callers.ts'
import type { EmbeddingInput } from '../../schemas/embeddings/embeddings.ts'
import type { Issue } from '../../schemas/failure-metadata.ts'
import type { Failure, Outcome } from '../../schemas/failures.ts'
import type { SavedPreset } from '../../dialects/presets/text-preset.ts'
import type { Translation, TranslationJob } from '../../dialects/translate.ts'
import type { OtherMember } from '../../schemas/other-members.ts'
import type { Dialect } from '../../schemas/inference/text-request.ts'
import type { KeptPlaces } from '../../schemas/kept-body.ts'
import type { SecretFacts, VaultPlace } from './vault/secret-rows.ts'
import type { FinishReason, Reframed, JoinedAnswer, NativeHead, WholeAsked } from '../../dialects/parts.ts'
import type { BareReasoning, ForeignParts } from '../../dialects/prompt/signatures.ts'
import type { RefusalsJob } from '../../dialects/refusals.ts'
import type { TextProtocol } from '../../schemas/models/protocols.ts'

/**
 * On the event loop the checked value is complete; a thread returns the known members and the bytes of the
 * bulky one. `source`: bytes of a form that keeps them, and places of its members. `others`: members that the
 * shape does not name.
 */
export type BodyVerdict =
  | {
      readonly ok: true
      readonly value: Record<string, unknown>
      readonly bulk: ({ readonly json: Uint8Array } & BulkFacts) | null
      readonly others?: readonly OtherMember[]
      readonly source?: { readonly bytes: Uint8Array; readonly places: KeptPlaces }
    }
  /** `isForThread`: not judged yet, since that would block the event loop for too long. */
  | {
      readonly ok: false
      readonly failure: Failure
      readonly isForThread?: true
      readonly others?: readonly OtherMember[]
    }

/**
 * Pure, CPU-heavy tasks. Buffers that `transfer` names and bytes of an output are transferred; others are
 * copied, as another attempt may need them.
 */
export interface ShortJobTypes {
  read_body: {
    in: { readonly body: BodyName; readonly bytes: Uint8Array; readonly isOnLoop?: boolean }
    out: BodyVerdict
  }
  /** Puts the fields of a preset into the body of a call that was read, and reads it again. */
  merge_preset: {
    in: {
      readonly body: TextBodyName
      readonly bytes: Uint8Array
      readonly preset: SavedPreset
      readonly model: string
    }
    out: BodyVerdict
  }
  /** `longAt`: index of a text that is too long; null: a part is no text. */
  slice_texts: {
    in: { readonly input: Uint8Array | EmbeddingInput; readonly dimensions: number }
    out:
      | {
          readonly ok: true
          readonly slices: readonly { readonly texts: LexicalTexts; readonly count: number }[]
        }
      | { readonly ok: false; readonly longAt: number | null }
  }
  /** Deterministic, for a slice of the texts that begins at an index. */
  embed_lexical: {
    in: {
      readonly texts: LexicalTexts
      readonly firstIndex: number
      readonly dimensions: number
      readonly encoding: VectorEncoding
    }
    /** JSON array of `{object, index, embedding}`, and the count of the words read. */
    out: { readonly data: Uint8Array; readonly tokens: number }
  }
  /** `detail` says which value the protocol cannot carry. */
  encode_embeddings: {
    in: {
      readonly protocol: 'cohere' | 'google'
      readonly upstreamModel: string
      readonly input: Uint8Array | EmbeddingInput
      readonly dimensions: number | null
      readonly inputType: string | null
    }
    out: { readonly ok: true; readonly body: Uint8Array } | { readonly ok: false; readonly detail: string }
  }
  /** Bytes `[start, end)` of valid vectors in OpenAI's form, found without parsing; null: the response has to be parsed. */
  scan_answer: {
    in: { readonly answer: Uint8Array; readonly encoding: VectorEncoding; readonly count: number }
    out: {
      readonly start: number
      readonly end: number
      readonly promptTokens: number | null
      readonly totalTokens: number | null
    } | null
  }
  /** For a response that the structural scan did not take, or in another encoding. */
  decode_embeddings: {
    in: {
      readonly protocol: 'openai' | 'cohere' | 'google'
      readonly answer: Uint8Array
      readonly encoding: VectorEncoding
      /** Number of vectors in the request; a response with another number is refused. */
      readonly count: number
    }
    /** Token figures as the provider wrote them, whatever the number; null where the response has none. */
    out:
      | {
          readonly ok: true
          readonly data: Uint8Array
          readonly promptTokens: number | null
          readonly totalTokens: number | null
        }
      | { readonly ok: false; readonly isMiscounted: boolean }
  }
  /** The answer of `sluice/echo-1`. */
  echo: {
    in: {
      /** The text that is repeated. */
      readonly last: string
      /** The text is longer than what is repeated. */
      readonly isLastCut: boolean
      readonly stops: readonly string[]
      /** Null: no maximum of the request. */
      readonly tokensMax: number | null
      readonly isReasoning: boolean
      /** The answer is a call of a tool. */
      readonly isCall: boolean
      /** The answer is JSON with the text, unless it is a call. */
      readonly isJson: boolean
      /** Answers with the same text. */
      readonly choices: number
      /** A request with members that the model does not read; null: it has none. */
      readonly unread: { readonly dialect: Dialect; readonly body: Uint8Array } | null
    }
    /** `pieces`: words, or fragments of a tool's arguments, a token each. `dropped`: members not read, for `x-sluice-dropped`. */
    out: {
      readonly reasoning: readonly string[]
      readonly pieces: readonly string[]
      readonly finish: FinishReason
      readonly dropped: readonly string[]
    }
  }
  /** The provider speaks the caller's dialect; the usage is not written. Not ok: the answer is invalid. */
  native_answer: {
    in: {
      readonly dialect: Dialect
      readonly answer: Uint8Array
      readonly head: NativeHead
    }
    out: JoinedAnswer
  }
  translate: { in: TranslationJob; out: Translation }
  /** What endpoints would refuse of a request, before any of them is tried. */
  refused_fields: { in: RefusalsJob; out: readonly (readonly Issue[])[] }
  /** Finds in a request what other providers have signed; null: it has nothing of them. */
  foreign_parts: {
    in: { readonly dialect: Dialect; readonly body: Uint8Array; readonly bare: BareReasoning }
    out: ForeignParts | null
  }
  /** Written in the caller's dialect, but for its usage. Not ok: the answer is invalid. */
  translated_answer: {
    in: WholeAsked & {
      readonly dialect: Dialect
      readonly head: NativeHead
      /** As in `TextRequest`. */
      readonly isEncryptedAsked: boolean
    }
    out: JoinedAnswer
  }
  /** What the loop reads of a large event of a translated stream, arguments as bytes of JSON; null: it is invalid. */
  large_event: {
    in: { readonly protocol: TextProtocol; readonly data: Uint8Array }
    out: Readonly<Record<string, unknown>> | null
  }
  /** The events of a whole answer, or a whole answer of such events, in the provider's protocol. */
  reframe: {
    in: { readonly protocol: TextProtocol; readonly to: 'answer' | 'events'; readonly bytes: Uint8Array }
    out: Reframed
  }
  /** With gzip. */
  compress: { in: { readonly bytes: Uint8Array }; out: Uint8Array }
  /** All of one vault; clears the values. */
  seal_secrets: {
    in: {
      readonly vault: VaultPlace
      readonly keys: SealingKeys
      readonly secrets: readonly { readonly facts: SecretFacts; readonly value: Uint8Array }[]
    }
    out: readonly SealedOut[]
  }
  /** The value, or null when it was not sealed for this place and these facts. */
  open_secret: { in: SealedValue; out: Uint8Array | null }
  /** Seals values of one vault for another; null when a value does not open. */
  copy_secrets: {
    in: {
      readonly from: readonly SealedValue[]
      readonly to: {
        readonly vault: VaultPlace
        readonly keys: SealingKeys
        readonly versions: readonly string[]
      }
    }
    out: readonly SealedOut[] | null
  }
  /**
   * Renders a clip of `sluice/clip-1` as MP4: the same bytes for the same input. Sizes and seconds must be
   * among those that `schemas/videos/clip.ts` advertises.
   */
  render_clip: {
    in: {
      readonly prompt: string | null
      readonly seconds: number
      readonly width: number
      readonly height: number
      /** 32 bits. */
      readonly seed: number
    }
    out: Uint8Array
  }
}
/** Keys that fingerprint and seal a value, 32 bytes each. The task clears them. */
export interface SealingKeys {
  readonly fingerprint: Uint8Array
  readonly sealing: Uint8Array
}
/** A sealed value, and the key that opens it, which the task clears. */
export interface SealedValue {
  readonly vault: VaultPlace
  readonly facts: SecretFacts
  readonly sealed: Uint8Array<ArrayBuffer>
  readonly sealingKey: Uint8Array<ArrayBuffer>
}
export interface SealedOut {
  /** `sha256:` and hex digits. */
  readonly fingerprint: string
  readonly sealed: Uint8Array
}
/** Texts, or their list as UTF-8 JSON. */
type LexicalTexts = readonly string[] | Uint8Array
/** How a vector is written in JSON: numbers, or base64 of little-endian float32. */
export type VectorEncoding = 'float' | 'base64'
export type ShortJobName = keyof ShortJobTypes
/** Tasks that are asynchronous, and so never run on the calling thread. */
export type LateJobName = 'render_clip'
export type PromptJobName = Exclude<ShortJobName, LateJobName>

export interface ShortJobMore {
  /** The caller of the job: callers share the time of the threads. */
  readonly caller: Caller
  readonly transfer?: readonly ArrayBuffer[]
  readonly signal?: AbortSignal
  /** `performance.now()` milliseconds after which the result of the job is of no use. */
  readonly endsAt?: number
}

/**
 * Jobs below a millisecond have a lane of their own, and never wait for longer ones. Failures: busy (the
 * queue or the organization's share of it is full), internal (crashed); before the job began: client_gone,
 * deadline_exceeded, draining.
 */
export interface ShortJobs {
  run<N extends ShortJobName>(
    name: N,
    input: ShortJobTypes[N]['in'],
    more: ShortJobMore,
  ): Promise<Outcome<ShortJobTypes[N]['out']>>
  /** On the calling thread, for at most INLINE_JSON_BYTES_MAX (SCANNED_INLINE_BYTES_MAX for a scan): a transfer would cost more. */
  here<N extends PromptJobName>(name: N, input: ShortJobTypes[N]['in']): ShortJobTypes[N]['out']
}
