import { KEEPING_UP_MS } from './file-limits.ts'
import { MIB } from '../limits/limits.ts'

/**
 * Bytes that a reader must have taken to count as keeping up, each piece within KEEPING_UP_MS: sockets accept
 * the first megabytes just as quickly when the reader is slow. Decision.
 */
export const KEEPING_UP_BYTES = 4 * MIB

/** Tracks whether the reader of a download takes its pieces in time; if so, larger pieces cost less CPU time. */
export class KeepingUp {
  readonly #now: () => number
  #givenAtMs = 0
  #givenBytes = 0
  /** Consecutive bytes that the reader took in time. */
  #keptUpBytes = 0

  /** @param now milliseconds */
  constructor(now: () => number) {
    this.#now = now
  }

  /** Called when the reader gets a piece. */
  given(bytes: number): void {
    this.#givenAtMs = this.#now()
    this.#givenBytes = bytes
  }

  /** Called when the reader has taken the whole piece. */
  finished(): void {
    const tookMs = this.#now() - this.#givenAtMs
    this.#keptUpBytes = tookMs <= KEEPING_UP_MS ? this.#keptUpBytes + this.#givenBytes : 0
  }

  get isSteady(): boolean {
    return this.#keptUpBytes >= KEEPING_UP_BYTES
  }
}
