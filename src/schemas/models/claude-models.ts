/** What a model of Anthropic's takes, by its name. */
export interface ClaudeModel {
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
