import { TOOLS_MAX } from '../../schemas/inference/inference-limits.ts'
import type { Splices } from '../walk/splices.ts'

/** The most fragment objects kept for reuse by the next event; most events need one. */
const KEPT = 8

/** A fragment of a call in an event, with the place of its index. */
export class FoundFragment implements Fragment {
  index: number | null = null
  id = ''
  name = ''
  /** Index of the choice that the fragment belongs to. */
  choice = 0
  /** The index that is written unless the call has another one. */
  shown = 0
  /** The splice that writes the index, or the splice before which a changed index has to be inserted. */
  splice = 0
  /** The bytes of an index that is passed on unchanged; empty: a splice writes the index. */
  start = 0
  end = 0
}

/** The fragments of calls in an event, in order. The objects are used again for the next event. */
export class FoundFragments {
  count = 0
  readonly #all: FoundFragment[] = []

  /** Frees the objects of an event with more fragments than KEPT. */
  clear(): void {
    this.count = 0
    if (this.#all.length > KEPT) this.#all.length = KEPT
  }

  begun(): FoundFragment {
    const known = this.#all[this.count]
    const fragment = known ?? new FoundFragment()
    if (known === undefined) this.#all.push(fragment)
    this.count++
    fragment.index = null
    fragment.id = ''
    fragment.name = ''
    return fragment
  }

  /** Assigns the fragments from `from` on to a choice. */
  belong(from: number, choice: number): void {
    for (let nth = from; nth < this.count; nth++) this.at(nth).choice = choice
  }

  at(nth: number): FoundFragment {
    const fragment = this.#all[nth]
    if (fragment === undefined) throw new Error(`tool call fragment ${nth} does not exist`)
    return fragment
  }
}

class NativeCall implements NamedCall {
  index: number | null = null
  id: string | null = null
  name: string | null = null
  readonly nth: number
  /** The index written in its fragments. */
  readonly shown: number

  constructor(nth: number, shown: number) {
    this.nth = nth
    this.shown = shown
  }
}

class ChoiceCalls {
  readonly #known = new KnownCalls<NativeCall>()
  readonly #shown = new Set<number>()
  #count = 0
  /** The next free index, above all indexes in use. */
  #free = 0

  /** @returns the index to write in the fragment; null: there are too many calls */
  shownOf(fragment: Fragment): number | null {
    const call = this.#known.of(fragment) ?? this.#begun(fragment)
    if (call === null) return null
    this.#known.remember(call, fragment)
    return call.shown
  }

  #begun({ index }: Fragment): NativeCall | null {
    if (this.#count === TOOLS_MAX) return null
    const shown = index === null || this.#shown.has(index) ? this.#free : index
    this.#shown.add(shown)
    this.#free = Math.max(this.#free, shown + 1)
    return new NativeCall(this.#count++, shown)
  }
}

/**
 * The calls of a stream whose bytes are passed on. Clients join fragments by index and refuse a fragment
 * without one. So a call gets the next free index when the provider gives none, or one that another call has;
 * its later fragments get the same index.
 */
export class NativeCalls {
  /** Calls by the index of the choice. */
  readonly #choices = new Map<number, ChoiceCalls>()

  /** Writes the indexes that have to change into the splices. @returns false: there are too many calls */
  place(fragments: FoundFragments, splices: Splices): boolean {
    let added = 0
    for (let nth = 0; nth < fragments.count; nth++) {
      const fragment = fragments.at(nth)
      const shown = this.#callsOf(fragment.choice).shownOf(fragment)
      if (shown === null) return false
      if (shown === fragment.shown) continue
      const { splice, start, end } = fragment
      if (end > start) splices.insert(splice + added++, start, end, String(shown))
      else splices.change(splice + added, String(fragment.shown), String(shown))
    }
    return true
  }

  #callsOf(choice: number): ChoiceCalls {
    const known = this.#choices.get(choice)
    if (known !== undefined) return known
    const made = new ChoiceCalls()
    this.#choices.set(choice, made)
    return made
  }
}

/** The most indexes kept: for each call, its place and the provider's index. Indexes beyond that are ignored. */
const INDEXES_MAX = 2 * TOOLS_MAX

/** Members of a fragment that identify its call. */
export interface Fragment {
  /** Null: the fragment has none. */
  readonly index: number | null
  /** Empty: the fragment has none. */
  readonly id: string
  /** Empty: the fragment has none. */
  readonly name: string
}

/** A call of a choice, with what its fragments have named so far. */
export interface NamedCall {
  /** Its place among the calls, from 0 on. */
  readonly nth: number
  /** The provider's index; null: no fragment had one. */
  index: number | null
  /** Null: no fragment had one so far. */
  id: string | null
  /** Null: no fragment had one so far. */
  name: string | null
}

/** The calls of a choice of chat, whose fragments name them by index, by id, or not at all. */
export class KnownCalls<C extends NamedCall> {
  readonly #byIndex = new Map<number, C>()
  readonly #byId = new Map<string, C>()
  #last: C | null = null

  withId(id: string): C | undefined {
    return this.#byId.get(id)
  }

  /** Null: the fragment begins a call. */
  of(fragment: Fragment): C | null {
    const { index, id, name } = fragment
    const named = id === '' ? undefined : this.#byId.get(id)
    if (named !== undefined) return named
    const isIndexed = index !== null
    const at = isIndexed ? (this.#byIndex.get(index) ?? this.#awaiting(fragment)) : this.#last
    if (at === null) return null
    // Some servers give each of several calls the same index, or none, but a separate name and usually a separate id.
    const isOther = name !== '' && at.name !== null && (id === '' ? !isIndexed : at.id !== null)
    return isOther || (id !== '' && at.id !== null && !isIndexed) ? null : at
  }

  /** @param call that the fragment begins or continues */
  remember(call: C, { index, id, name }: Fragment): void {
    this.#last = call
    if (name !== '') call.name ??= name
    if (index !== null) {
      call.index ??= index
      if (this.#byIndex.size < INDEXES_MAX || this.#byIndex.has(index)) this.#byIndex.set(index, call)
    }
    // Fragments that follow may have the index that the first one lacks.
    else if (!this.#byIndex.has(call.nth)) this.#byIndex.set(call.nth, call)
    if (id === '' || call.id !== null) return
    call.id = id
    this.#byId.set(id, call)
  }

  /** The last call, if its fragments had no index so far and this fragment does not name another call. */
  #awaiting({ id, name }: Fragment): C | null {
    const last = this.#last
    if (last === null || last.index !== null) return null
    const isOther = (name !== '' && last.name !== null) || (id !== '' && last.id !== null)
    return isOther ? null : last
  }
}
