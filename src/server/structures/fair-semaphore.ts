import { fail, type Outcome } from '../../schemas/failures.ts'

export interface FairSemaphoreOptions {
  /** Sum of the weights of all pieces of work that may run at once. */
  readonly places: number
  /** Pieces of work that may wait, in all workspaces together. */
  readonly waitingMax: number
  /** Pieces of work of a workspace that may wait. */
  readonly waitingOfOneMax: number
  /** Milliseconds that a piece of work waits at most. */
  readonly waitMs: number
}

interface Waiting {
  readonly weight: number
  readonly enter: () => void
}

/**
 * Lets pieces of work run while the sum of their weights fits. Workspaces with waiting work take turns, each
 * with its oldest: a workspace that floods the semaphore waits for itself. Failure: busy, when too many
 * pieces of work wait already or the wait takes too long.
 */
export class FairSemaphore {
  readonly #options: FairSemaphoreOptions
  /** By workspace, in the order of their turns. No set is empty. */
  readonly #waiting = new Map<string, Set<Waiting>>()
  #waitingCount = 0
  #left: number

  constructor(options: FairSemaphoreOptions) {
    this.#options = options
    this.#left = options.places
  }

  /** @param weight at most `places` */
  async within<T>(
    { workspaceId, weight }: { readonly workspaceId: string; readonly weight: number },
    work: () => Promise<Outcome<T>>,
  ): Promise<Outcome<T>> {
    if (!(await this.#turn(workspaceId, weight))) return fail('busy', { retryAfterS: 1 })
    try {
      return await work()
    } finally {
      this.#left += weight
      this.#letIn()
    }
  }

  #turn(workspaceId: string, weight: number): boolean | Promise<boolean> {
    const { waitingMax, waitingOfOneMax, waitMs } = this.#options
    if (this.#waitingCount === 0 && weight <= this.#left) {
      this.#left -= weight
      return true
    }
    const own = this.#waiting.get(workspaceId) ?? new Set()
    if (this.#waitingCount >= waitingMax || own.size >= waitingOfOneMax) return false
    return new Promise((resolve) => {
      const leave = (hasTurn: boolean): void => {
        clearTimeout(timer)
        this.#remove(workspaceId, waiting)
        resolve(hasTurn)
      }
      const waiting = { weight, enter: () => leave(true) }
      const timer = setTimeout(() => {
        leave(false)
        this.#letIn()
      }, waitMs)
      this.#waiting.set(workspaceId, own.add(waiting))
      this.#waitingCount++
    })
  }

  /**
   * The next piece of work keeps its turn although it does not fit yet; otherwise the heavy ones would wait
   * forever.
   */
  #letIn(): void {
    for (;;) {
      const [next] = this.#waiting
      const [first] = next?.[1] ?? []
      if (next === undefined || first === undefined || first.weight > this.#left) return
      const [workspaceId, own] = next
      this.#left -= first.weight
      first.enter()
      if (!this.#waiting.delete(workspaceId)) continue
      this.#waiting.set(workspaceId, own)
    }
  }

  #remove(workspaceId: string, waiting: Waiting): void {
    const own = this.#waiting.get(workspaceId)
    own?.delete(waiting)
    if (own?.size === 0) this.#waiting.delete(workspaceId)
    this.#waitingCount--
  }
}
