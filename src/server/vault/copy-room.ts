import { SECRETS_COPIED_MAX } from '../../schemas/limits.ts'

/**
 * Secrets that copies of one process hold at once: as many as the largest copy has. A hundred of the longest are 26 MiB,
 * and two dozen of those at once take every connection and 600 MiB. Decision.
 */
const COPIED_AT_ONCE_MAX = SECRETS_COPIED_MAX

/** Copies of one process that wait for their turn, of all and of one workspace, and milliseconds of one wait; `busy` beyond. Decision. */
export const COPIES_WAITING_MAX = 64
export const COPIES_WAITING_WORKSPACE_MAX = 16
export const COPY_WAIT_MS_MAX = 5_000

interface Waiting {
  readonly workspaceId: string
  readonly count: number
  readonly enter: () => void
}

/** Lets copies in, in the order in which they came, while what they hold together fits. */
export class CopyRoom {
  readonly #waitMs: number
  readonly #waiting = new Set<Waiting>()
  #left = COPIED_AT_ONCE_MAX

  /** @param waitMs of one wait, at most */
  constructor(waitMs = COPY_WAIT_MS_MAX) {
    this.#waitMs = waitMs
  }

  /** @param count secrets of the copy. @returns null when it had no turn: too many wait, or it waited too long */
  async within<T>(workspaceId: string, count: number, copy: () => Promise<T>): Promise<T | null> {
    if (!(await this.#turn(workspaceId, count))) return null
    try {
      return await copy()
    } finally {
      this.#left += count
      this.#letIn()
    }
  }

  #turn(workspaceId: string, count: number): boolean | Promise<boolean> {
    if (this.#waiting.size === 0 && count <= this.#left) {
      this.#left -= count
      return true
    }
    const ofWorkspace = [...this.#waiting].filter((other) => other.workspaceId === workspaceId).length
    if (this.#waiting.size >= COPIES_WAITING_MAX || ofWorkspace >= COPIES_WAITING_WORKSPACE_MAX) return false
    return new Promise((resolve) => {
      const leave = (hasTurn: boolean): void => {
        clearTimeout(timer)
        this.#waiting.delete(waiting)
        resolve(hasTurn)
      }
      const waiting = { workspaceId, count, enter: () => leave(true) }
      const timer = setTimeout(() => {
        leave(false)
        this.#letIn()
      }, this.#waitMs)
      this.#waiting.add(waiting)
    })
  }

  #letIn(): void {
    for (const waiting of this.#waiting) {
      if (waiting.count > this.#left) return
      this.#left -= waiting.count
      waiting.enter()
    }
  }
}
