import { randomBytes } from 'node:crypto'

/**
 * Creates ids that are unique over all processes: 60 random bits and a count. 20 characters of `[a-z0-9]`.
 * C12.
 */
export class RequestIds {
  readonly #prefix = (randomBytes(8).readBigUInt64BE() >> 4n).toString(36).padStart(12, '0')
  #count = 0

  next(): string {
    return this.#prefix + (this.#count++).toString(36).padStart(8, '0')
  }
}
