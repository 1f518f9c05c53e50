import type { Members } from '../../schemas/values/members.ts'
import type { AskedReasoning } from '../prompt/prompt.ts'
import type { PromptDraft } from '../prompt/prompt-draft.ts'
import { budgetOfEffort, REASONING_TOKENS_MIN } from '../prompt/tuning.ts'
import { claudeModel } from '../../schemas/models/openai-maker.ts'

/** The largest share of the maximum of an answer that may be its reasoning. Part D, mapping table. */
const SHARE_MAX = 0.95
/** The effort when the caller requests reasoning without an amount. */
const EFFORT_USUAL = 'medium'
/** Efforts that have another name in the Messages dialect. */
const EFFORTS: Readonly<Record<string, string>> = { minimal: 'low' }
/** The least `top_p` that Anthropic accepts with reasoning. */
export const TOP_P_MIN = 0.95

interface Answer {
  readonly tokensMax: number
  /** The last step calls tools and does not begin with this provider's reasoning. */
  readonly isStepUnsigned: boolean
}

/**
 * Sets how the model reasons. Reasoning is left out if Anthropic would refuse it: with a choice that forces a
 * tool, in a step that began without reasoning, and in an answer with no room for it.
 * @returns the effort; null: none is sent
 */
export function writeThinking(draft: PromptDraft, answer: Answer): string | null {
  const asked = draft.prompt.reasoning
  if (asked === null) return null
  const { effort, isOn } = asked
  if (asked.summary !== null && asked.summary !== 'auto') draft.drop('reasoning.summary')
  if (isOn === false || effort === 'none') {
    draft.set('thinking', { type: 'disabled' })
    return effort === 'none' ? null : effortSent(draft, effort)
  }
  if (isOn !== true) return effortSent(draft, effort)
  const thinking = thinkingOf(draft, asked, answer)
  if (thinking === null) {
    draft.drop('reasoning')
    return null
  }
  draft.set('thinking', { ...thinking, ...displayOf(draft, asked, thinking) })
  cutBeside(draft)
  const isBudgetOfEffort = thinking['type'] === 'enabled' && asked.budget === null
  return isBudgetOfEffort ? null : effortSent(draft, effort)
}

/** Models that decide on their reasoning themselves differ in what they show by default. */
function displayOf(draft: PromptDraft, { isHidden }: AskedReasoning, { type }: Members): Members {
  if (isHidden) return { display: 'omitted' }
  return type === 'adaptive' && draft.isForOthers ? { display: 'summarized' } : {}
}

function effortSent(draft: PromptDraft, effort: string | null): string | null {
  if (effort === null) return null
  if (claudeModel(draft.terms.upstreamModel).hasAdaptive)
    return Object.hasOwn(EFFORTS, effort) ? (EFFORTS[effort] ?? null) : effort
  draft.drop('reasoning.effort')
  return null
}

/** Null: the provider would refuse it. */
function thinkingOf(draft: PromptDraft, { effort, budget }: AskedReasoning, answer: Answer): Members | null {
  const { tools, toolChoice } = draft.prompt
  const isForced =
    toolChoice?.kind === 'tool' ||
    (toolChoice?.kind === 'allowed' ? toolChoice.mode : toolChoice?.kind) === 'required'
  if (isForced && tools.length > 0) return null
  const { hasAdaptive, hasBudget } = claudeModel(draft.terms.upstreamModel)
  if (hasAdaptive && (budget === null || !hasBudget)) {
    if (budget !== null) draft.drop('reasoning.max_tokens')
    return { type: 'adaptive' }
  }
  const { tokensMax, isStepUnsigned } = answer
  const asked = budget ?? budgetOfEffort(effort ?? EFFORT_USUAL, tokensMax) ?? REASONING_TOKENS_MIN
  const most = Math.floor(tokensMax * SHARE_MAX)
  if (isStepUnsigned || most < REASONING_TOKENS_MIN) return null
  return { type: 'enabled', budget_tokens: Math.max(REASONING_TOKENS_MIN, Math.min(asked, most)) }
}

/** Removes values that Anthropic refuses together with reasoning. */
function cutBeside(draft: PromptDraft): void {
  const { temperature, topP } = draft.prompt.tuning
  if (draft.has('temperature') && temperature !== 1) draft.cut('temperature')
  if (draft.has('top_k')) draft.cut('top_k')
  if (draft.has('top_p') && topP !== null && topP < TOP_P_MIN) draft.cut('top_p')
}
