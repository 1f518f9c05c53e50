import type { UploadInput } from '../../ports/files/files.ts'

/**
 * Calls of one front that wait for quota or for an earlier call. Uploads and all other calls are counted
 * separately. Decision.
 */
export const WAITING_UPLOADS_MAX = 256
/** Calls of one workspace in one front that wait for quota or for an earlier call. Decision. */
export const WAITING_WORKSPACE_UPLOADS_MAX = 64
/** Calls of one front that wait with the same `Idempotency-Key`. Decision. */
export const WAITING_REPEATS_MAX = 16

export interface Waiter {
  /** Has no effect for a call that already waits. @returns false when too many calls wait, in total or of the same kind */
  enter(): boolean
  /** Has no effect for a call that does not wait. */
  leave(): void
}

/**
 * Calls that wait to begin, or for their path. Their number is limited because each keeps one read of its body
 * in memory and queries the store repeatedly.
 */
export class Waiters {
  #count = 0
  readonly #named = new Map<string, number>()

  waiter({ workspaceId, idempotency }: Pick<UploadInput, 'workspaceId' | 'idempotency'>): Waiter {
    const names = [{ name: `workspace ${workspaceId}`, most: WAITING_WORKSPACE_UPLOADS_MAX }]
    if (idempotency !== null)
      names.push({ name: `call ${idempotency.apiKeyHash} ${idempotency.key}`, most: WAITING_REPEATS_MAX })
    let isWaiting = false
    return {
      enter: () => {
        isWaiting ||= this.#hasRoom(names) && this.#add(names, 1)
        return isWaiting
      },
      leave: () => {
        if (isWaiting) this.#add(names, -1)
        isWaiting = false
      },
    }
  }

  #hasRoom(names: readonly Named[]): boolean {
    return (
      this.#count < WAITING_UPLOADS_MAX &&
      names.every(({ name, most }) => (this.#named.get(name) ?? 0) < most)
    )
  }

  #add(names: readonly Named[], step: 1 | -1): true {
    this.#count += step
    for (const { name } of names) {
      const count = (this.#named.get(name) ?? 0) + step
      if (count > 0) this.#named.set(name, count)
      else this.#named.delete(name)
    }
    return true
  }
}

interface Named {
  readonly name: string
  readonly most: number
}
