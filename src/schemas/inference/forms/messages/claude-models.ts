/** How a model of Anthropic's takes the amount of its reasoning. */
export interface ClaudeThinking {
  /** `thinking: {type: "adaptive"}`, and `output_config.effort`. */
  readonly hasAdaptive: boolean
  /** `budget_tokens`. */
  readonly hasBudget: boolean
}

const BUDGET: ClaudeThinking = { hasAdaptive: false, hasBudget: true }
/** Names with the version behind the family: `claude-opus-4-6`, and dates behind that. */
const VERSION = /claude-(?:[a-z]+-)?(\d{1,2})(?:[-.](\d{1,2}))?(?![\d])/

/** The version from which on a model decides on its reasoning itself, as Anthropic publishes it. */
const ADAPTIVE_FROM = 4.6
/** The version from which on a model takes no budget. */
const NO_BUDGET_FROM = 4.7

/** @param model the provider's own name; others than Anthropic that speak messages know budgets alone */
export function claudeThinking(model: string): ClaudeThinking {
  const [, major, minor] = VERSION.exec(model) ?? []
  if (major === undefined) return BUDGET
  const version = Number(major) + Number(minor ?? 0) / 10
  return { hasAdaptive: version >= ADAPTIVE_FROM, hasBudget: version < NO_BUDGET_FROM }
}
