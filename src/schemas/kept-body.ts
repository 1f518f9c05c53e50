import type { Issue } from './failure-metadata.ts'
import type { JsonPath } from './values/json-path.ts'

/** The most members of an object that can be checked for repetition: the scan uses one bit of a number for each. */
export const ONCE_MAX = 32

/**
 * Members of nested values whose places are kept with the bytes of a body, as a tree: each plan describes one value. A plan may contain itself.
 */
export interface MarkPlan {
  /** Members of the object that are marked. */
  readonly names?: readonly string[]
  /** Members that are marked only if another member of the object has one of these texts, by the text. */
  readonly when?: {
    readonly member: string
    readonly names: Readonly<Record<string, readonly string[]>>
  }
  /**
   * Members that determine what an object is. Repeated or differently capitalized, they make the body ambiguous, since parsers differ in which of
   * them they use. At most ONCE_MAX, in lower case.
   */
  readonly once?: readonly string[]
  /** For the elements of the list. */
  readonly each?: MarkPlan
  /** For the values of members. */
  readonly members?: Readonly<Record<string, MarkPlan>>
}

/** The parts of a body that are kept in addition to its digest. */
export interface KeptForm {
  /** Members whose places are kept, in addition to those that the body's shape names and the nested ones. ASCII. */
  readonly names: readonly string[]
  /** Nested members whose places are kept, by the name of the top-level member. */
  readonly marks: Readonly<Record<string, MarkPlan>>
  /** Nested objects that the digest of the body refers to, with the names of the members whose places are kept. */
  readonly objects?: {
    readonly names: readonly string[]
    /** Pure, as `BodyForm.digest`. */
    pathsOf(digest: object): readonly JsonPath[]
  }
}

/** The place of a member in the bytes of a body. All figures are bytes from the start of the body. */
export interface MemberSpan {
  /** The name as in the form; the body may escape letters of it. */
  readonly name: string
  /** Offset of the key's opening quote. */
  readonly keyStart: number
  /** The value is `[start, end)`. */
  readonly start: number
  readonly end: number
  /** Offset of the next member's key; 0: the member is the last of its object. */
  readonly next: number
  /** Offset of the comma before the member; 0: the member is the first of its object. */
  readonly comma: number
  /** Offset of the first byte after the value's opening byte that is not white space. */
  readonly inner: number
}

/** Figures of a span in a `SpanList`: the index of its name, and the members of `MemberSpan` in their order. */
const SPAN_FIGURES = 7
/** Spans as numbers, which are transferred between threads without a copy. */
export class SpanList {
  /** A JavaScript array, since a separate buffer would cost more than everything else for a small body. */
  readonly #figures: number[] = []

  get count(): number {
    return this.#figures.length / SPAN_FIGURES
  }

  /** @param index of the name in the list of the form */
  add(index: number, { keyStart, start, end, next, comma, inner }: Omit<MemberSpan, 'name'>): void {
    this.#figures.push(index, keyStart, start, end, next, comma, inner)
  }

  /** Keeps the first `count` spans, and of the others those whose name's index `isKept` accepts. */
  keep(count: number, isKept: (index: number) => boolean): void {
    const figures = this.#figures
    let kept = count * SPAN_FIGURES
    for (let at = kept; at < figures.length; at += SPAN_FIGURES) {
      if (!isKept(figures[at] ?? 0)) continue
      figures.copyWithin(kept, at, at + SPAN_FIGURES)
      kept += SPAN_FIGURES
    }
    figures.length = kept
  }

  packed(): Uint32Array {
    return new Uint32Array(this.#figures)
  }
}

export interface KeptPlaces {
  /** Spans of the top-level members that the form names, in the order of the body, including repetitions. */
  readonly members: Uint32Array
  /** Spans of the nested members, in the same form. */
  readonly marks: Uint32Array
  /** Number of top-level members of any name. */
  readonly count: number
  /** Offset of the body's closing brace. */
  readonly close: number
  /** Spans of the members of each nested object that the digest refers to; absent without such objects. */
  readonly objects?: readonly Uint32Array[]
  /** The first member that other parsers may read differently, if any. */
  readonly ambiguous?: Issue
}

const NOTHING = new Uint8Array(0)

/** The bytes of a JSON body that passed its checks, with the places of the members that Sluice rewrites. */
export class KeptBody {
  /** Top-level members in the order of the body, including repetitions. */
  readonly members: readonly MemberSpan[]
  /** Number of top-level members of any name. */
  readonly count: number
  /** Offset of the body's closing brace. */
  readonly close: number
  /** Null: all parsers read the determining members alike. */
  readonly ambiguous: Issue | null
  readonly #packedMarks: Uint32Array
  readonly #objects: readonly Uint32Array[]
  #marks: readonly MemberSpan[] | null = null
  readonly #names: readonly string[]
  readonly #released: () => void
  #bytes: Uint8Array

  /**
   * @param names of the form; a span has the index of its name
   * @param released called once, when the bytes are released before their call ends
   */
  constructor(
    bytes: Uint8Array,
    places: KeptPlaces,
    { names, released }: { readonly names: readonly string[]; readonly released: () => void },
  ) {
    this.members = spansOf(places.members, names)
    this.count = places.count
    this.close = places.close
    this.ambiguous = places.ambiguous ?? null
    this.#packedMarks = places.marks
    this.#objects = places.objects ?? []
    this.#names = names
    this.#released = released
    this.#bytes = bytes
  }

  /** Empty after `release`. */
  get bytes(): Uint8Array {
    return this.#bytes
  }

  /** Nested members, read only when needed: a body may have thousands, which most calls do not use. */
  get marks(): readonly MemberSpan[] {
    return (this.#marks ??= spansOf(this.#packedMarks, this.#names))
  }

  /** Members of an object that the digest of the body refers to. @param names with which the object was read */
  object(nth: number, names: readonly string[]): readonly MemberSpan[] {
    const packed = this.#objects[nth]
    if (packed === undefined) throw new Error('the positions of this object were not kept')
    return spansOf(packed, names)
  }

  /** Whether the places of the members with this name are kept. */
  knows(name: string): boolean {
    return this.#names.includes(name)
  }

  /** The last member with this name, which counts, as in `JSON.parse`. */
  last(name: string): MemberSpan | null {
    return this.members.findLast((member) => member.name === name) ?? null
  }

  /** Releases the bytes once nothing more is sent to a provider, since a stream may last an hour. */
  release(): void {
    if (this.#bytes === NOTHING) return
    this.#bytes = NOTHING
    this.#released()
  }
}

function spansOf(packed: Uint32Array, names: readonly string[]): readonly MemberSpan[] {
  const figure = (at: number): number => packed[at] ?? 0
  return Array.from({ length: packed.length / SPAN_FIGURES }, (_, nth) => {
    const at = nth * SPAN_FIGURES
    return {
      name: names[figure(at)] ?? '',
      keyStart: figure(at + 1),
      start: figure(at + 2),
      end: figure(at + 3),
      next: figure(at + 4),
      comma: figure(at + 5),
      inner: figure(at + 6),
    }
  })
}
