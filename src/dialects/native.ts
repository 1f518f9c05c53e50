/** Calls in a form that caller and provider share: the provider gets the caller's bytes with some changes. */
import type { NamedOrigin } from './prompt/prompt.ts'
import type { BodyEdit, FixedEdits, HoleEdit } from '../schemas/inference/provider-body.ts'
import type { TextRequest } from '../schemas/inference/text-request.ts'
import type { FailureOf, NativeHead, NativeStream, ReadAnswer } from './parts.ts'
import type { ForeignParts } from './prompt/signatures.ts'
import type { ReasoningField } from '../schemas/models/protocols.ts'

/** The caller's request. `H` stands for a content that is read while the request is sent. */
export interface NativeAsked<H = never> {
  readonly request: Pick<TextRequest, 'source' | 'isStream'>
  /** Headers of the caller that are sent to the provider: a flat list of names in lower case and values. */
  readonly passedHeaders?: readonly string[] | undefined
  /** Parts that other providers signed; absent: none. */
  readonly foreign?: ForeignParts | undefined
  /** Replace file ids with the contents of the files. */
  readonly contents: readonly (BodyEdit | HoleEdit<H>)[]
}

/** Properties of an endpoint that decide how a body is sent to it. */
export interface NativeTerms {
  /** Edits of every body sent to the endpoint. */
  readonly own: FixedEdits
  /** The provider refuses members that it does not know. */
  readonly isStrict: boolean
  /** The member that holds the reasoning of a chat; absent: unknown. */
  readonly reasoningField?: ReasoningField | undefined
  /** The provider's name for the token maximum of a chat answer. */
  readonly tokensMember: 'max_tokens' | 'max_completion_tokens'
  /** The token maximum of an answer when the request must name one; null: it need not. */
  readonly tokensMax: number | null
  /** The call uses the workspace's own key, so objects are stored in the workspace's account. */
  readonly isOwn: boolean
}

export interface NativeRequest<H = never> {
  readonly body: readonly (Uint8Array | H)[]
  /** Members of the request that the provider does not get. */
  readonly dropped: readonly string[]
  /** Flat list of names and values, in addition to those of every call. */
  readonly headers?: readonly string[]
  /** Functions of a translated request whose calls have another name or form in the caller's dialect; absent: none. */
  readonly origins?: readonly NamedOrigin[]
}

/** The operations that differ between the dialects shared by callers and providers. */
export interface NativeDialect {
  /** Path below the provider's base address. */
  readonly path: string
  /** Path of the call that counts the tokens of a prompt; absent: the dialect has none. */
  readonly countPath?: string
  /** The caller's body with the changes of D4. */
  request<H>(asked: NativeAsked<H>, terms: NativeTerms): NativeRequest<H>
  stream(head: NativeHead, failureOf: FailureOf): NativeStream
  /**
   * Reads a whole answer, joined from its pieces. Null: not an answer in this form. Bytes: JSON of the error
   * that a failed answer reports.
   */
  answer(body: Buffer, head: NativeHead): ReadAnswer | Uint8Array | null
}
