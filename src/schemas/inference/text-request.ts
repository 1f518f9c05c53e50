import type { KeptBody } from '../kept-body.ts'
import type { ProviderPreferences } from '../models/preferences.ts'
import type { Conversation } from './conversation.ts'
import type { FileReference } from './file-references.ts'
import type { ServerTools } from './server-tools.ts'
import type { Tiers } from '../models/price-conditions.ts'

/** The form of a call on the wire, by which its caller and a provider speak. Part D, "Words". */
export const DIALECTS = ['chat', 'responses', 'messages'] as const
export type Dialect = (typeof DIALECTS)[number]

/** Media in the parts of messages, by kind. */
export interface MediaCounts {
  readonly image: number
  readonly audio: number
  readonly video: number
  readonly file: number
}

/** A kind of content, named as the catalogue names modalities, and the JSON pointer of where a request has it. */
export interface PlacedModality {
  readonly name: string
  readonly path: string
}

export interface EstimatedText {
  /** UTF-8 bytes of the body with its escapes decoded and without base64; a text that came as base64 counts. */
  readonly bytes: number
  readonly mediaTokens: number
}

/** What bounds the tokens of a call. */
export interface TextSize {
  /** Bytes of the body without base64 media: an upper bound on its input tokens, media excluded. */
  readonly promptBytesMost: number
  /** What its tokens are estimated by. */
  readonly text: EstimatedText
  readonly messages: number
  readonly tools: number
  /** The answer has to have a form other than text. */
  readonly hasFormat: boolean
  /** Tools that the provider runs; null: none. */
  readonly serverTools: ServerTools | null
  readonly media: MediaCounts
  /** The first medium of each kind whose content, or its address, is in the request and no text; absent: none. */
  readonly placed?: readonly PlacedModality[]
  /**
   * The most tokens of each answer: in chat the larger of `max_tokens` and `max_completion_tokens`, since
   * providers differ in which of them they obey; null: the request says none.
   */
  readonly tokensMax: number | null
  /** The input goes on from what a provider has stored, of which Sluice knows no tokens. */
  readonly hasStored?: boolean
}

/** Efforts whose reasoning is of one size; a budget of tokens belongs to the nearest. */
export const EFFORT_CLASSES = ['minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const
export type EffortClass = (typeof EFFORT_CLASSES)[number]

/**
 * What is used of the body of a call that writes texts, in every dialect. A thread makes it of a large body,
 * whose thousands of parts never reach the loop.
 */
export interface TextInput {
  readonly dialect: Dialect
  /** Null: that of the preset. */
  readonly model: string | null
  readonly isStream: boolean
  /** Chat alone: the event with the usage has no choices. */
  readonly isUsageAlone: boolean
  /** Responses alone: the answer has what the provider needs back (`include`); absent: it has not. */
  readonly isEncryptedAsked?: true
  /** Answers to one call. */
  readonly choices: number
  /** Texts at which an answer stops. */
  readonly stops: readonly string[]
  readonly isReasoning: boolean
  /** The request asks the model to reason, or not to; null: it leaves it to the model. */
  readonly asksReasoning: boolean | null
  /** How much reasoning the request asks for; absent: it leaves that to the model. */
  readonly effort?: EffortClass
  /** Name of the tool that has to be called; null: the request names none. */
  readonly tool: string | null
  /** The named tool is one of the request. */
  readonly hasTool: boolean
  /** Type of the form that the answer has to have; `text` where the request says none. */
  readonly form: string
  /** The built-in model can answer in this form. */
  readonly isFormMet: boolean
  readonly sessionId: string | null
  readonly conversation: Conversation
  readonly promptWords: number
  /** The last text of the user, its first ECHO_UNITS_MAX units. */
  readonly last: string
  /** The text is longer. */
  readonly isLastCut: boolean
  readonly size: TextSize
  /** Models that are tried after the first. */
  readonly models: readonly string[]
  readonly provider: ProviderPreferences | null
  /** A preset in addition to the model, which may name one too. */
  readonly preset: string | null
  /** Members without an effect that the caller may have counted on, for `x-sluice-dropped`. */
  readonly dropped: readonly string[]
  /** The first member by which the call may cost more than the catalogue says; null: no such member. */
  readonly dearMember: string | null
  /** What the call asks for that may have a price of its own, as modifiers name it. */
  readonly tiers: Tiers
  /** JSON pointer of the member by which the provider summarizes the input before it answers; absent: it does not. */
  readonly compactionPath?: string
  /** The provider may answer with another model, which it knows alone (`fallbacks`). */
  readonly hasFallbacks: boolean
  /** Outputs other than text that the request asks for; absent: none. */
  readonly outputs?: readonly PlacedModality[]
  /** Names in `supported_parameters` that an endpoint has to have; none without `require_parameters`. */
  readonly parameters: readonly string[]
  /** The path of the first member that needs what the provider has stored, or is to store; absent: none. */
  readonly statePath?: string
  /** The path of the first id or address of what a provider's account holds; absent: none. */
  readonly accountPath?: string
  /** Files of the workspace that the request names, in the order of the body; absent: none. */
  readonly files?: readonly FileReference[]
}

/** The body of such a call as its operation gets it. */
export interface TextRequest extends TextInput {
  /** The bytes, which go out to a provider that speaks the caller's dialect. */
  readonly source: KeptBody
}

/** A request whose model is the name of a model. */
export interface CompleteText extends TextRequest {
  readonly model: string
  readonly preset: null
}
