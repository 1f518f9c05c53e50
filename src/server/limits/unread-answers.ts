import { UNREAD_ANSWERS_BYTES_MAX } from '../../schemas/limits/share-limits.ts'

/**
 * Bytes of answers that callers have not read yet, by organization. What a socket takes at once never counts
 * here, so that whoever reads has no limit; those who do not would fill the memory of a front, an answer for
 * each connection.
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

  /**
   * @param organizationId null: of a call without a key. @returns what gives the bytes back, however often it
   * is called
   */
  hold(organizationId: string | null, bytes: number): () => void {
    const holder = organizationId ?? ''
    let held = bytes
    this.#held.set(holder, (this.#held.get(holder) ?? 0) + bytes)
    return () => {
      const left = (this.#held.get(holder) ?? 0) - held
      held = 0
      if (left > 0) this.#held.set(holder, left)
      else this.#held.delete(holder)
    }
  }
}
