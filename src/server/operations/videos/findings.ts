import { fail, ok, type Outcome } from '../../../schemas/failures.ts'
import type { Issue } from '../../../schemas/failure-metadata.ts'
import { ISSUES_MAX } from '../../../schemas/limits/limits.ts'

/** Collects the faults of a request for a video, so that a caller reads all of them at once. C13. */
export class Findings {
  /** Faults for every model. */
  readonly #invalid: Issue[] = []
  /** Faults for this model. */
  readonly #unsupported: Issue[] = []

  invalid(path: string, message: string, expected: string): void {
    this.#invalid.push({ path, message, expected })
  }

  unsupported(path: string, message: string, expected: string): void {
    this.#unsupported.push({ path, message, expected })
  }

  /** @param taken null: the catalogue has no list, and every value is accepted */
  among<T extends string | number>(path: string, value: T | undefined, taken: readonly T[] | null): void {
    if (value === undefined || taken === null || taken.includes(value)) return
    this.unsupported(path, 'is not supported by the model', oneOf(taken))
  }

  /** Failures: body_invalid, video_unsupported. */
  outcome<T>(value: T): Outcome<T> {
    const issues = [...this.#invalid, ...this.#unsupported].slice(0, ISSUES_MAX)
    if (issues.length === 0) return ok(value)
    return fail(this.#invalid.length > 0 ? 'body_invalid' : 'video_unsupported', { metadata: { issues } })
  }
}

export function oneOf(values: readonly (string | number)[]): string {
  const words = values.map((value) => JSON.stringify(value)).join(', ')
  return values.length === 0 ? 'nothing' : values.length === 1 ? words : `one of ${words}`
}
