import { ONCE_MAX, type KeptForm, type MarkPlan } from '../schemas/kept-body.ts'
import { byFirstByte, isWritten, isWrittenInAnyCase } from './json-syntax.ts'

export const NO_NAME = -1

/** A member that the plan of its object names. */
export interface PlannedMember {
  readonly name: string
  /** Index of the name in the form; NO_NAME when the member is not marked. */
  readonly index: number
  /** Values of this member, each with the conditional members that count for it; null when the member decides nothing. */
  readonly deciding: readonly Deciding[] | null
  /** For the value. */
  readonly within: Plan | null
  /** A distinct bit for each name that may occur only once in an object; 0 when the name may be repeated. */
  readonly bit: number
}

export interface Deciding {
  readonly text: string
  /** Indices of names. */
  readonly counted: ReadonlySet<number>
}

/** A `MarkPlan` prepared for the scan. */
export interface Plan {
  /** The members by the first byte of a key. */
  readonly byFirst: readonly (readonly PlannedMember[] | undefined)[]
  /** The members by the low bits of the hashes of their names, in which they all differ. */
  readonly byHash: readonly (PlannedMember | null)[]
  /** Indices of names that count only in an object whose deciding member has one of their values. */
  readonly conditional: ReadonlySet<number>
  readonly each: Plan | null
}

export class KeptNames {
  /** Plans for the values of top-level members, by the index of the name. */
  readonly plans: readonly (Plan | null)[]
  /** The name of each member whose value is parsed, by its index. */
  readonly parsed: readonly (string | null)[]
  readonly #names: readonly string[]
  readonly #indices: readonly (readonly number[] | undefined)[]

  constructor({ names, marks }: KeptForm, parsed: readonly string[]) {
    const plans = new Map<MarkPlan, Plan>()
    this.#names = names
    this.parsed = names.map((name) => (parsed.includes(name) ? name : null))
    this.plans = names.map((name) => (Object.hasOwn(marks, name) ? planOf(marks[name], names, plans) : null))
    this.#indices = byFirstByte([...names.keys()], (index) => names[index] ?? '')
  }

  /** @param at after the opening quote of a key @returns the index of its name, or NO_NAME */
  indexAt(bytes: Uint8Array, at: number): number {
    const near = this.#indices[bytes[at] ?? 0]
    if (near === undefined) return NO_NAME
    for (const index of near) if (isWritten(bytes, at, this.#names[index] ?? '')) return index
    return NO_NAME
  }

  /**
   * The kept name that a key equals when case is ignored; null: it equals none.
   * @param at after the opening quote of a key that is no kept name
   */
  nearAt(bytes: Uint8Array, at: number): string | null {
    for (const index of this.#indices[bytes[at] ?? 0] ?? []) {
      const name = this.#names[index] ?? ''
      if (isWrittenInAnyCase(bytes, at, name)) return name
    }
    return null
  }
}

/** @param plans those made so far: values of a plan may use the plan itself */
function planOf(
  plan: MarkPlan | undefined,
  names: readonly string[],
  plans: Map<MarkPlan, Plan>,
): Plan | null {
  if (plan === undefined) return null
  const made = plans.get(plan)
  if (made !== undefined) return made
  const { names: marked = [], when, once = [] } = plan
  if (once.length > ONCE_MAX)
    throw new Error(`${once.length} members are marked as unique, at most ${ONCE_MAX} are allowed`)
  const indicesOf = (some: readonly string[]): ReadonlySet<number> =>
    new Set(some.map((name) => names.indexOf(name)))
  const conditional = Object.values(when?.names ?? {}).flat()
  const deciding = Object.entries(when?.names ?? {}).map(([text, counted]) => ({
    text,
    counted: indicesOf(counted),
  }))
  const prepared: { -readonly [part in keyof Plan]: Plan[part] } = {
    byFirst: [],
    byHash: [],
    conditional: indicesOf(conditional),
    each: null,
  }
  plans.set(plan, prepared)
  const { each, members = {} } = plan
  const all = new Set([
    ...marked,
    ...(when === undefined ? [] : [when.member]),
    ...conditional,
    ...once,
    ...Object.keys(members),
  ])
  const isMarked = (name: string): boolean => marked.includes(name) || conditional.includes(name)
  const planned = [...all].map((name): PlannedMember => ({
    name,
    index: isMarked(name) ? names.indexOf(name) : NO_NAME,
    deciding: when?.member === name ? deciding : null,
    within: Object.hasOwn(members, name) ? planOf(members[name], names, plans) : null,
    bit: once.includes(name) ? 1 << once.indexOf(name) : 0,
  }))
  prepared.byFirst = byFirstByte(planned, ({ name }) => name)
  prepared.byHash = tableOf(planned)
  prepared.each = planOf(each, names, plans)
  return prepared
}

function tableOf(members: readonly PlannedMember[]): readonly (PlannedMember | null)[] {
  for (let size = 16; ; size *= 2) {
    const table = new Array<PlannedMember | null>(size).fill(null)
    for (const member of members) table[hashOf(member.name) & (size - 1)] = member
    if (table.filter((member) => member !== null).length === members.length) return table
  }
}

function hashOf(name: string): number {
  let hash = 0
  for (let nth = 0; nth < name.length; nth++) hash = hashedWith(hash, name.charCodeAt(nth))
  return hash
}

/** The hash of a name extended by one byte. */
export function hashedWith(hash: number, byte: number): number {
  return (Math.imul(hash, 31) + byte) | 0
}

/** A key in the bytes of a body. */
export interface Key {
  /** The place after the opening quote. */
  readonly start: number
  readonly hash: number
  /** It has escapes, capitals or bytes that are not ASCII: its hash differs from that of the name that it may mean. */
  readonly isOdd: boolean
}

/** The member that a key names; null when the plan does not contain it. */
export function plannedAt({ byFirst, byHash }: Plan, bytes: Uint8Array, key: Key): PlannedMember | null {
  const { start, hash, isOdd } = key
  if (!isOdd) {
    const member = byHash[hash & (byHash.length - 1)] ?? null
    return member !== null && isWritten(bytes, start, member.name) ? member : null
  }
  for (const member of byFirst[bytes[start] ?? 0] ?? NONE)
    if (isWritten(bytes, start, member.name)) return member
  return null
}

/**
 * The member that may come once and whose name a key has in another case.
 * @param start the place of an odd key that the plan does not contain
 */
export function misspelledAt({ byFirst }: Plan, bytes: Uint8Array, { start }: Key): PlannedMember | null {
  for (const member of byFirst[bytes[start] ?? 0] ?? NONE)
    if (member.bit !== 0 && isWrittenInAnyCase(bytes, start, member.name)) return member
  return null
}

const NONE: readonly PlannedMember[] = []
