import type { BodyName } from '../../schemas/bodies.ts'
import type { Caller } from '../../schemas/values/callers.ts'
import type { EmbeddingInput, InputKind } from '../../schemas/embeddings/embeddings.ts'
import type { Failure, Outcome } from '../../schemas/failures.ts'
import type { SecretFacts, VaultPlace } from './vault/secret-rows.ts'

/**
 * Verdict of reading a JSON body. On the loop: the checked value, whole. In a thread: the known members
 * without the bulky one, and that one's bytes.
 */
export type BodyVerdict =
  | {
      readonly ok: true
      readonly value: Record<string, unknown>
      readonly bulk: { readonly json: Uint8Array; readonly kind: InputKind; readonly count: number } | null
    }
  /** `isForThread`: nothing is said of it yet, since that takes longer than the loop may be blocked. */
  | { readonly ok: false; readonly failure: Failure; readonly isForThread?: true }

/** Pure, CPU-heavy tasks by name: what goes in and what comes out. Buffers are moved, not copied. */
export interface ShortJobTypes {
  read_body: {
    in: { readonly body: BodyName; readonly bytes: Uint8Array; readonly isOnLoop?: boolean }
    out: BodyVerdict
  }
  /**
   * Cuts a call to `sluice/lexical-1` into slices; `longAt` is the text that is too long, null when a part is
   * no text.
   */
  slice_texts: {
    in: { readonly input: Uint8Array | EmbeddingInput; readonly dimensions: number }
    out:
      | {
          readonly ok: true
          readonly slices: readonly { readonly texts: LexicalTexts; readonly count: number }[]
        }
      | { readonly ok: false; readonly longAt: number | null }
  }
  /**
   * Deterministic lexical vectors of `sluice/lexical-1`, of a slice of the texts that begins with an index.
   */
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
  /**
   * Writes the request body of a wire protocol that is not OpenAI's; `detail` says what the protocol cannot
   * carry.
   */
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
  /**
   * Finds the vectors of an answer of the OpenAI form without parsing them: their bytes `[start, end)` in the
   * answer, which are valid. Null when the answer has to be parsed.
   */
  scan_answer: {
    in: { readonly answer: Uint8Array; readonly encoding: VectorEncoding; readonly count: number }
    out: {
      readonly start: number
      readonly end: number
      readonly promptTokens: number | null
      readonly totalTokens: number | null
    } | null
  }
  /** Parses, validates and re-writes an answer that the structural scan did not take, or another encoding. */
  decode_embeddings: {
    in: {
      readonly protocol: 'openai' | 'cohere' | 'google'
      readonly answer: Uint8Array
      readonly encoding: VectorEncoding
      /** Vectors that were asked for; an answer with another number of them is refused. */
      readonly count: number
    }
    /** Token figures are the provider's words, whatever number, null where it says none. */
    out:
      | {
          readonly ok: true
          readonly data: Uint8Array
          readonly promptTokens: number | null
          readonly totalTokens: number | null
        }
      | { readonly ok: false; readonly isMiscounted: boolean }
  }
  /** The bytes in gzip. */
  compress: { in: { readonly bytes: Uint8Array }; out: Uint8Array }
  /** Seals values of one vault, and clears them. */
  seal_secrets: {
    in: {
      readonly vault: VaultPlace
      readonly keys: SealingKeys
      readonly secrets: readonly { readonly facts: SecretFacts; readonly value: Uint8Array }[]
    }
    out: readonly SealedOut[]
  }
  /** The value, or null when it is not what was sealed for this place and these facts. */
  open_secret: { in: SealedValue; out: Uint8Array | null }
  /** Seals values of one vault for another; null when one of them does not open. */
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
   * The clip of `sluice/clip-1`. Sizes, seconds and frames are as `schemas/videos/clip.ts` advertises them:
   * others are a bug.
   */
  render_clip: {
    in: {
      readonly prompt: string | null
      readonly seconds: number
      readonly width: number
      readonly height: number
      readonly framesPerSecond: number
      readonly seed: number
      /** Bytes of PNG or JPEG images; of references at most CLIP_REFERENCES_MAX. */
      readonly firstFrame: Uint8Array | null
      readonly lastFrame: Uint8Array | null
      readonly references: readonly Uint8Array[]
    }
    /**
     * The same bytes for the same input; `detail` says which image cannot be read and why, and is fit for the
     * caller.
     */
    out: { readonly ok: true; readonly mp4: Uint8Array } | { readonly ok: false; readonly detail: string }
  }
}
/** Keys that a value is fingerprinted and sealed with, 32 bytes each. Whoever runs the task clears them. */
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
/** How a value is stored. */
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
/** Tasks that answer later than they return, and so never on the calling thread. */
export type LateJobName = 'render_clip'
/** Tasks that have answered when they return. */
export type PromptJobName = Exclude<ShortJobName, LateJobName>

export interface ShortJobMore {
  /** Whose job it is: callers share the time of the threads. */
  readonly caller: Caller
  readonly transfer?: readonly ArrayBuffer[]
  readonly signal?: AbortSignal
  /** `performance.now()` milliseconds: nobody needs the job any more if it begins later. */
  readonly endsAt?: number
}

/**
 * The worker threads for short jobs: one lane for those below a millisecond, which never stand behind others.
 * Failures: `busy` when the lane's queue is full or the organization's share of it, `internal` when a job
 * crashed, `client_gone`, `deadline_exceeded` and `draining` when the signal or `endsAt` ended it before it
 * began.
 */
export interface ShortJobs {
  run<N extends ShortJobName>(
    name: N,
    input: ShortJobTypes[N]['in'],
    more: ShortJobMore,
  ): Promise<Outcome<ShortJobTypes[N]['out']>>
  /**
   * The same task on the calling thread, for inputs of at most INLINE_JSON_BYTES_MAX
   * (SCANNED_INLINE_BYTES_MAX for a scan): a hand-over would cost more.
   */
  here<N extends PromptJobName>(name: N, input: ShortJobTypes[N]['in']): ShortJobTypes[N]['out']
}
