import { TOOLS_MAX } from '../../schemas/inference/inference-limits.ts'
import type { Splices } from '../walk/splices.ts'
import {
  KnownCalls,
  type Fragment,
  type NamedCall,
} from '../../server/upstream/inference/chat/known-calls.ts'

/** Fragments whose objects are kept for the next event; most events have one. */
const KEPT = 8

/** A fragment of a call in an event, with the place of its index. */
export class FoundFragment implements Fragment {
  index: number | null = null
  id = ''
  name = ''
  /** Of the choice that it belongs to. */
  choice = 0
  /** The index that goes out unless the call has another one. */
  shown = 0
  /** The splice that writes the index, or before which one that changes it belongs. */
  splice = 0
  /** The bytes of an index that goes out as it came; empty: a splice writes it. */
  start = 0
  end = 0
}

/** The fragments of calls in an event, in order. The objects are used again for the next event. */
export class FoundFragments {
  count = 0
  readonly #all: FoundFragment[] = []

  /** Objects of an event with very many are let go. */
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

  /** Those from `from` on belong to a choice. */
  belong(from: number, choice: number): void {
    for (let nth = from; nth < this.count; nth++) this.at(nth).choice = choice
  }

  at(nth: number): FoundFragment {
    const fragment = this.#all[nth]
    if (fragment === undefined) throw new Error(`there is no fragment ${nth}`)
    return fragment
  }
}

class NativeCall implements NamedCall {
  index: number | null = null
  id: string | null = null
  name: string | null = null
  readonly nth: number
  /** The index with which its fragments go out. */
  readonly shown: number

  constructor(nth: number, shown: number) {
    this.nth = nth
    this.shown = shown
  }
}

/** The calls of one choice. */
class ChoiceCalls {
  readonly #known = new KnownCalls<NativeCall>()
  readonly #shown = new Set<number>()
  #count = 0
  /** Above all that are in use. */
  #free = 0

  /** @returns the index with which the fragment goes out; null: there are too many calls */
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
 * The calls of a stream that passes as its bytes came. Clients put the fragments of one index together, and
 * refuse one without: so a call goes out with the next free index where the provider gives it none, or that of
 * another call, and its later fragments follow it. D23.
 */
export class NativeCalls {
  /** By the index of the choice. */
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
