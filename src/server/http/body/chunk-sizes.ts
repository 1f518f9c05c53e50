import { TINY_CHUNK_BYTES } from '../../../schemas/limits/limits.ts'

/**
 * Counts the chunks of a body. The library passes each chunk in a call of its own, so that many tiny chunks
 * cost the loop a hundred times as much as their bytes.
 */
export class ChunkSizes {
  readonly #countMax: number
  #count = 0
  #bytes = 0

  /** @param countMax chunks whose size does not matter */
  constructor(countMax: number) {
    this.#countMax = countMax
  }

  /** @returns false when there are too many chunks with less than TINY_CHUNK_BYTES on average */
  add(bytes: number): boolean {
    this.#count++
    this.#bytes += bytes
    return this.#count <= this.#countMax || this.#bytes >= this.#count * TINY_CHUNK_BYTES
  }
}
