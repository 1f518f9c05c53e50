import { UNREAD_ANSWERS_BYTES_MAX } from '../../schemas/limits/share-limits.ts'

/**
 * Bytes of answers that clients have not read yet, by organization. Bytes that a socket takes at once never
 * count here, so that clients that read have no limit. Without the count, clients that do not read would fill
 * the memory of a front, with an answer for each connection.
 */
export class UnreadAnswers {
  readonly #bytesMax: number
  readonly #held = new Map<string, number>()
  #bytes = 0

  constructor(bytesMax = UNREAD_ANSWERS_BYTES_MAX) {
    this.#bytesMax = bytesMax
  }

  /** Of all organizations. */
  get bytes(): number {
    return this.#bytes
  }

  hasRoom(organizationId: string): boolean {
    return (this.#held.get(organizationId) ?? 0) < this.#bytesMax
  }

  /**
   * @param organizationId null: of a call without a key
   * @returns a function that gives the bytes back; it may be called repeatedly
   */
  hold(organizationId: string | null, bytes: number): () => void {
    const holder = organizationId ?? ''
    let held = bytes
    this.#bytes += bytes
    this.#held.set(holder, (this.#held.get(holder) ?? 0) + bytes)
    return () => {
      const left = (this.#held.get(holder) ?? 0) - held
      this.#bytes -= held
      held = 0
      if (left > 0) this.#held.set(holder, left)
      else this.#held.delete(holder)
    }
  }
}
