import type { Dialect } from '../../schemas/inference/text-request.ts'

/**
 * A caller's request to a model, in an intermediate form between the dialects of callers and the protocols of
 * providers. Each dialect has a reader that makes it and each protocol has a writer that converts it, so no
 * translator handles two wire forms.
 */

/** Separator of texts that are joined, in forms without a list of texts. */
export const BETWEEN_TEXTS = '\n\n'

/** A place up to which the provider may cache the prompt. */
export interface CachePoint {
  /** As the caller wrote it: `5m`, `1h`; null: the provider's default. */
  readonly ttl: string | null
}

/**
 * Data that a provider needs back in order to continue its own reasoning. Its bytes are not changed. The
 * formats are those of `ReasoningFormat` in `@openrouter/sdk`.
 */
export interface Signature {
  readonly format: string
  readonly data: string
}

/** Content of a medium. */
export type Media =
  | {
      readonly kind: 'base64'
      readonly mimeType: string
      readonly data: string
      /** Text to write when the content is sent as a text; absent: the decoded data. */
      readonly text?: string
    }
  | { readonly kind: 'url'; readonly url: string }
  | { readonly kind: 'file_id'; readonly id: string }

interface Cut {
  /** The prompt may be cached up to the end of this part; null: not specified. */
  readonly cache: CachePoint | null
}

/** A part that some protocols cannot express. */
interface Located extends Cut {
  /** JSON pointer of the part in the caller's body; absent: the prompt was not read from a body. */
  readonly path?: string
}

export interface PromptText extends Cut {
  readonly kind: 'text'
  readonly text: string
}

export interface PromptImage extends Located {
  readonly kind: 'image'
  readonly media: Media
  /** `low`, `high`, as the caller wrote it; null: not specified, or `auto`. */
  readonly detail: string | null
}

export interface PromptAudio extends Located {
  readonly kind: 'audio'
  /** `wav`, `mp3` … */
  readonly format: string
  /** Base64. */
  readonly data: string
}

export interface PromptVideo extends Located {
  readonly kind: 'video'
  readonly media: Media
}

/** A document: a PDF, a text. */
export interface PromptFile extends Located {
  readonly kind: 'file'
  readonly media: Media
  readonly filename: string | null
}

export type UserPart = PromptText | PromptImage | PromptAudio | PromptVideo | PromptFile

/** Reasoning of a model that the caller returns. */
export interface PromptReasoning extends Cut {
  readonly kind: 'reasoning'
  /** Empty if the provider sent no readable text. */
  readonly text: string
  /** The text is the provider's summary. */
  readonly isSummary: boolean
  /** Null: the provider gave none. */
  readonly signature: Signature | null
  /** The data stands for reasoning that the provider does not show (`redacted_thinking`). */
  readonly isRedacted: boolean
  /** The provider's id of the item; null: it gave none. */
  readonly id: string | null
}

/**
 * A tool of OpenAI's dialects that other forms replace by a function: a tool in a namespace, or one whose
 * input is a text.
 */
export interface ToolOrigin {
  readonly name: string
  /** Null: the tool has no namespace. */
  readonly namespace: string | null
  /** Its input is a text instead of an object (`custom`). */
  readonly isFreeform: boolean
}

export interface PromptCall extends Cut {
  readonly kind: 'call'
  readonly id: string
  readonly name: string
  /** Absent: the tool is the function of this name. */
  readonly origin?: ToolOrigin
  /** JSON text of an object; `{}` if the caller sent an empty text. */
  readonly arguments: string
  /** Null: the provider signs no calls. */
  readonly signature: Signature | null
}

export interface PromptRefusal extends Cut {
  readonly kind: 'refusal'
  readonly text: string
}

export type AssistantPart = PromptText | PromptReasoning | PromptCall | PromptRefusal

/** One turn of the conversation, the oldest first. The result of a tool is a separate turn. */
export type Turn =
  | { readonly role: 'system'; readonly parts: readonly PromptText[] }
  | { readonly role: 'user'; readonly parts: readonly UserPart[] }
  | { readonly role: 'assistant'; readonly parts: readonly AssistantPart[] }
  | {
      readonly role: 'tool'
      readonly callId: string
      readonly parts: readonly (PromptText | PromptImage | PromptFile)[]
      readonly isError: boolean
      readonly cache: CachePoint | null
      /** The tool that was called is a freeform one. */
      readonly isFreeform?: true
    }

/** The name of a function in the request to the provider, and the tool that it replaces. */
export interface NamedOrigin {
  readonly called: string
  readonly origin: ToolOrigin
}

/** Members of a declared tool that its function expresses differently. */
export interface DeclaredOrigin extends ToolOrigin {
  readonly description: string | null
  /** Of the namespace. */
  readonly about: string | null
  /** `format` of a freeform tool, as in the dialect. */
  readonly format: Readonly<Record<string, unknown>> | null
}

export interface PromptTool extends Cut {
  readonly name: string
  /** JSON pointer of the schema in the caller's body; absent: the prompt was not read from a body. */
  readonly path?: string
  readonly description: string | null
  /** As for a call. */
  readonly origin?: DeclaredOrigin
  /** JSON schema of the arguments; null: the caller sent none. */
  readonly schema: Readonly<Record<string, unknown>> | null
  readonly isStrict: boolean | null
}

export type ToolChoice =
  | { readonly kind: 'auto' | 'none' | 'required' }
  | { readonly kind: 'tool'; readonly name: string }
  /** The declared tools that the model may call. */
  | { readonly kind: 'allowed'; readonly mode: 'auto' | 'required'; readonly names: readonly string[] }

export interface AskedReasoning {
  /** `minimal`, `low`, `medium`, `high`, `xhigh`, `max`, `none`; null: not specified. */
  readonly effort: string | null
  /** Tokens; null: not specified. */
  readonly budget: number | null
  /** Whether the model reasons at all; null: not specified. */
  readonly isOn: boolean | null
  /** The caller wants no reasoning in the answer. */
  readonly isHidden: boolean
  /** `auto`, `concise`, `detailed`; null: not specified. */
  readonly summary: string | null
  /** The caller requests the encrypted reasoning, to return it in later requests. */
  readonly isEncryptedAsked: boolean
}

export type AnswerFormat =
  | { readonly kind: 'json_object' }
  | {
      readonly kind: 'json_schema'
      readonly name: string
      readonly description: string | null
      readonly schema: Readonly<Record<string, unknown>>
      readonly isStrict: boolean | null
    }

/** Numbers and words that tune the answer; null: not specified. */
export interface Tuning {
  readonly temperature: number | null
  readonly topP: number | null
  readonly topK: number | null
  readonly minP: number | null
  readonly topA: number | null
  readonly seed: number | null
  readonly presencePenalty: number | null
  readonly frequencyPenalty: number | null
  readonly repetitionPenalty: number | null
  readonly logitBias: Readonly<Record<string, number>> | null
  readonly verbosity: string | null
  readonly serviceTier: string | null
  readonly cacheKey: string | null
  /** The caller's name for its end user. */
  readonly user: string | null
  readonly metadata: Readonly<Record<string, unknown>> | null
}

export interface Prompt {
  /** The dialect that the prompt was read from; member names are reported in it. */
  readonly dialect: Dialect
  readonly turns: readonly Turn[]
  readonly tools: readonly PromptTool[]
  readonly toolChoice: ToolChoice | null
  /** Whether the model may call several tools at once; null: not specified. */
  readonly isParallel: boolean | null
  /** The most tokens of the answer; null: not specified. */
  readonly tokensMax: number | null
  /** Texts at which the answer stops. */
  readonly stops: readonly string[]
  readonly tuning: Tuning
  readonly reasoning: AskedReasoning | null
  readonly format: AnswerFormat | null
  readonly isStream: boolean
  /** The provider may cache the whole prompt by its own rule; null: not specified. */
  readonly cache: CachePoint | null
  /** Members of the request that this form does not carry. */
  readonly others: readonly OtherMember[]
}

/** A member that the intermediate form does not carry: dropped and reported, or refused with its path. */
export interface OtherMember {
  /** As `x-sluice-dropped` names it. */
  readonly name: string
  /** JSON pointer in the caller's body. */
  readonly path: string
}
