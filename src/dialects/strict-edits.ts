/** Changes to a caller's body for providers of all dialects. */
import { isNull, type BodyEdit } from '../schemas/inference/provider-body.ts'
import { STRICT_CUT_INSIDE_DEFAULTS, type ForeignMember } from '../schemas/inference/strict-members.ts'
import type { KeptBody, MemberSpan } from '../schemas/kept-body.ts'

/** A nested member that is cut. */
export interface NestedCut {
  /** How `x-sluice-dropped` names it. */
  readonly named: string
  /** Default values of the member, as JSON; absent: the values that are defaults of every member. */
  readonly defaults?: readonly string[]
}

/** The changes for a provider that refuses unknown members. */
export class StrictEdits {
  readonly edits: BodyEdit[] = []
  readonly #body: KeptBody
  readonly #dropped = new Set<string>()

  constructor(body: KeptBody) {
    this.#body = body
  }

  /** Members that the provider does not get, each once, for `x-sluice-dropped`. */
  get dropped(): readonly string[] {
    return [...this.#dropped]
  }

  drop(name: string): void {
    this.#dropped.add(name)
  }

  cutTop(members: Readonly<Record<string, ForeignMember>>): void {
    for (const [name, { defaults }] of Object.entries(members)) {
      const member = this.#body.last(name)
      if (member === null) continue
      this.edits.push({ kind: 'cut', name })
      this.#cut(member, { named: name, defaults })
    }
  }

  /** @param cutOf null: the member stays */
  cutInside(cutOf: (mark: MemberSpan) => NestedCut | null): void {
    for (const mark of this.#body.marks) {
      const cut = cutOf(mark)
      if (cut === null) continue
      this.edits.push({ kind: 'cut_mark', mark })
      this.#cut(mark, cut)
    }
  }

  #cut(member: MemberSpan, { named, defaults = STRICT_CUT_INSIDE_DEFAULTS }: NestedCut): void {
    if (!this.#dropped.has(named) && !isDefault(this.#body, member, defaults)) this.#dropped.add(named)
  }
}

/** Whether a value changes nothing. @param defaults as JSON. Null is the default of every member. */
export function isDefault(body: KeptBody, member: MemberSpan, defaults: readonly string[]): boolean {
  if (isNull(body, member)) return true
  const { start, end } = member
  if (end - start > DEFAULT_BYTES_MAX) return false
  const json = Buffer.from(body.bytes.subarray(start, end)).toString()
  return defaults.includes(JSON.stringify(JSON.parse(json)))
}

/** The most bytes, with white space, of a value that may be a default. */
const DEFAULT_BYTES_MAX = 64
