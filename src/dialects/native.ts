/** Calls in a form that caller and provider share: the provider gets the caller's bytes with some changes. */
import type { NamedOrigin } from './prompt/prompt.ts'
import type { BodyEdit, FixedEdits, HoleEdit } from '../schemas/inference/provider-body.ts'
import type { TextRequest } from '../schemas/inference/text-request.ts'
import type { FailureOf, NativeHead, NativeStream, ReadAnswer } from './parts.ts'
import type { ForeignParts } from './prompt/signatures.ts'
import type { ReasoningField } from '../schemas/models/protocols.ts'

/** What a caller asks for. `H` stands for a content that is read while the request is sent. */
export interface NativeAsked<H = never> {
  readonly request: Pick<TextRequest, 'source' | 'isStream'>
  /** Headers of the caller that go to the provider: a flat list of names in lower case and values. */
  readonly passedHeaders?: readonly string[] | undefined
  /** What other providers have signed; absent: nothing. */
  readonly foreign?: ForeignParts | undefined
  /** Replace file ids with the contents of the files. */
  readonly contents: readonly (BodyEdit | HoleEdit<H>)[]
}

/** What an endpoint takes. */
export interface NativeTerms {
  /** Of every body that goes there. */
  readonly own: FixedEdits
  /** It refuses members that it does not know. */
  readonly isStrict: boolean
  /** Where a chat has its reasoning; absent: unknown. */
  readonly reasoningField?: ReasoningField | undefined
  /** Its name for the most tokens of an answer of chat. */
  readonly tokensMember: 'max_tokens' | 'max_completion_tokens'
  /** The most tokens of an answer, where the request has to name them; null: it need not. */
  readonly tokensMax: number | null
  /** It is called with the workspace's own key, whose account keeps what the workspace stores. */
  readonly isOwn: boolean
}

export interface NativeRequest<H = never> {
  readonly body: readonly (Uint8Array | H)[]
  /** Members of the request that the provider does not get. */
  readonly dropped: readonly string[]
  /** Flat list of names and values, in addition to those of every call. */
  readonly headers?: readonly string[]
  /** Functions of a translated request whose calls have other words in the caller's dialect; absent: none. */
  readonly origins?: readonly NamedOrigin[]
}

/** One form of calls, spoken by caller and provider alike: what differs between the forms. */
export interface NativeDialect {
  /** Below the provider's base address. */
  readonly path: string
  /** Of the call that counts the tokens of a prompt; absent: the form has none. */
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
