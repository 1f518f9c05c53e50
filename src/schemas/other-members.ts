import type { TSchema } from 'typebox'
import { fits } from './fits.ts'
import { pointer } from './issues.ts'
import { editDistance } from './nearest.ts'

export const IGNORED_NAMES_MAX = 20
/** Characters of such a name. Decision. */
const IGNORED_NAME_CHARS_MAX = 64
/** The fewest letters of a name for which one edit counts as a typing error: shorter names are one edit away from many others. */
const SLIP_CHARS_MIN = 4

/** Other gateways' names for members of Sluice. */
const EQUIVALENTS: Readonly<Record<string, string>> = {
  max_budget: 'limit',
  budget_duration: 'limit_reset',
  rpm_limit: 'rate_limit_rpm',
  tpm_limit: 'rate_limit_tpm',
  max_parallel_requests: 'max_parallel',
  models: 'allowed_models',
  key_alias: 'name',
  duration: 'expires_at',
  team_id: 'workspace_id',
  blocked: 'disabled',
}

/** A member that the shape of a body does not name. */
export interface OtherMember {
  /** JSON pointer. */
  readonly path: string
  /** The name for a header: levels are joined by dots, and characters that are not allowed in a header or a comma-separated list are removed. */
  readonly name: string
  /** The known member that was probably meant; null when no name is similar. */
  readonly meant: string | null
}

interface Shape {
  readonly anyOf?: readonly TSchema[]
  readonly properties?: Readonly<Record<string, TSchema>>
  readonly additionalProperties?: boolean | TSchema
  readonly items?: TSchema
}

interface Place {
  readonly path: string
  readonly name: string
}

/** The most members of a body that are compared with all known ones. Decision: ten times as many as are reported. */
export const COMPARED_MAX = 200

const TOP: Place = { path: '', name: '' }
const NONE: readonly OtherMember[] = []

/**
 * Members of a body that its schema does not name, at any depth. The body may have failed the schema.
 * @param unread a member whose value is not examined
 * @returns the first IGNORED_NAMES_MAX, then as many that are probably misspelled
 */
export function otherMembers(schema: TSchema, body: unknown, unread?: string): readonly OtherMember[] {
  let found: OtherMember[] | null = null
  let slips = 0
  let compared = 0
  const add = (other: OtherMember): void => {
    found ??= []
    const isSlip = other.meant !== null && slips < IGNORED_NAMES_MAX
    if (isSlip) slips++
    if (isSlip || found.length < IGNORED_NAMES_MAX) found.push(other)
  }
  const visit = (shape: Shape, value: unknown, place: Place): void => {
    if (typeof value !== 'object' || value === null) return
    if (shape.anyOf !== undefined) {
      const branch = shape.anyOf.find((each) => fits(each, value))
      if (branch !== undefined) visit(branch, value, place)
      return
    }
    if (Array.isArray(value)) {
      const { items } = shape
      if (items !== undefined) value.forEach((item, nth) => visit(items, item, within(place, nth)))
      return
    }
    const { properties, additionalProperties: others } = shape
    if (properties === undefined) return
    for (const [name, member] of Object.entries(value)) {
      if (place === TOP && name === unread) continue
      const known = Object.hasOwn(properties, name) ? properties[name] : others
      if (known === undefined)
        add(otherOf(name, place, compared++ < COMPARED_MAX ? Object.keys(properties) : []))
      // Skips plain values, whose paths would be built in vain in each call.
      else if (typeof known === 'object' && typeof member === 'object')
        visit(known, member, within(place, name))
    }
  }
  visit(schema, body, TOP)
  return found ?? NONE
}

/** Whether the schema accepts only the members that it names. */
export function isClosed(schema: TSchema & { readonly additionalProperties?: unknown }): boolean {
  return schema.additionalProperties === false
}

function otherOf(name: string, place: Place, known: readonly string[]): OtherMember {
  const { path, name: shown } = within(place, name.slice(0, IGNORED_NAME_CHARS_MAX))
  return { path, name: shown.replace(/[^\w.$-]/g, '_'), meant: meantBy(name, known) }
}

function meantBy(sent: string, known: readonly string[]): string | null {
  if (known.length === 0 || sent.length > IGNORED_NAME_CHARS_MAX) return null
  const name = snakeOf(sent)
  const same = Object.hasOwn(EQUIVALENTS, name) ? EQUIVALENTS[name] : undefined
  if (same !== undefined && known.includes(same)) return same
  const equal = known.find((each) => snakeOf(each) === name)
  if (equal !== undefined || name.length < SLIP_CHARS_MIN) return equal ?? null
  return known.find((each) => editDistance(name, snakeOf(each), 1) <= 1) ?? null
}

/** `limitReset`, `limit-reset` and `LIMIT_RESET` are `limit_reset`: SDKs and shells spell members so. */
function snakeOf(name: string): string {
  return name
    .replace(/([a-z\d])([A-Z])/g, '$1_$2')
    .replaceAll('-', '_')
    .toLowerCase()
}

function within({ path, name }: Place, member: string | number): Place {
  return { path: pointer(path, member), name: name === '' ? String(member) : `${name}.${member}` }
}
