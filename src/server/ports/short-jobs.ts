import type { BodyName } from '../../schemas/bodies.ts'
import type { Failure, Outcome } from '../../schemas/failures.ts'

/** Verdict of reading a large JSON body: the checked value without its bulky member, and that member's bytes. */
export type BodyVerdict =
  | {
      readonly ok: true
      /** The body without its bulky member. */
      readonly value: Record<string, unknown>
      readonly bulk: { readonly json: Uint8Array; readonly shape: 'string' | 'strings' | 'numbers' | 'lists' | 'objects'; readonly count: number } | null
    }
  | { readonly ok: false; readonly failure: Failure }

/** Pure, CPU-heavy tasks by name: what goes in and what comes out. Buffers are moved, not copied. */
export interface ShortJobTypes {
  read_body: { in: { readonly body: BodyName; readonly bytes: Uint8Array }; out: BodyVerdict }
  /** Deterministic lexical vectors of `sluice/lexical-1`; `texts` is JSON of a string or an array of strings. */
  embed_lexical: {
    in: { readonly texts: Uint8Array; readonly dimensions: number; readonly encoding: 'float' | 'base64' }
    /** JSON array of `{object, index, embedding}`, and the count of tokens. */
    out: { readonly data: Uint8Array; readonly tokens: number }
  }
  /** Re-writes an input for a wire protocol that is not OpenAI's: the request body as bytes. */
  encode_embeddings: {
    in: { readonly protocol: 'cohere' | 'google'; readonly input: Uint8Array; readonly fields: Readonly<Record<string, unknown>> }
    out: { readonly body: Uint8Array }
  }
  /** Parses, validates and re-writes an answer that the structural scan did not take, or another encoding. */
  decode_embeddings: {
    in: { readonly protocol: 'openai' | 'cohere' | 'google'; readonly answer: Uint8Array; readonly encoding: 'float' | 'base64' }
    out:
      | { readonly ok: true; readonly data: Uint8Array; readonly count: number; readonly promptTokens: number | null; readonly totalTokens: number | null }
      | { readonly ok: false }
  }
}
export type ShortJobName = keyof ShortJobTypes

/** The pool of worker threads for short jobs. `busy` when its queue is full; a bug in a job rejects. */
export interface ShortJobs {
  run<N extends ShortJobName>(
    name: N,
    input: ShortJobTypes[N]['in'],
    more?: { readonly transfer?: readonly ArrayBuffer[]; readonly signal?: AbortSignal },
  ): Promise<Outcome<ShortJobTypes[N]['out']>>
}
