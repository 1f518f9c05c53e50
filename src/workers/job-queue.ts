import type { Failure } from '../schemas/failures.ts'

/** Tells a waiting job that a thread is its own (null), or why it gets none. It takes the job out of the queue. */
export type Turn = (refusal: Failure | null) => void

const BUSY: Failure = { name: 'busy', retryAfterS: 1 }

/**
 * Jobs that wait for a thread. Callers come by turns, each with its oldest: one that floods waits for itself. When all
 * places are taken, the caller with the most of them gives way to those who have fewer.
 */
export class JobQueue {
  /** By caller, the next one first; none is empty. */
  readonly #turns = new Map<string, Set<Turn>>()
  readonly #sizeMax: number
  readonly #callerMax: number
  #size = 0

  /** @param limits.callerMax jobs of one caller that may wait */
  constructor({ sizeMax, callerMax }: { readonly sizeMax: number; readonly callerMax: number }) {
    this.#sizeMax = sizeMax
    this.#callerMax = callerMax
  }

  get size(): number {
    return this.#size
  }

  /** Null when there is a place for one more of this caller's, which may cost another caller its last. Failure: busy. */
  makeRoom(caller: string): Failure | null {
    const own = this.#turns.get(caller)?.size ?? 0
    if (own >= this.#callerMax) return BUSY
    if (this.#size < this.#sizeMax) return null
    const most = this.#most()
    // With one more of its own it would be the next to give way.
    if (most.size <= own + 1) return BUSY
    // The youngest: it has waited least for nothing.
    for (const turn of [...most].slice(-1)) turn(BUSY)
    return null
  }

  add(caller: string, turn: Turn): void {
    const own = this.#turns.get(caller)
    if (own === undefined) this.#turns.set(caller, new Set([turn]))
    else own.add(turn)
    this.#size++
  }

  remove(caller: string, turn: Turn): void {
    const own = this.#turns.get(caller)
    if (own?.delete(turn) !== true) return
    this.#size--
    if (own.size === 0) this.#turns.delete(caller)
  }

  /** The job whose turn it is; its caller is the last one then. */
  next(): Turn | null {
    for (const [caller, own] of this.#turns) {
      this.#turns.delete(caller)
      this.#turns.set(caller, own)
      for (const turn of own) return turn
    }
    return null
  }

  /** Tells all that wait that they get no thread. */
  refuse(refusal: Failure): void {
    for (const own of [...this.#turns.values()]) for (const turn of [...own]) turn(refusal)
  }

  #most(): ReadonlySet<Turn> {
    let most: ReadonlySet<Turn> = new Set()
    for (const own of this.#turns.values()) if (own.size > most.size) most = own
    return most
  }
}
