import type { KeptBody } from '../kept-body.ts'
import type { ProviderPreferences } from '../models/preferences.ts'
import type { Conversation } from './conversation.ts'
import type { FileReference } from './file-references.ts'
import type { ServerTools } from './server-tools.ts'
import type { Tiers } from '../models/price-conditions.ts'

/** The wire format of a call, for callers and for providers. Part D, "Words". */
export const DIALECTS = ['chat', 'responses', 'messages'] as const
export type Dialect = (typeof DIALECTS)[number]

/** Media in the parts of messages, by kind. */
export interface MediaCounts {
  readonly image: number
  readonly audio: number
  readonly video: number
  readonly file: number
}

/** A kind of content, by the catalogue's name of the modality, and its JSON pointer in the request. */
export interface PlacedModality {
  readonly name: string
  readonly path: string
}

export interface EstimatedText {
  /** UTF-8 bytes of the body with its escapes decoded and without base64; includes texts that were sent as base64. */
  readonly bytes: number
  readonly mediaTokens: number
}

/** The sizes that bound the tokens of a call. */
export interface TextSize {
  /** Bytes of the body without base64 media: an upper bound on its input tokens, media excluded. */
  readonly promptBytesMost: number
  /** The text that its tokens are estimated from. */
  readonly text: EstimatedText
  readonly messages: number
  readonly tools: number
  /** The request requires an answer format other than text. */
  readonly hasFormat: boolean
  /** Tools that the provider runs; null: none. */
  readonly serverTools: ServerTools | null
  readonly media: MediaCounts
  /** The first medium of each kind that is not a text and whose content or address is in the request; absent: none. */
  readonly placed?: readonly PlacedModality[]
  /**
   * The most tokens of each answer: in chat the larger of `max_tokens` and `max_completion_tokens`, since
   * providers differ in which of them they use; null: the request names none.
   */
  readonly tokensMax: number | null
  /** The input continues objects that a provider has stored, whose tokens Sluice does not know. */
  readonly hasStored?: boolean
}

/** Classes of reasoning effort; a token budget is assigned to the nearest class. */
export const EFFORT_CLASSES = ['minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const
export type EffortClass = (typeof EFFORT_CLASSES)[number]

/**
 * The parts of a text call's body that Sluice uses, in every dialect. For a large body a thread makes it, so
 * thousands of parts never reach the loop.
 */
export interface TextInput {
  readonly dialect: Dialect
  /** Null: the preset's model. */
  readonly model: string | null
  readonly isStream: boolean
  /** Only in chat: the caller wants the usage in a separate event without choices. */
  readonly isUsageAlone: boolean
  /** Only in responses: the caller requests encrypted reasoning (`include`); absent: it does not. */
  readonly isEncryptedAsked?: true
  /** Answers to one call. */
  readonly choices: number
  /** Texts at which an answer stops. */
  readonly stops: readonly string[]
  readonly isReasoning: boolean
  /** Whether the request turns reasoning on or off; null: the model decides. */
  readonly asksReasoning: boolean | null
  /** The requested reasoning effort; absent: the model decides. */
  readonly effort?: EffortClass
  /** Name of the tool that the model must call; null: the request names none. */
  readonly tool: string | null
  /** The request declares the named tool. */
  readonly hasTool: boolean
  /** Type of the required answer format; `text` if the request names none. */
  readonly form: string
  /** The built-in model can answer in this form. */
  readonly isFormMet: boolean
  readonly sessionId: string | null
  readonly conversation: Conversation
  readonly promptWords: number
  /** The first ECHO_UNITS_MAX units of the user's last text. */
  readonly last: string
  /** The text is longer than ECHO_UNITS_MAX. */
  readonly isLastCut: boolean
  readonly size: TextSize
  /** Models that are tried after the first. */
  readonly models: readonly string[]
  readonly provider: ProviderPreferences | null
  /** A preset named in addition to the model; the model may name one too. */
  readonly preset: string | null
  /** Members without an effect here that the caller may rely on, for `x-sluice-dropped`. */
  readonly dropped: readonly string[]
  /** The first member that can make the call cost more than the catalogue's price; null: none. */
  readonly dearMember: string | null
  /** The tiers that the call requests, by the names that price modifiers use. */
  readonly tiers: Tiers
  /** JSON pointer of the member that makes the provider summarize the input before it answers; absent: none. */
  readonly compactionPath?: string
  /** The provider may answer with another model of its own choice (`fallbacks`). */
  readonly hasFallbacks: boolean
  /** Requested outputs other than text; absent: none. */
  readonly outputs?: readonly PlacedModality[]
  /** Names that an endpoint must have in `supported_parameters`; none without `require_parameters`. */
  readonly parameters: readonly string[]
  /** The path of the first member that uses an object stored by the provider, or makes it store one; absent: none. */
  readonly statePath?: string
  /** The path of the first id or address of an object in a provider's account; absent: none. */
  readonly accountPath?: string
  /** Files of the workspace that the request names, in the order of the body; absent: none. */
  readonly files?: readonly FileReference[]
}

/** The body of such a call as passed to its operation. */
export interface TextRequest extends TextInput {
  /** The bytes, which are sent to a provider that speaks the caller's dialect. */
  readonly source: KeptBody
}

/** A request whose model is resolved to the name of a model. */
export interface CompleteText extends TextRequest {
  readonly model: string
  readonly preset: null
}
