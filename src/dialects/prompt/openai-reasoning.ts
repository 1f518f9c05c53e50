/** How a caller of OpenAI's two forms asks for reasoning. */
import { membersOf } from '../../schemas/values/members.ts'
import { flagOf, numberOf, textOf, type Others } from './others.ts'
import type { AskedReasoning, Prompt } from './prompt.ts'
import type { PromptDraft } from './prompt-draft.ts'
import { MAKER_USER_CHARS_MAX } from '../../schemas/models/openai-maker.ts'

const USED: ReadonlySet<string> = new Set([
  ...['effort', 'max_tokens', 'enabled', 'exclude', 'summary', 'generate_summary'],
])

interface AskedElsewhere {
  /** The effort of a member beside `reasoning`. */
  readonly effort?: string | null
  readonly isHidden?: boolean
  readonly isEncryptedAsked?: boolean
}

/** Null: the caller says nothing of it. */
export function readReasoning(
  value: unknown,
  elsewhere: AskedElsewhere,
  others: Others,
): AskedReasoning | null {
  const asked = membersOf(value)
  others.addRest(asked, USED, { path: ['reasoning'], prefix: 'reasoning.' })
  const effort = textOf(asked['effort']) ?? elsewhere.effort ?? null
  const budget = numberOf(asked['max_tokens'])
  const read = {
    effort,
    budget,
    isOn: flagOf(asked['enabled']) ?? impliedBy(effort, budget),
    isHidden: asked['exclude'] === true || elsewhere.isHidden === true,
    summary: textOf(asked['summary']) ?? textOf(asked['generate_summary']),
    isEncryptedAsked: elsewhere.isEncryptedAsked === true,
  }
  const isSaid = Object.values(read).some((one) => one !== null && one !== false)
  return isSaid || read.isOn === false ? read : null
}

/** An effort asks for reasoning by itself. */
function impliedBy(effort: string | null, budget: number | null): boolean | null {
  if (effort !== null) return effort !== 'none'
  return budget === null ? null : true
}

/** The member of the same name, with all that OpenRouter has for it. */
export function reasoningMember(asked: AskedReasoning): Readonly<Record<string, unknown>> | null {
  const { effort, budget, isOn, isHidden, summary } = asked
  const isFlagged = isOn !== null && isOn !== impliedBy(effort, budget)
  const member = {
    ...(effort !== null && { effort }),
    ...(budget !== null && { max_tokens: budget }),
    ...(isFlagged && { enabled: isOn }),
    ...(isHidden && { exclude: true }),
    ...(summary !== null && { summary }),
  }
  return Object.keys(member).length === 0 ? null : member
}

/** Least tokens of reasoning that stand for each effort, where the maximum of the answer is not known. */
const BUDGETS: readonly (readonly [tokens: number, effort: string])[] = [
  [16_384, 'high'],
  [4_096, 'medium'],
  [0, 'low'],
]
/** The same as shares of the maximum: half way between those that efforts stand for. */
const SHARES: readonly (readonly [share: number, effort: string])[] = [
  [0.65, 'high'],
  [0.35, 'medium'],
  [0, 'low'],
]

/** The effort for a provider that has no budgets; null: none is sent. */
export function effortSent(draft: PromptDraft, asked: AskedReasoning): string | null {
  const { effort, budget, isOn, isHidden } = asked
  if (isHidden) draft.drop('reasoning.exclude')
  if (isOn === false) {
    // Not every model has a word for that. Callers of messages say so by default.
    if (effort !== 'none' && draft.prompt.dialect !== 'messages') draft.drop('reasoning.enabled')
    return effort === 'none' ? effort : null
  }
  if (budget === null) return effort
  draft.drop('reasoning.max_tokens')
  if (effort !== null) return effort
  return effortOfBudget(budget, draft.prompt.tokensMax ?? draft.terms.tokensMax)
}

function effortOfBudget(budget: number, tokensMax: Prompt['tokensMax']): string {
  const [steps, amount] = tokensMax === null ? [BUDGETS, budget] : [SHARES, budget / tokensMax]
  return steps.find(([least]) => amount >= least)?.[1] ?? 'low'
}

/** Words and names that OpenAI's two forms have, and other forms write otherwise. */
export function writeOpenaiNames(draft: PromptDraft): void {
  const { dialect, tuning } = draft.prompt
  if (draft.terms.isMaker && (tuning.user ?? '').length > MAKER_USER_CHARS_MAX) draft.cut('user')
  if (dialect === 'messages' && tuning.serviceTier === 'standard_only') draft.set('service_tier', 'default')
}
