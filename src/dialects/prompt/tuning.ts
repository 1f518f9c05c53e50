import { isObject, type Members } from '../../schemas/values/members.ts'
import type { TextProtocol } from '../../schemas/models/text-models.ts'
import type { Dialect } from '../../schemas/inference/text-request.ts'
import { isDefaultValue, TUNING, writtenAs, type TuningField } from '../table/field-table.ts'
import { numberOf, textOf, type Others } from './others.ts'
import type { PromptDraft } from './prompt-draft.ts'
import type { Tuning } from './prompt.ts'

const FIELDS = Object.entries(TUNING) as readonly (readonly [keyof Tuning, TuningField])[]

/**
 * The members of the table that stand at the top of the request. One of another type than usual is none of
 * the form.
 */
export function readTuning(body: Members, dialect: Dialect, others: Others): Tuning {
  const read: Record<string, unknown> = {}
  for (const [key, { member, names, kind }] of FIELDS) {
    const value = names[dialect]?.[0] === member ? body[member] : null
    read[key] = ofKind(value, kind)
    if ((value ?? null) !== null && read[key] === null) others.drop(member, [member])
  }
  // The table has a row for each of them.
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

/** Writes what a protocol has members for, and names what it lacks. */
export function writeTuning(draft: PromptDraft, tuning: Tuning, protocol: TextProtocol): void {
  for (const [key, field] of FIELDS) {
    const value = tuning[key]
    if (value === null) continue
    const [path] = writtenAs(field, protocol, draft.terms.isStrict)
    if (path !== undefined) draft.set(path, value)
    else if (!isDefaultValue(value, field.defaults)) draft.drop(nameIn(field, draft.prompt.dialect))
  }
}

/** As the caller knows it: some forms have it within another member. */
function nameIn(field: TuningField, dialect: Dialect): string {
  return field.names[dialect]?.[0] ?? field.member
}

/** Tokens of the least budget of reasoning. Part D, mapping table. */
export const REASONING_TOKENS_MIN = 1_024

/** The share of the most tokens of an answer that an effort may reason with. Part D, mapping table. */
const SHARES: Readonly<Record<string, number>> = {
  minimal: 0,
  low: 0.2,
  medium: 0.5,
  high: 0.8,
  xhigh: 0.95,
  max: 0.95,
}

/**
 * The tokens of reasoning that an effort stands for.
 * @param tokensMax of the whole answer
 * @returns null: no effort has this name
 */
export function budgetOfEffort(effort: string, tokensMax: number): number | null {
  const share = Object.hasOwn(SHARES, effort) ? SHARES[effort] : undefined
  return share === undefined ? null : Math.max(REASONING_TOKENS_MIN, Math.floor(tokensMax * share))
}
