import type { Outcome } from '../../src/schemas/failures.ts'

/** The value of a step that only prepares a test: a failure ends the test. */
export function must<T>(outcome: Outcome<T>): T {
  if (outcome.ok) return outcome.value
  throw new Error(`the preparation failed: ${outcome.failure.name}`, { cause: outcome.failure.cause })
}

export function present<T>(value: T | null | undefined): T {
  if (value === null || value === undefined) throw new Error('the preparation found nothing')
  return value
}

/** What was read; null: it could not be. */
export function orNull<T>(read: { readonly ok: true; readonly value: T } | { readonly ok: false }): T | null {
  return read.ok ? read.value : null
}
