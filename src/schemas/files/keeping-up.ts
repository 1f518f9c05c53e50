import { KEEPING_UP_MS } from './file-limits.ts'
import { MIB } from '../limits/limits.ts'

/**
 * Bytes that a reader must have taken to count as keeping up, each piece within KEEPING_UP_MS: sockets take
 * the first megabytes of a slow reader as quickly. Decision.
 */
export const KEEPING_UP_BYTES = 4 * MIB

/** Whether the reader of a download works off its pieces in time: then larger pieces cost less CPU. */
export class KeepingUp {
  readonly #now: () => number
  #givenAtMs = 0
  #givenBytes = 0
  /** Bytes in a row that the reader worked off in time. */
  #keptUpBytes = 0

  /** @param now milliseconds */
  constructor(now: () => number) {
    this.#now = now
  }

  /** The reader gets a piece. */
  given(bytes: number): void {
    this.#givenAtMs = this.#now()
    this.#givenBytes = bytes
  }

  /** The reader has finished the piece. */
  finished(): void {
    const tookMs = this.#now() - this.#givenAtMs
    this.#keptUpBytes = tookMs <= KEEPING_UP_MS ? this.#keptUpBytes + this.#givenBytes : 0
  }

  get isSteady(): boolean {
    return this.#keptUpBytes >= KEEPING_UP_BYTES
  }
}
