import type { Issue } from './failure-metadata.ts'
import type { JsonPath } from './values/json-path.ts'

/** Members of an object that may be found to come once: the scan has a bit of one number for each. */
export const ONCE_MAX = 32

/**
 * Members of nested values whose places are kept with the bytes of a body, as a tree: each plan is for the
 * value at one place. A plan may contain itself.
 */
export interface MarkPlan {
  /** Members of the object that are marked. */
  readonly names?: readonly string[]
  /** Members that are marked only in an object whose member has one of these texts, by the text. */
  readonly when?: {
    readonly member: string
    readonly names: Readonly<Record<string, readonly string[]>>
  }
  /**
   * Members that decide what an object is: repeated, or in another case, they make the body ambiguous, since
   * parsers differ in which of them they take. At most ONCE_MAX, in small letters.
   */
  readonly once?: readonly string[]
  /** For the elements of the list. */
  readonly each?: MarkPlan
  /** For the values of members. */
  readonly members?: Readonly<Record<string, MarkPlan>>
}

/** The parts of a body that are kept in addition to its digest. */
export interface KeptForm {
  /** Members whose places are kept, with those that the shape of the body names and the nested ones. ASCII. */
  readonly names: readonly string[]
  /** Nested members whose places are kept, by the name of the top-level member. */
  readonly marks: Readonly<Record<string, MarkPlan>>
  /** Objects within that the digest of the body points at, with the names of members whose places are kept. */
  readonly objects?: {
    readonly names: readonly string[]
    /** Pure, as `BodyForm.digest`. */
    pathsOf(digest: object): readonly JsonPath[]
  }
}

/** The place of a member in the bytes of a body. All figures are bytes from the start of the body. */
export interface MemberSpan {
  /** As the form writes it: the body may escape letters of it. */
  readonly name: string
  /** The opening quote of the key. */
  readonly keyStart: number
  /** The value is `[start, end)`. */
  readonly start: number
  readonly end: number
  /** The key of the next member; 0: the member is the last of its object. */
  readonly next: number
  /** The comma before the member; 0: the member is the first of its object. */
  readonly comma: number
  /** The first byte in the value that is not white space, after its opening byte. */
  readonly inner: number
}

/** Figures of a span in a `SpanList`: the index of its name, and the members of `MemberSpan` in their order. */
const SPAN_FIGURES = 7
/** Spans as numbers, which move between threads without a copy. */
export class SpanList {
  /** A list of JavaScript, since memory of its own would cost more than all else of a small body. */
  readonly #figures: number[] = []

  get count(): number {
    return this.#figures.length / SPAN_FIGURES
  }

  /** @param index of the name in the list of the form */
  add(index: number, { keyStart, start, end, next, comma, inner }: Omit<MemberSpan, 'name'>): void {
    this.#figures.push(index, keyStart, start, end, next, comma, inner)
  }

  /** Keeps the first `count` spans, and those of the others that `isKept` accepts by the index of their name. */
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
  /** Spans of the top-level members that the form names, in the order of the body, repeated ones included. */
  readonly members: Uint32Array
  /** Spans of the nested members, likewise. */
  readonly marks: Uint32Array
  /** Top-level members, whatever their names. */
  readonly count: number
  /** The closing brace of the body. */
  readonly close: number
  /** Spans of the members of each nested object that the digest points at; absent without such objects. */
  readonly objects?: readonly Uint32Array[]
  /** The first member that other parsers may read differently, if any. */
  readonly ambiguous?: Issue
}

const NOTHING = new Uint8Array(0)

/** The bytes of a JSON body that passed its checks, with the places of the members that Sluice rewrites. */
export class KeptBody {
  /** Top-level members in the order of the body, repeated ones included. */
  readonly members: readonly MemberSpan[]
  /** Top-level members, whatever their names. */
  readonly count: number
  /** The closing brace of the body. */
  readonly close: number
  /** Null: all parsers read the same of the members that decide. */
  readonly ambiguous: Issue | null
  readonly #packedMarks: Uint32Array
  readonly #objects: readonly Uint32Array[]
  #marks: readonly MemberSpan[] | null = null
  readonly #names: readonly string[]
  readonly #released: () => void
  #bytes: Uint8Array

  /**
   * @param names of the form; a span has the index of its name
   * @param released called once, when the bytes are given up before their call is over
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

  /** Empty once they were released. */
  get bytes(): Uint8Array {
    return this.#bytes
  }

  /** Nested members, likewise. A body may have thousands, which most calls do not use. */
  get marks(): readonly MemberSpan[] {
    return (this.#marks ??= spansOf(this.#packedMarks, this.#names))
  }

  /** Members of an object that the digest of the body points at, likewise. @param names by which the object was read */
  object(nth: number, names: readonly string[]): readonly MemberSpan[] {
    const packed = this.#objects[nth]
    if (packed === undefined) throw new Error('the positions of this object were not kept')
    return spansOf(packed, names)
  }

  /** Whether the places of the members with this name are kept. */
  knows(name: string): boolean {
    return this.#names.includes(name)
  }

  /** The last member of the name, which decides as in `JSON.parse`. */
  last(name: string): MemberSpan | null {
    return this.members.findLast((member) => member.name === name) ?? null
  }

  /** Gives the bytes up: nothing more is sent to a provider. A stream may last an hour. */
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
