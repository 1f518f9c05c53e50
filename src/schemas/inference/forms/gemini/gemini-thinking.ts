import { geminiModel } from '../../../../dialects/gemini/models.ts'
import type { PromptDraft } from '../../../../dialects/prompt-draft.ts'
import type { AskedReasoning } from '../../../../dialects/prompt.ts'
import { budgetOfEffort } from '../reasoning-budget.ts'

/** Tokens of an answer of Gemini 2.5 at most, where neither the caller nor the endpoint has a maximum. */
const ANSWER_TOKENS_MAX = 65_536

/** Efforts as levels of Gemini 3, which has no higher one than `HIGH`, and none at which it does not think. */
const LEVELS: Readonly<Record<string, string>> = {
  none: 'MINIMAL',
  minimal: 'MINIMAL',
  low: 'LOW',
  medium: 'MEDIUM',
  high: 'HIGH',
  xhigh: 'HIGH',
  max: 'HIGH',
}

/**
 * How the model is to think: by a budget where the caller has one, else by its effort.
 * @returns `thinkingConfig`; null: none is sent
 */
export function writeGeminiThinking(draft: PromptDraft): Readonly<Record<string, unknown>> | null {
  const { prompt, terms } = draft
  const { reasoning } = prompt
  if (reasoning === null) return null
  const model = geminiModel(terms.upstreamModel)
  const effort = effortOf(reasoning)
  const isOff = effort === 'none'
  if (!model.isThird && model.budget === null) {
    if (!isOff) draft.drop('reasoning')
    return null
  }
  if (isSummaryChosen(reasoning)) draft.drop('reasoning.summary')
  if (isEffortLost(reasoning, effort)) draft.drop('reasoning.effort')
  const tokensMax = prompt.tokensMax ?? terms.tokensMax ?? ANSWER_TOKENS_MAX
  const amount = model.isThird
    ? levelOf(reasoning, effort, model.hasMinimal)
    : budgetOf(reasoning, effort, tokensMax)
  const summaries = isOff || reasoning.isHidden ? {} : { includeThoughts: true }
  const config = { ...clamped(amount, model.budget), ...summaries }
  return Object.keys(config).length === 0 ? null : config
}

/** Null: not said. */
function effortOf({ effort, budget, isOn }: AskedReasoning): string | null {
  return isOn === false || budget === 0 ? 'none' : effort
}

/** Google takes a budget or a level. */
function isEffortLost({ budget }: AskedReasoning, effort: string | null): boolean {
  return effort !== null && (!Object.hasOwn(LEVELS, effort) || (budget !== null && budget > 0))
}

function isSummaryChosen({ summary }: AskedReasoning): boolean {
  return summary !== null && summary !== 'auto'
}

type Amount = { readonly thinkingBudget?: number; readonly thinkingLevel?: string }

function levelOf({ budget }: AskedReasoning, effort: string | null, hasMinimal: boolean): Amount {
  if (budget !== null && budget > 0) return { thinkingBudget: budget }
  const level = effort !== null && Object.hasOwn(LEVELS, effort) ? LEVELS[effort] : undefined
  if (level === undefined) return {}
  return { thinkingLevel: level === 'MINIMAL' && !hasMinimal ? 'LOW' : level }
}

function budgetOf({ budget }: AskedReasoning, effort: string | null, tokensMax: number): Amount {
  if (effort === 'none') return { thinkingBudget: 0 }
  const tokens = budget ?? (effort === null ? null : budgetOfEffort(effort, tokensMax))
  return tokens === null ? {} : { thinkingBudget: tokens }
}

/** A budget outside of those of its model would be refused. */
function clamped(amount: Amount, range: { readonly min: number; readonly max: number } | null): Amount {
  const { thinkingBudget } = amount
  if (range === null || thinkingBudget === undefined) return amount
  return { thinkingBudget: Math.min(Math.max(thinkingBudget, range.min), range.max) }
}
