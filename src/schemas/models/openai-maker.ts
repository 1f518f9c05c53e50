/** OpenAI, the maker of chat and responses, whose models differ from those of servers that copy its forms: its slug begins their names. */
export const MAKER = 'openai'
/** Characters of the names that it takes for an end user. */
export const MAKER_USER_CHARS_MAX = 64
/** Tokens of an answer of its responses at least: a smaller maximum is refused. */
export const MAKER_TOKENS_MIN = 16
/** Texts at which an answer of chat stops: it, and providers that know its members alone, take no more. */
export const STRICT_STOPS_MAX = 4

/** The member of chat for the most tokens of an answer: its newer models refuse the name that others know. */
export function chatTokensMember(isMaker: boolean): 'max_tokens' | 'max_completion_tokens' {
  return isMaker ? 'max_completion_tokens' : 'max_tokens'
}

/** What a model of Anthropic's takes, by its name. */
interface ClaudeModel {
  /** `thinking: {type: "adaptive"}`, and `output_config.effort`. */
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

/** The version from which on a model decides on its reasoning itself, as Anthropic publishes it. */
const ADAPTIVE_FROM = 4.6

/** The version from which on a model takes neither a budget nor numbers that tune its sampling. */
export const NO_BUDGET_FROM = 4.7

/** The name of a model as far as it restricts what messages say: other makers' models restrict nothing. */
export function anyClaude(name: string): string {
  return name.includes(FAMILY) ? name : FAMILY
}

/** @param name the provider's own; other models of providers that speak messages know budgets alone */
export function claudeModel(name: string): ClaudeModel {
  const [, major, minor] = VERSION.exec(name) ?? []
  if (major === undefined) return name.includes(FAMILY) ? { ...BUDGET, hasAdaptive: true } : BUDGET
  const version = Number(major) + Number(minor ?? 0) / 10
  const isOld = version < NO_BUDGET_FROM
  return { hasAdaptive: version >= ADAPTIVE_FROM, hasBudget: isOld, hasSampling: isOld }
}

/** Texts at which an answer of Gemini stops. */
export const GEMINI_STOPS_MAX = 5

/** Facts that the name of a Google model implies; the API does not report them. */
interface GeminiModel {
  /** Takes levels of thinking, media within results of functions, and refuses a step of the model without a signature. */
  readonly isThird: boolean
  /** Tokens that the model may think with; null: levels alone, or it cannot think. */
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
