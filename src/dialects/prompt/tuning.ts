import { isObject, type Members, membersOf } from '../../schemas/values/members.ts'
import type { Dialect } from '../../schemas/inference/text-request.ts'
import { isDefaultValue, TUNING, writtenAs, type TuningField } from '../table/field-table.ts'
import { numberOf, textOf, type Others, flagOf } from './others.ts'
import type { PromptDraft } from './prompt-draft.ts'
import type { Tuning, AskedReasoning, Prompt } from './prompt.ts'
import { MAKER_USER_CHARS_MAX } from '../../schemas/models/openai-maker.ts'
import type { TextProtocol } from '../../schemas/models/protocols.ts'

const FIELDS = Object.entries(TUNING) as readonly (readonly [keyof Tuning, TuningField])[]

/** Reads the tuning members at the top of the request. A member of an unexpected type is dropped. */
export function readTuning(body: Members, dialect: Dialect, others: Others): Tuning {
  const read: Record<string, unknown> = {}
  for (const [key, { member, names, kind }] of FIELDS) {
    const value = names[dialect]?.[0] === member ? body[member] : null
    read[key] = ofKind(value, kind)
    if ((value ?? null) !== null && read[key] === null) others.drop(member, [member])
  }
  // The table has a row for each member of `Tuning`.
  return read as unknown as Tuning
}

function ofKind(value: unknown, kind: TuningField['kind']): unknown {
  switch (kind) {
    case 'number':
      return numberOf(value)
    case 'text':
      return textOf(value)
    case 'object':
      return isObject(value) ? value : null
  }
}

/** Writes the members that the protocol has and reports the others as dropped. */
export function writeTuning(draft: PromptDraft, tuning: Tuning, protocol: TextProtocol): void {
  for (const [key, field] of FIELDS) {
    const value = tuning[key]
    if (value === null) continue
    const [path] = writtenAs(field, protocol, draft.terms.isStrict)
    if (path !== undefined) draft.set(path, value)
    else if (!isDefaultValue(value, field.defaults)) draft.drop(nameIn(field, draft.prompt.dialect))
  }
}

/** The member's name in the caller's dialect; some dialects have it within another member. */
function nameIn(field: TuningField, dialect: Dialect): string {
  return field.names[dialect]?.[0] ?? field.member
}

/** The smallest reasoning budget in tokens. Part D, mapping table. */
export const REASONING_TOKENS_MIN = 1_024

/** The share of the answer's token maximum that each effort may use for reasoning. Part D, mapping table. */
const SHARES: Readonly<Record<string, number>> = {
  minimal: 0,
  low: 0.2,
  medium: 0.5,
  high: 0.8,
  xhigh: 0.95,
  max: 0.95,
}

/**
 * The reasoning budget of an effort, in tokens. @param tokensMax of the whole answer @returns null: no effort
 * has this name
 */
export function budgetOfEffort(effort: string, tokensMax: number): number | null {
  const share = Object.hasOwn(SHARES, effort) ? SHARES[effort] : undefined
  return share === undefined ? null : Math.max(REASONING_TOKENS_MIN, Math.floor(tokensMax * share))
}

const USED: ReadonlySet<string> = new Set([
  ...['effort', 'max_tokens', 'enabled', 'exclude', 'summary', 'generate_summary'],
])

interface AskedElsewhere {
  /** The effort from a member other than `reasoning`. */
  readonly effort?: string | null
  readonly isHidden?: boolean
  readonly isEncryptedAsked?: boolean
}

/** Null: the caller specifies nothing about reasoning. */
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
  const isSet = Object.values(read).some((one) => one !== null && one !== false)
  return isSet || read.isOn === false ? read : null
}

/** An effort alone also requests reasoning. */
function impliedBy(effort: string | null, budget: number | null): boolean | null {
  if (effort !== null) return effort !== 'none'
  return budget === null ? null : true
}

/** The member `reasoning` in OpenRouter's form. */
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

/** The smallest budget that is translated to each effort when the answer's maximum is unknown. */
const BUDGETS: readonly (readonly [tokens: number, effort: string])[] = [
  [16_384, 'high'],
  [4_096, 'medium'],
  [0, 'low'],
]

/** As BUDGETS, as shares of the answer's maximum: half-way between the shares of the efforts. */
const EFFORT_SHARES: readonly (readonly [share: number, effort: string])[] = [
  [0.65, 'high'],
  [0.35, 'medium'],
  [0, 'low'],
]

/** The effort for a provider that has no budgets; null: none is sent. */
export function effortSent(draft: PromptDraft, asked: AskedReasoning): string | null {
  const { effort, budget, isOn, isHidden } = asked
  if (isHidden) draft.drop('reasoning.exclude')
  if (isOn === false) {
    // Some models cannot turn reasoning off. In messages it is off by default, so nothing is reported.
    if (effort !== 'none' && draft.prompt.dialect !== 'messages') draft.drop('reasoning.enabled')
    return effort === 'none' ? effort : null
  }
  if (budget === null) return effort
  draft.drop('reasoning.max_tokens')
  if (effort !== null) return effort
  return effortOfBudget(budget, draft.prompt.tokensMax ?? draft.terms.tokensMax)
}

function effortOfBudget(budget: number, tokensMax: Prompt['tokensMax']): string {
  const [steps, amount] = tokensMax === null ? [BUDGETS, budget] : [EFFORT_SHARES, budget / tokensMax]
  return steps.find(([least]) => amount >= least)?.[1] ?? 'low'
}

/** Writes values and names that OpenAI's two protocols share and other protocols write differently. */
export function writeOpenaiNames(draft: PromptDraft): void {
  const { dialect, tuning } = draft.prompt
  if (draft.terms.isMaker && (tuning.user ?? '').length > MAKER_USER_CHARS_MAX) draft.cut('user')
  if (dialect === 'messages' && tuning.serviceTier === 'standard_only') draft.set('service_tier', 'default')
}
