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

/** Items already taken from a queue before the queue is copied without them. */
const TAKEN_MAX = 256

function compact<T>(queue: Queue<T>): Queue<T> {
  return queue.at < TAKEN_MAX ? queue : { items: queue.items.slice(queue.at), at: 0 }
}
