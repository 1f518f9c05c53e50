import { TOOLS_MAX } from '../../../../schemas/inference/inference-limits.ts'

/** Indexes that are kept: of each call its place and its own. Fragments with more than these mean nothing. */
const INDEXES_MAX = 2 * TOOLS_MAX

/** What a fragment of a call says of the call that it belongs to. */
export interface Fragment {
  /** Null: the fragment has none. */
  readonly index: number | null
  /** Empty: the fragment has none. */
  readonly id: string
  /** Empty: the fragment has none. */
  readonly name: string
}

/** A call of a choice, as far as its fragments have named it. */
export interface NamedCall {
  /** Its place among the calls, from 0 on. */
  readonly nth: number
  /** As the provider counts it; null: no fragment had one. */
  index: number | null
  /** Null: it has not come. */
  id: string | null
  /** Null: it has not come. */
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
    // Some servers give each of several calls the same index, or none, but a name and mostly an id of its own.
    const isOther = name !== '' && at.name !== null && (id === '' ? !isIndexed : at.id !== null)
    return isOther || (id !== '' && at.id !== null && !isIndexed) ? null : at
  }

  /** @param call that the fragment begins, or goes on with */
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

  /** The last call, where its fragments had no index until this one, which does not name another call. */
  #awaiting({ id, name }: Fragment): C | null {
    const last = this.#last
    if (last === null || last.index !== null) return null
    const isOther = (name !== '' && last.name !== null) || (id !== '' && last.id !== null)
    return isOther ? null : last
  }
}
