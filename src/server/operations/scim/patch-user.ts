import { filter as testOf } from 'scim2-parse-filter'
import { ScimError, scimPatch, type ScimResource } from 'scim-patch'
import { fail, ok, type Outcome } from '../../../schemas/failures.ts'
import { booleanOf, isComplex, listedValues, MULTI_VALUED } from '../../../schemas/scim/scim-attributes.ts'
import { termsOf, type Filter } from '../../../schemas/scim/scim-filters.ts'
import { SCIM_VALUES_MAX } from '../../../schemas/scim/scim-limits.ts'
import type { ScimUser, ScimUserInput } from '../../ports/scim/scim.ts'
import { inOperation, type PatchStep } from './patch-steps.ts'
import { tooManyValues, userInputOf } from './user-input.ts'

/**
 * Most comparisons of values that one PATCH of a user may need, and most that its filters may contain. An
 * operation needs the number of values in its list times the number of comparisons in its filter. They run on
 * the event loop, about 100 in 0.1 ms. Decision.
 */
export const SCIM_PATCH_COMPARISONS_MAX = 10_000

type Document = Record<string, unknown>

const READ_ONLY = new Set(['id', 'meta', 'groups'])
/** Attributes that are ignored: the path implies `schemas`, and passwords are never stored. */
const PASSED_OVER = new Set(['schemas', 'password'])

/** The input of a user after the steps. Failures: scim_immutable, scim_path_invalid, scim_target_missing, scim_value_invalid. */
export function patchedUser(before: ScimUser, steps: readonly PatchStep[]): Outcome<ScimUserInput> {
  if (listedValues(steps.map((step) => step.value)) - steps.length > SCIM_VALUES_MAX) return tooManyValues()
  const { id, userName, externalId, displayName, isActive } = before
  const document: Document = {
    ...structuredClone(before.attributes),
    userName,
    externalId,
    displayName,
    active: isActive,
  }
  let comparisons = 0
  for (const step of steps) {
    const { attribute, extension } = step.path
    if (extension === null && PASSED_OVER.has(attribute)) continue
    if (extension === null && READ_ONLY.has(attribute)) {
      // Some identity providers send a user's id along with the changes.
      if (!step.isNamed && attribute === 'id' && step.value === id) continue
      return inOperation(
        fail('scim_immutable', { detail: `The attribute \`${attribute}\` is read-only.` }),
        step.at,
      )
    }
    comparisons += comparisonsOf(document, step)
    if (comparisons > SCIM_PATCH_COMPARISONS_MAX)
      return inOperation(fail('scim_value_invalid', { detail: TOO_MANY_COMPARISONS }), step.at)
    const done = attempt(document, step)
    if (!done.ok) return inOperation(done, step.at)
  }
  return userInputOf(document, before)
}

const TOO_MANY_COMPARISONS = `The operations compare more than ${SCIM_PATCH_COMPARISONS_MAX} values: send fewer operations at a time.`

/** Comparisons of a step over the values of its list: each value with the step's filter, or with the values to add or remove. */
function comparisonsOf(
  document: Document,
  { op, path: { extension, attribute, filter }, value }: PatchStep,
): number {
  const holder = extension === null ? document : document[nameIn(document, extension)]
  const list = isComplex(holder) ? holder[nameIn(holder, attribute)] : undefined
  if (!Array.isArray(list)) return 1
  if (filter !== null) return list.length * termsOf(filter)
  const given = Array.isArray(value) ? value.length : 1
  return op === 'replace' ? list.length + given : list.length * Math.max(1, given)
}

function attempt(document: Document, step: PatchStep): Outcome<null> {
  try {
    return apply(document, step)
  } catch (problem) {
    if (problem instanceof ScimError)
      return fail(problem.scimCode === 'noTarget' ? 'scim_target_missing' : 'scim_value_invalid')
    throw problem
  }
}

function apply(document: Document, step: PatchStep): Outcome<null> {
  const { extension, attribute, filter, sub } = step.path
  const holder = extension === null ? document : complexIn(document, extension)
  const name = nameIn(holder, attribute)
  if (listedValues(holder[name]) > SCIM_VALUES_MAX) return tooManyValues()
  if (filter !== null) return applyFiltered(holder, name, { step, filter, sub })
  const value = fitted(step, holder[name])
  // A plain value replaces a complex one: Entra sends `add` even when the user already has a manager.
  const op =
    step.op === 'add' && sub === null && isComplex(holder[name]) && !isComplex(value) ? 'replace' : step.op
  change(holder, sub === null ? name : `${name}.${sub}`, { op, value })
  return ok(null)
}

/**
 * The step's value in the form of its target: several values as an array, a single one plain, and undefined
 * when the whole target is removed.
 */
function fitted({ op, path: { attribute, extension, sub }, value }: PatchStep, target: unknown): unknown {
  const isSeveral =
    sub === null && extension === null && (MULTI_VALUED.has(attribute) || Array.isArray(target))
  if (op === 'remove') return isSeveral ? withTruth(value) : undefined
  if (isSeveral) return withTruth(Array.isArray(value) || value === null ? (value ?? []) : [value])
  // Entra sometimes sends a single value as a list of one object.
  const [only, ...more]: readonly unknown[] = Array.isArray(value) ? value : []
  return isComplex(only) && more.length === 0 && 'value' in only ? only['value'] : value
}

/** Converts a `primary` that Entra sends as text, so that the value equals the stored one. */
function withTruth(values: unknown): unknown {
  if (!Array.isArray(values)) return values
  return values.map((value: unknown) => {
    const primary = isComplex(value) ? booleanOf(value['primary']) : undefined
    return isComplex(value) && primary !== undefined ? { ...value, primary } : value
  })
}

interface Filtered {
  readonly step: PatchStep
  readonly filter: Filter
  readonly sub: string | null
}

/** Applies a step to the values that its filter selects; without a match it creates one from the filter's equalities. */
function applyFiltered(holder: Document, name: string, { step, filter, sub }: Filtered): Outcome<null> {
  const { op, value } = step
  const given: unknown = holder[name]
  const all: readonly unknown[] = Array.isArray(given) ? given : []
  const isSelected = testOf(filter)
  const selected = all.filter(isComplex).filter((item) => isSelected(item)) as Document[]
  if (op === 'remove' && sub === null) {
    holder[name] = all.filter((item) => !selected.includes(item as Document))
    return ok(null)
  }
  if (selected.length === 0)
    return op === 'remove' ? ok(null) : addMissing(holder, name, { step, filter, sub })
  for (const item of selected) {
    if (sub !== null) change(item, sub, step)
    else if (isComplex(value)) Object.assign(item, value)
    else return fail('scim_value_invalid', { detail: 'A value of a list must be an object.' })
  }
  return ok(null)
}

function addMissing(
  holder: Document,
  name: string,
  { step: { op, value }, filter, sub }: Filtered,
): Outcome<null> {
  const made = equalsOf(filter)
  if (made === null || (sub === null && (op === 'replace' || !isComplex(value))))
    return fail('scim_target_missing')
  const given: unknown = holder[name]
  const all: readonly unknown[] = Array.isArray(given) ? given : []
  holder[name] = [...all, sub === null ? { ...made, ...(value as Document) } : { ...made, [sub]: value }]
  return ok(null)
}

/** The equalities of a filter; null for a filter with other conditions. */
function equalsOf(filter: Filter): Document | null {
  if (filter.op === 'eq')
    return /^[\w$-]+$/.test(filter.attrPath) ? { [filter.attrPath]: filter.compValue } : null
  if (filter.op !== 'and') return null
  const parts = filter.filters.map(equalsOf)
  return parts.includes(null) ? null : (Object.assign({}, ...parts) as Document)
}

function change(document: Document, path: string, { op, value }: Pick<PatchStep, 'op' | 'value'>): void {
  // The library's types require further members that it does not read.
  scimPatch(document as unknown as ScimResource, [{ op, path, ...(value !== undefined && { value }) }])
}

function complexIn(document: Document, name: string): Document {
  const own = nameIn(document, name)
  const value = document[own]
  if (isComplex(value)) return value
  const made: Document = {}
  document[own] = made
  return made
}

/** The stored spelling of a name. Unknown names are also compared case-insensitively. */
function nameIn(document: Document, name: string): string {
  if (Object.hasOwn(document, name)) return name
  return Object.keys(document).find((known) => known.toLowerCase() === name.toLowerCase()) ?? name
}
