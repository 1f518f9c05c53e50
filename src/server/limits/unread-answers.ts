import { UNREAD_ANSWERS_BYTES_MAX } from '../../schemas/limits.ts'

/**
 * Bytes of answers that callers have not read yet, by organization. What a socket takes at once never counts here, so that
 * whoever reads has no limit; those who do not would fill the memory of a front, an answer for each connection.
 */
export class UnreadAnswers {
  readonly #bytesMax: number
  readonly #held = new Map<string, number>()

  constructor(bytesMax = UNREAD_ANSWERS_BYTES_MAX) {
    this.#bytesMax = bytesMax
  }

  hasRoom(organizationId: string): boolean {
    return (this.#held.get(organizationId) ?? 0) < this.#bytesMax
  }

  /** @returns what gives the bytes back, to be called once */
  hold(organizationId: string, bytes: number): () => void {
    this.#held.set(organizationId, (this.#held.get(organizationId) ?? 0) + bytes)
    return () => {
      const left = (this.#held.get(organizationId) ?? 0) - bytes
      if (left > 0) this.#held.set(organizationId, left)
      else this.#held.delete(organizationId)
    }
  }
}
