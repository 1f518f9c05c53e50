import { createHash, randomUUID } from 'node:crypto'

/** Hex characters of the hash in an id. */
const HASH_CHARS = 16

export interface UnnamedCall {
  /** Calls of the answer before it. */
  readonly nth: number
  readonly name: string
  /** The provider's id of the answer; null: it has told none so far. */
  readonly answerId: string | null
}

/** Ids for the calls of one answer whose provider gives none. Those of one conversation are never the same. */
export class MadeCallIds {
  #seed: string | null = null

  of({ nth, name, answerId }: UnnamedCall): string {
    this.#seed ??= answerId ?? randomUUID()
    const hash = createHash('sha256').update(JSON.stringify([this.#seed, nth, name]))
    return `call_${nth}_${hash.digest('hex').slice(0, HASH_CHARS)}`
  }
}
