import type { KeptForm, MarkPlan } from '../schemas/kept-body.ts'
import { BACKSLASH, type Span } from '../schemas/values/json-bytes.ts'
import { isWritten } from './json-syntax.ts'

/** A name that is not kept. */
export const NO_NAME = -1

/** Bytes of a letter at most: an escape. */
const LETTER_BYTES_MAX = 6
const LAST_ASCII = 0x7f
/** The bit by which a small letter of ASCII differs from its capital. */
const CASE_BIT = 0x20

/** A member that the plan of its object names. */
export interface PlannedMember {
  readonly name: string
  /** Of the name in the form; NO_NAME: the member is not marked. */
  readonly index: number
  /** Texts of the value, with the conditional members that count there; null: the member decides nothing. */
  readonly deciding: readonly Deciding[] | null
  /** For the value. */
  readonly within: Plan | null
}

export interface Deciding {
  readonly text: string
  /** Indices of names. */
  readonly counted: ReadonlySet<number>
}

/** A `MarkPlan` prepared for the scan. */
export interface Plan {
  /** Empty: the plan has nothing for an object. */
  readonly members: readonly PlannedMember[]
  /** Indices of names that count only in an object whose deciding member has a text of theirs. */
  readonly conditional: ReadonlySet<number>
  readonly each: Plan | null
}

/** The names whose places are kept, found by their first byte: a body may have millions of other members. */
export class KeptNames {
  /** Plans for the values of top-level members, by the index of the name. */
  readonly plans: readonly (Plan | null)[]
  /** The name where its value is parsed, by its index. */
  readonly parsed: readonly (string | null)[]
  readonly #names: readonly string[]
  readonly #byFirst: ReadonlyMap<number, readonly number[]>
  readonly #all: readonly number[]
  readonly #known: ReadonlySet<string>
  readonly #keyBytesMax: number

  constructor({ names, marks }: KeptForm, parsed: readonly string[]) {
    this.#names = names
    this.#known = new Set(names)
    this.#keyBytesMax = LETTER_BYTES_MAX * Math.max(...names.map(({ length }) => length)) + 2
    this.#all = names.map((_, index) => index)
    this.parsed = names.map((name) => (parsed.includes(name) ? name : null))
    this.plans = names.map((name) => (Object.hasOwn(marks, name) ? planOf(marks[name], names) : null))
    const byFirst = new Map<number, number[]>()
    for (const [index, name] of names.entries()) {
      const first = name.charCodeAt(0)
      byFirst.set(first, [...(byFirst.get(first) ?? []), index])
    }
    this.#byFirst = byFirst
  }

  /**
   * @param at after the opening quote of a key
   * @returns the index of its name, or NO_NAME
   */
  indexAt(bytes: Uint8Array, at: number): number {
    const first = bytes[at] ?? 0
    // Its first letter may be escaped.
    const near = first === BACKSLASH ? this.#all : this.#byFirst.get(first)
    if (near === undefined) return NO_NAME
    for (const index of near) if (isWritten(bytes, at, this.#names[index] ?? '')) return index
    return NO_NAME
  }

  /**
   * Whether a name that is not kept becomes a kept one when its case is ignored, as encoding/json of Go and
   * others read names: also U+017F for s and U+212A for k.
   * @param key with its quotes
   */
  isNearAt(bytes: Buffer, { start, end }: Span): boolean {
    if (end - start > this.#keyBytesMax) return false
    const first = bytes[start + 1] ?? 0
    const mayBeNear = first === BACKSLASH || first > LAST_ASCII || this.#byFirst.has(first | CASE_BIT)
    if (!mayBeNear) return false
    const name = JSON.parse(bytes.toString('utf8', start, end)) as string
    return this.#known.has(name.toUpperCase().toLowerCase())
  }
}

function planOf(plan: MarkPlan | undefined, names: readonly string[]): Plan | null {
  if (plan === undefined) return null
  const { names: marked = [], when, each, members = {} } = plan
  const indicesOf = (some: readonly string[]): ReadonlySet<number> =>
    new Set(some.map((name) => names.indexOf(name)))
  const conditional = Object.values(when?.names ?? {}).flat()
  const deciding = Object.entries(when?.names ?? {}).map(([text, counted]) => ({
    text,
    counted: indicesOf(counted),
  }))
  const all = new Set([
    ...marked,
    ...(when === undefined ? [] : [when.member]),
    ...conditional,
    ...Object.keys(members),
  ])
  const isMarked = (name: string): boolean => marked.includes(name) || conditional.includes(name)
  return {
    members: [...all].map((name) => ({
      name,
      index: isMarked(name) ? names.indexOf(name) : NO_NAME,
      deciding: when?.member === name ? deciding : null,
      within: Object.hasOwn(members, name) ? planOf(members[name], names) : null,
    })),
    conditional: indicesOf(conditional),
    each: planOf(each, names),
  }
}

/**
 * @param at after the opening quote of a key
 * @returns null: the plan does not name the member
 */
export function plannedAt({ members }: Plan, bytes: Uint8Array, at: number): PlannedMember | null {
  for (const member of members) if (isWritten(bytes, at, member.name)) return member
  return null
}
