import { randomBytes } from 'node:crypto'
import { ownRequestId, requestIdPrefix } from '../../../schemas/requests/request-id.ts'

/** Creates ids that are unique over all processes: 60 random bits and a count. C12. */
export class RequestIds {
  readonly #prefix = requestIdPrefix(randomBytes(8).readBigUInt64BE() >> 4n)
  #count = 0

  next(): string {
    return ownRequestId(this.#prefix, this.#count++)
  }
}
