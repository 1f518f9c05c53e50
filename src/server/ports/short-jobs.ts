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
 * On the event loop the checked value is complete; a thread returns the known members, with the largest one as
 * bytes. `source`: bytes of a dialect that keeps them, and the positions of its members. `others`: members
 * that the schema does not name.
 */
export type BodyVerdict =
  | {
      readonly ok: true
      readonly value: Record<string, unknown>
      readonly bulk: ({ readonly json: Uint8Array } & BulkFacts) | null
      readonly others?: readonly OtherMember[]
      readonly source?: { readonly bytes: Uint8Array; readonly places: KeptPlaces }
    }
  /** `isForThread`: not validated yet, since that would block the event loop for too long. */
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
  /** Inserts the fields of a preset into the parsed body of a call, and parses the result. */
  merge_preset: {
    in: {
      readonly body: TextBodyName
      readonly bytes: Uint8Array
      readonly preset: SavedPreset
      readonly model: string
    }
    out: BodyVerdict
  }
  /** `longAt`: index of a text that is too long; null: a part is not a text. */
  slice_texts: {
    in: { readonly input: Uint8Array | EmbeddingInput; readonly dimensions: number }
    out:
      | {
          readonly ok: true
          readonly slices: readonly { readonly texts: LexicalTexts; readonly count: number }[]
        }
      | { readonly ok: false; readonly longAt: number | null }
  }
  /** Deterministic, for a slice of the texts that begins at the given index. */
  embed_lexical: {
    in: {
      readonly texts: LexicalTexts
      readonly firstIndex: number
      readonly dimensions: number
      readonly encoding: VectorEncoding
    }
    /** JSON array of `{object, index, embedding}`, and the number of words that were read. */
    out: { readonly data: Uint8Array; readonly tokens: number }
  }
  /** `detail` names the value that the protocol cannot represent. */
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
  /** For a response that the structural scan did not accept, or one in another encoding. */
  decode_embeddings: {
    in: {
      readonly protocol: 'openai' | 'cohere' | 'google'
      readonly answer: Uint8Array
      readonly encoding: VectorEncoding
      /** Number of vectors in the request; a response with another number is refused. */
      readonly count: number
    }
    /** Token figures as the provider reported them, even if implausible; null when the response has none. */
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
      /** The last text of the prompt, which is repeated. */
      readonly last: string
      /** The text is longer than the repeated part. */
      readonly isLastCut: boolean
      readonly stops: readonly string[]
      /** Null: the request sets no maximum. */
      readonly tokensMax: number | null
      readonly isReasoning: boolean
      /** The answer is a tool call. */
      readonly isCall: boolean
      /** The answer is JSON that contains the text, unless it is a tool call. */
      readonly isJson: boolean
      /** Number of answers, all with the same text. */
      readonly choices: number
      /** The request, if it has members that the model does not read; null: it has none. */
      readonly unread: { readonly dialect: Dialect; readonly body: Uint8Array } | null
    }
    /** `pieces`: words, or fragments of a tool's arguments, one token each. `dropped`: members that were not read, for `x-sluice-dropped`. */
    out: {
      readonly reasoning: readonly string[]
      readonly pieces: readonly string[]
      readonly finish: FinishReason
      readonly dropped: readonly string[]
    }
  }
  /** For a provider that uses the caller's dialect; the usage is not included. Not ok: the answer is invalid. */
  native_answer: {
    in: {
      readonly dialect: Dialect
      readonly answer: Uint8Array
      readonly head: NativeHead
    }
    out: JoinedAnswer
  }
  translate: { in: TranslationJob; out: Translation }
  /** The members of a request that endpoints would refuse, before any of them is tried. */
  refused_fields: { in: RefusalsJob; out: readonly (readonly Issue[])[] }
  /** Finds the parts of a request that other providers have signed; null: there are none. */
  foreign_parts: {
    in: { readonly dialect: Dialect; readonly body: Uint8Array; readonly bare: BareReasoning }
    out: ForeignParts | null
  }
  /** An answer translated to the caller's dialect, except for its usage. Not ok: the answer is invalid. */
  translated_answer: {
    in: WholeAsked & {
      readonly dialect: Dialect
      readonly head: NativeHead
      /** As in `TextRequest`. */
      readonly isEncryptedAsked: boolean
    }
    out: JoinedAnswer
  }
  /** The parts of a large event of a translated stream that the event loop needs, with arguments as bytes of JSON; null: the event is invalid. */
  large_event: {
    in: { readonly protocol: TextProtocol; readonly data: Uint8Array }
    out: Readonly<Record<string, unknown>> | null
  }
  /** Converts a whole answer to events, or events to a whole answer, in the provider's protocol. */
  reframe: {
    in: { readonly protocol: TextProtocol; readonly to: 'answer' | 'events'; readonly bytes: Uint8Array }
    out: Reframed
  }
  /** With gzip. */
  compress: { in: { readonly bytes: Uint8Array }; out: Uint8Array }
  /** Encrypts secrets of one vault, then clears the plain values. */
  seal_secrets: {
    in: {
      readonly vault: VaultPlace
      readonly keys: SealingKeys
      readonly secrets: readonly { readonly facts: SecretFacts; readonly value: Uint8Array }[]
    }
    out: readonly SealedOut[]
  }
  /** The value, or null when it was not encrypted for this vault, name and facts. */
  open_secret: { in: SealedValue; out: Uint8Array | null }
  /** Re-encrypts values of one vault for another; null when a value cannot be decrypted. */
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
/** Keys to fingerprint and to encrypt a value, 32 bytes each. The task clears them. */
export interface SealingKeys {
  readonly fingerprint: Uint8Array
  readonly sealing: Uint8Array
}
/** An encrypted value and its key, which the task clears. */
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
/** Asynchronous tasks, which therefore never run on the calling thread. */
export type LateJobName = 'render_clip'
export type PromptJobName = Exclude<ShortJobName, LateJobName>

export interface ShortJobMore {
  /** The caller of the job: callers share the time of the threads. */
  readonly caller: Caller
  readonly transfer?: readonly ArrayBuffer[]
  readonly signal?: AbortSignal
  /** `performance.now()` milliseconds after which the result of the job is no longer needed. */
  readonly endsAt?: number
}

/**
 * Jobs below a millisecond have their own queue, and never wait for longer ones. Failures: busy (the queue or
 * the organization's share of it is full), internal (crashed); before the job began: client_gone,
 * deadline_exceeded, draining.
 */
export interface ShortJobs {
  run<N extends ShortJobName>(
    name: N,
    input: ShortJobTypes[N]['in'],
    more: ShortJobMore,
  ): Promise<Outcome<ShortJobTypes[N]['out']>>
  /**
   * Runs a job on the calling thread, for inputs of at most INLINE_JSON_BYTES_MAX (SCANNED_INLINE_BYTES_MAX
   * for a scan): transferring them would cost more.
   */
  here<N extends PromptJobName>(name: N, input: ShortJobTypes[N]['in']): ShortJobTypes[N]['out']
}
