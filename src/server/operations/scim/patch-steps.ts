import { setImmediate } from 'node:timers/promises'
import { fail, ok, type Outcome } from '../../../schemas/failures.ts'
import {
  canonical,
  canonicalMembers,
  canonicalName,
  ENTERPRISE_SCHEMA,
  GROUP_SCHEMA,
  hasNul,
  isComplex,
  isReserved,
  USER_SCHEMA,
  type Attributes,
} from '../../../schemas/scim/scim-attributes.ts'
import { parsedFilter, type Filter } from '../../../schemas/scim/scim-filters.ts'
import { SCIM_PATCH_OPERATIONS_MAX } from '../../../schemas/scim/scim-limits.ts'

/** Operations of a PATCH that are read in one turn of the loop. Decision. */
export const SCIM_PATCH_READ_AT_ONCE = 50

/** The target of a step. RFC 7644 §3.5.2. */
export interface PatchPath {
  /** URN; null = the resource's own attributes. */
  readonly extension: string | null
  readonly attribute: string
  /** Selects values of a multi-valued attribute; null: no filter. */
  readonly filter: Filter | null
  readonly sub: string | null
}

export interface PatchStep {
  readonly op: 'add' | 'replace' | 'remove'
  readonly path: PatchPath
  /** Undefined when the body has no value. */
  readonly value: unknown
  /** True: a `path` names the target; false: the step is a member of a value without a path. */
  readonly isNamed: boolean
  /** Index of the step's operation in the body. */
  readonly at: number
}

type Step = Omit<PatchStep, 'at'>

/**
 * The steps of a PATCH body, one attribute each: an operation without a path gives a step for each member.
 * Failures: scim_value_invalid, scim_path_invalid, scim_target_missing (a removal without a target).
 */
export async function patchStepsOf(body: Attributes): Promise<Outcome<readonly PatchStep[]>> {
  const { Operations: given } = canonicalMembers(body)
  if (!Array.isArray(given) || given.length === 0 || given.length > SCIM_PATCH_OPERATIONS_MAX) {
    return invalid(`\`Operations\` must be an array of 1 to ${SCIM_PATCH_OPERATIONS_MAX} operations.`)
  }
  if (hasNul(given)) return invalid('A string contains the character U+0000.')
  const steps: PatchStep[] = []
  for (const [at, operation] of (given as readonly unknown[]).entries()) {
    // Parsing a thousand filters takes 50 ms.
    if (at > 0 && at % SCIM_PATCH_READ_AT_ONCE === 0) await setImmediate()
    const some = stepsOf(operation)
    if (!some.ok) return inOperation(some, at)
    for (const step of some.value) steps.push({ ...step, at })
  }
  return ok(steps)
}

/** The refusal, with the index of the operation in the body. */
export function inOperation({ failure }: Refusal, at: number): Outcome<never> {
  const { name, detail, ...rest } = failure
  return fail(name, {
    ...rest,
    detail: `${detail === undefined ? '' : `${detail} `}See \`Operations[${at}]\`.`,
  })
}

type Refusal = Extract<Outcome<never>, { readonly ok: false }>

function stepsOf(operation: unknown): Outcome<readonly Step[]> {
  if (!isComplex(operation)) return invalid('An operation must be an object.')
  const { op: given, path, value } = operation
  const op = typeof given === 'string' ? given.toLowerCase() : ''
  if (op !== 'add' && op !== 'replace' && op !== 'remove')
    return invalid('`op` must be add, replace or remove.')
  if (op !== 'remove' && value === undefined) return invalid('An operation has no `value`.')
  if (path === undefined || path === null || path === '') {
    if (op === 'remove') return fail('scim_target_missing', { detail: '`remove` has no `path`.' })
    return isComplex(value)
      ? membersOf(op, value, null)
      : invalid('Without a `path`, the `value` of an operation must be an object.')
  }
  if (typeof path !== 'string') return wrongPath()
  const schema = canonicalName(path.trim())
  if (schema === ENTERPRISE_SCHEMA && isComplex(value)) return membersOf(op, value, schema)
  const parsed = pathOf(path.trim())
  if (!parsed.ok) return parsed
  return arePlain(value)
    ? ok([{ op, path: parsed.value, value: canonical(value), isNamed: true }])
    : wrongPath()
}

/** A step for each member of a value; members of an extension are steps of their own. */
function membersOf(op: Step['op'], value: Attributes, extension: string | null): Outcome<readonly Step[]> {
  const steps: Step[] = []
  for (const [name, member] of Object.entries(value)) {
    const isExtension = /^urn:/i.test(name) && isComplex(member)
    const some =
      isExtension && extension === null
        ? membersOf(op, member, inCore(name))
        : memberOf(op, name, { member, extension })
    if (!some.ok) return some
    steps.push(...some.value)
  }
  return ok(steps)
}

function memberOf(
  op: Step['op'],
  name: string,
  { member, extension }: { readonly member: unknown; readonly extension: string | null },
): Outcome<readonly Step[]> {
  const parsed = pathOf(name)
  if (!parsed.ok) return parsed
  const path = { ...parsed.value, extension: parsed.value.extension ?? extension }
  return arePlain(member) ? ok([{ op, path, value: canonical(member), isNamed: false }]) : wrongPath()
}

const PLACE = /^(?<attribute>[a-z$][\w$-]*)(?:\[(?<filter>.+)\])?(?:\.(?<sub>[a-z$][\w$-]*))?$/i

function pathOf(text: string): Outcome<PatchPath> {
  const bracket = text.indexOf('[')
  const cut = text.lastIndexOf(':', bracket < 0 ? text.length : bracket)
  const groups = PLACE.exec(text.slice(cut + 1))?.groups
  const [attribute, sub] = [groups?.['attribute'], groups?.['sub']]
  if (attribute === undefined || isReserved(attribute) || (sub !== undefined && isReserved(sub)))
    return wrongPath()
  const urn = cut < 0 ? null : inCore(text.slice(0, cut))
  if (urn !== null && !/^urn:[\w:.-]+$/i.test(urn)) return wrongPath()
  const given = groups?.['filter']
  const filter = given === undefined ? null : parsedFilter(given)
  if (filter !== null && !filter.ok)
    return fail('scim_path_invalid', {
      ...(filter.failure.detail !== undefined && { detail: filter.failure.detail }),
    })
  return ok({
    extension: urn,
    attribute: canonicalName(attribute),
    filter: filter === null ? null : filter.value,
    sub: sub === undefined ? null : canonicalName(sub),
  })
}

/** The extension's URN; null for the URN of the resource's own schema. */
function inCore(urn: string): string | null {
  const schema = canonicalName(urn)
  return schema === USER_SCHEMA || schema === GROUP_SCHEMA ? null : schema
}

/** True when no name in a value is a path: a step must not change anything outside the value. */
function arePlain(value: unknown): boolean {
  if (Array.isArray(value)) return value.every(arePlain)
  return (
    !isComplex(value) ||
    Object.entries(value).every(([name, member]) => /^[\w$-]+$/.test(name) && arePlain(member))
  )
}

function invalid(detail: string): Outcome<never> {
  return fail('scim_value_invalid', { detail })
}

export function wrongPath(): Outcome<never> {
  return fail('scim_path_invalid')
}
