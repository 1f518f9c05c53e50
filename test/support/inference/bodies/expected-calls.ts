/** The index with which each fragment of a call goes out, by a search through all that came before it. */

interface Call {
  readonly shown: number
  readonly order: number
  index: number | null
  id: string | null
  isNamed: boolean
  /** Of the last fragment of it that had this index. */
  readonly indexedAt: Map<number, number>
}

interface Fragment {
  readonly index: number | null
  readonly id: string
  readonly isNamed: boolean
}

/** The calls of one stream, by choice. */
export class ExpectedCalls {
  readonly #choices = new Map<number, { calls: Call[]; last: Call | null; clock: number }>()

  shownOf(choice: number, fragment: Fragment): number {
    const state = this.#choices.get(choice) ?? { calls: [], last: null, clock: 0 }
    this.#choices.set(choice, state)
    const { calls } = state
    const { index, id, isNamed } = fragment
    const at = ofIndex(calls, index)
    const call = found(calls, { fragment, at, last: state.last }) ?? begun(calls, index)
    if (!calls.includes(call)) calls.push(call)
    state.last = call
    state.clock++
    if (isNamed) call.isNamed = true
    if (id !== '') call.id ??= id
    if (index !== null) {
      call.index ??= index
      call.indexedAt.set(index, state.clock)
    } else if (ofIndex(calls, call.order) === null) call.indexedAt.set(call.order, state.clock)
    return call.shown
  }
}

/** Null: none had this index. */
function ofIndex(calls: readonly Call[], index: number | null): Call | null {
  if (index === null) return null
  const all = calls.filter(({ indexedAt }) => indexedAt.has(index))
  return all.sort((a, b) => (b.indexedAt.get(index) ?? 0) - (a.indexedAt.get(index) ?? 0))[0] ?? null
}

function found(
  calls: readonly Call[],
  { fragment, at, last }: { fragment: Fragment; at: Call | null; last: Call | null },
): Call | null {
  const { index, id, isNamed } = fragment
  const same = calls.find((call) => id !== '' && call.id === id)
  if (same !== undefined) return same
  if (index === null) {
    if (last === null || (id !== '' && last.id !== null)) return null
    return isNamed && last.isNamed && (id === '' || last.id !== null) ? null : last
  }
  if (at !== null) return isNamed && at.isNamed && id !== '' && at.id !== null ? null : at
  if (last === null || last.index !== null) return null
  return (isNamed && last.isNamed) || (id !== '' && last.id !== null) ? null : last
}

function begun(calls: readonly Call[], index: number | null): Call {
  const used = calls.map(({ shown }) => shown)
  const shown = index !== null && !used.includes(index) ? index : Math.max(-1, ...used) + 1
  return { shown, order: calls.length, index: null, id: null, isNamed: false, indexedAt: new Map() }
}
