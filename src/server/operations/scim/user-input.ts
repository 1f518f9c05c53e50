import { isDeepStrictEqual } from 'node:util'
import { fail, ok, type Outcome } from '../../../schemas/failures.ts'
import {
  booleanOf,
  canonicalMembers,
  ENTERPRISE_SCHEMA,
  hasNul,
  isComplex,
  listedValues,
  MULTI_VALUED,
  type Attributes,
} from '../../../schemas/scim/scim-attributes.ts'
import { SCIM_NAME_CHARS_MAX, SCIM_VALUES_MAX } from '../../../schemas/scim/scim-limits.ts'
import type { ScimUser, ScimUserInput } from '../../ports/scim/scim.ts'

/** UTF-8 bytes, as JSON, of those attributes of a user that have no field of their own. Decision. */
export const SCIM_ATTRIBUTES_BYTES_MAX = 64 * 1024

/**
 * Read-only members, and members that are never stored: a complete user may contain them, and they are
 * ignored. RFC 7644 §3.5.1.
 */
const IGNORED = ['schemas', 'id', 'meta', 'groups', 'password']

/**
 * A user as an identity provider sends it; names are case-insensitive. Without `active` an existing user keeps
 * its state. Failure: scim_value_invalid.
 */
export function userInputOf(given: Attributes, before: ScimUser | null): Outcome<ScimUserInput> {
  if (hasNul(given)) return invalid('A string contains the character U+0000.')
  const { userName, externalId, displayName, active, ...rest } = canonicalMembers(given)
  if (typeof userName !== 'string' || userName.trim() === '' || userName.length > SCIM_NAME_CHARS_MAX) {
    return invalid(`\`userName\` must be a string of 1 to ${SCIM_NAME_CHARS_MAX} characters.`)
  }
  const [external, display] = [nameOf('externalId', externalId), nameOf('displayName', displayName)]
  if (!external.ok) return external
  if (!display.ok) return display
  const isActive = isUnassigned(active) ? (before?.isActive ?? true) : booleanOf(active)
  if (isActive === undefined) return invalid('`active` must be a boolean.')
  const attributes = attributesOf(rest, before)
  if (!attributes.ok) return attributes
  return ok({
    userName,
    externalId: external.value,
    displayName: display.value,
    isActive,
    attributes: attributes.value,
  })
}

/** A text; null when it is missing or empty. */
export function nameOf(name: string, given: unknown): Outcome<string | null> {
  if (isUnassigned(given) || given === '') return ok(null)
  if (typeof given === 'string' && given.length <= SCIM_NAME_CHARS_MAX) return ok(given)
  return invalid(`\`${name}\` must be a string of at most ${SCIM_NAME_CHARS_MAX} characters.`)
}

function attributesOf(given: Attributes, before: ScimUser | null): Outcome<Attributes> {
  const kept: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(given)) {
    if (IGNORED.includes(name) || isUnassigned(value)) continue
    if (listedValues(value) > SCIM_VALUES_MAX) return tooManyValues()
    if (name === 'name' && !isComplex(value)) return invalid('`name` must be an object.')
    const shaped = MULTI_VALUED.has(name)
      ? severalOf(value, before?.attributes[name])
      : name === ENTERPRISE_SCHEMA
        ? withManager(value)
        : value
    if (!isUnassigned(shaped)) kept[name] = shaped
  }
  const bytes = Buffer.byteLength(JSON.stringify(kept))
  return bytes <= SCIM_ATTRIBUTES_BYTES_MAX
    ? ok(kept)
    : invalid(`The attributes are larger than ${SCIM_ATTRIBUTES_BYTES_MAX} bytes.`)
}

/** True for a value that counts as unassigned. RFC 7643 §2.5. */
function isUnassigned(value: unknown): boolean {
  return (
    value === undefined ||
    value === null ||
    (Array.isArray(value) && value.length === 0) ||
    (isComplex(value) && Object.keys(value).length === 0)
  )
}

/** Objects with `value`, of which one may be primary. If several are, only the one that has just become primary stays so. RFC 7644 §3.5.2. */
function severalOf(given: unknown, before: unknown): readonly Attributes[] {
  const all = (Array.isArray(given) ? given : [given])
    .filter((value: unknown) => !isUnassigned(value))
    .map((value: unknown) => {
      const item = isComplex(value) ? value : { value }
      const primary = booleanOf(item['primary'])
      return primary === undefined ? item : { ...item, primary }
    })
  const primary = all.filter((item) => item['primary'] === true)
  if (primary.length < 2) return all
  const had: readonly unknown[] = Array.isArray(before) ? before : []
  const chosen =
    primary.findLast((item) => !had.some((old) => isDeepStrictEqual(old, item))) ?? primary.at(-1)
  return all.map((item) => (item['primary'] === true && item !== chosen ? { ...item, primary: false } : item))
}

/** Some identity providers send a manager's id as a plain text. */
function withManager(given: unknown): unknown {
  if (!isComplex(given)) return given
  const { manager, ...rest } = given
  return typeof manager === 'string'
    ? { ...rest, ...(manager !== '' && { manager: { value: manager } }) }
    : given
}

export function tooManyValues(): Outcome<never> {
  return invalid(`A list has more than ${SCIM_VALUES_MAX} values.`)
}

function invalid(detail: string): Outcome<never> {
  return fail('scim_value_invalid', { detail })
}
