import { SESSION_TURN_MS } from '../../schemas/files/file-limits.ts'

/** Does one slice of work. @returns whether there is more work now */
export type Step = () => boolean

/**
 * The sessions of a thread take turns, one slice each, and every SESSION_TURN_MS the thread reads its
 * messages: so a busy session delays neither the others nor the answer to a ping. Design §5.
 */
export class TimeSlices {
  readonly #waiting = new Set<Step>()
  #isDue = false

  /** Harmless for a step that waits already. A step that throws is not called again, and does not delay the others. */
  ask(step: Step): void {
    this.#waiting.add(step)
    if (this.#isDue) return
    this.#isDue = true
    setImmediate(() => this.#run())
  }

  #run(): void {
    this.#isDue = false
    const endMs = performance.now() + SESSION_TURN_MS
    // A set yields a member that is added again during the iteration once more, at its end.
    for (const step of this.#waiting) {
      this.#waiting.delete(step)
      if (step()) this.ask(step)
      if (performance.now() >= endMs) break
    }
    const [next] = this.#waiting
    if (next !== undefined) this.ask(next)
  }
}
