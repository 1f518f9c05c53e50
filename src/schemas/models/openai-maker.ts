/**
 * The slug of OpenAI, the maker of the Chat and Responses protocols. Its models, whose names begin with the
 * slug, differ from those of servers that copy the protocols.
 */
export const MAKER = 'openai'
/** Characters that OpenAI accepts in the name of an end user. */
export const MAKER_USER_CHARS_MAX = 64
/** The smallest token maximum that OpenAI's Responses API accepts. */
export const MAKER_TOKENS_MIN = 16
/** The most stop texts that OpenAI, and strict providers, accept in chat. */
export const STRICT_STOPS_MAX = 4

/** The member of chat for the token maximum: OpenAI's newer models refuse the name that other providers use. */
export function chatTokensMember(isMaker: boolean): 'max_tokens' | 'max_completion_tokens' {
  return isMaker ? 'max_completion_tokens' : 'max_tokens'
}

/** What an Anthropic model accepts, by its name. */
interface ClaudeModel {
  /** Accepts `thinking: {type: "adaptive"}` and `output_config.effort`. */
  readonly hasAdaptive: boolean
  /** `budget_tokens`. */
  readonly hasBudget: boolean
  /** `temperature`, `top_p` and `top_k`. */
  readonly hasSampling: boolean
}

const BUDGET: ClaudeModel = { hasAdaptive: false, hasBudget: true, hasSampling: true }

const FAMILY = 'claude'

/** Names with the version after the family: `claude-opus-4-6`, optionally followed by a date. */
const VERSION = /claude-(?:[a-z]+-)?(\d{1,2})(?:[-.](\d{1,2}))?(?!\d)/

/** The first version that decides on its reasoning itself, as Anthropic publishes it. */
const ADAPTIVE_FROM = 4.6

/** The first version that accepts neither a budget nor sampling parameters. */
export const NO_BUDGET_FROM = 4.7

/** The name that decides on the restrictions of messages: that of an Anthropic model, otherwise the family name, which restricts nothing. */
export function anyClaude(name: string): string {
  return name.includes(FAMILY) ? name : FAMILY
}

/** @param name the provider's own; models of other makers accept only budgets */
export function claudeModel(name: string): ClaudeModel {
  const [, major, minor] = VERSION.exec(name) ?? []
  if (major === undefined) return name.includes(FAMILY) ? { ...BUDGET, hasAdaptive: true } : BUDGET
  const version = Number(major) + Number(minor ?? 0) / 10
  const isOld = version < NO_BUDGET_FROM
  return { hasAdaptive: version >= ADAPTIVE_FROM, hasBudget: isOld, hasSampling: isOld }
}

/** The most stop texts that Gemini accepts. */
export const GEMINI_STOPS_MAX = 5

/** Properties implied by the name of a Google model; the API does not report them. */
interface GeminiModel {
  /** Accepts thinking levels and media within function results, and refuses a model step without a signature. */
  readonly isThird: boolean
  /** Range of thinking tokens; null: the model accepts only levels, or cannot think. */
  readonly budget: { readonly min: number; readonly max: number } | null
  /** Levels of thinking that the model lacks. */
  readonly hasMinimal: boolean
}

/** Tokens of thinking by the families of Gemini 2.5, from Google's page on thinking. */
const PRO = { min: 128, max: 32_768 }
const LITE = { min: 512, max: 24_576 }
const FLASH = { min: 0, max: 24_576 }

/** @param upstreamModel such as `gemini-2.5-pro` */
export function geminiModel(upstreamModel: string): GeminiModel {
  const [, family, version = ''] = /(gemini)-(\d+(?:\.\d+)?)?/.exec(upstreamModel) ?? []
  const isLatest = family !== undefined && version === '' && upstreamModel.endsWith('-latest')
  const isPro = upstreamModel.includes('-pro')
  const isThird = isLatest || Number(version) >= 3
  return { isThird, budget: version === '2.5' ? budgetOf(upstreamModel, isPro) : null, hasMinimal: !isPro }
}

function budgetOf(upstreamModel: string, isPro: boolean): NonNullable<GeminiModel['budget']> {
  if (isPro) return PRO
  return upstreamModel.includes('-lite') ? LITE : FLASH
}
