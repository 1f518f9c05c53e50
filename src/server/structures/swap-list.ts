export interface Listed {
  /** The member's index in the list; -1 outside. Only the list writes it. */
  place: number
}

/**
 * All members that are open now, in no order. A Set is not suitable: when thousands of members a second are added and
 * removed, it keeps rebuilding its table in the old generation, and the objects that dead tables point to survive every
 * scavenge.
 */
export class SwapList<T extends Listed> {
  readonly #members: T[] = []

  get size(): number {
    return this.#members.length
  }

  add(member: T): void {
    member.place = this.#members.push(member) - 1
  }

  /** A second call does nothing. */
  delete(member: T): void {
    const { place } = member
    if (place === -1) return
    member.place = -1
    const last = this.#members.pop()
    if (last === undefined || last === member) return
    this.#members[place] = last
    last.place = place
  }

  /**
   * Visits every member once, also while the visit removes members. The loop runs backwards because the last
   * member replaces a removed one.
   */
  each(look: (member: T) => void): void {
    for (let at = this.#members.length - 1; at >= 0; at--) {
      const member = this.#members[at]
      if (member !== undefined) look(member)
    }
  }

  /** A copy: the caller may close and remove members while it iterates. */
  list(): readonly T[] {
    return [...this.#members]
  }
}

/**
 * Waiting items. Workspaces take turns, each with its oldest item: a workspace with thousands of items does
 * not keep the others waiting.
 */
export class FairQueue<T extends { readonly workspaceId: string }> {
  /** In the order of the workspaces' next turns. */
  readonly #queues = new Map<string, Queue<T>>()
  #size = 0

  get size(): number {
    return this.#size
  }

  push(item: T): void {
    const queue = this.#queues.get(item.workspaceId)
    if (queue === undefined) this.#queues.set(item.workspaceId, { items: [item], at: 0 })
    else queue.items.push(item)
    this.#size++
  }

  shift(): T | null {
    for (const [workspaceId, queue] of this.#queues) {
      const item = queue.items[queue.at++]
      this.#queues.delete(workspaceId)
      if (item === undefined) continue
      if (queue.at < queue.items.length) this.#queues.set(workspaceId, compact(queue))
      this.#size--
      return item
    }
    return null
  }
}

interface Queue<T> {
  readonly items: T[]
  at: number
}

/** Number of items taken from a queue before the queue is copied without them. */
const TAKEN_MAX = 256

function compact<T>(queue: Queue<T>): Queue<T> {
  return queue.at < TAKEN_MAX ? queue : { items: queue.items.slice(queue.at), at: 0 }
}
