import type { Owners } from '../../../support/money/money.ts'
import type { SubmitKind } from '../judging.ts'
import type { Offer } from '../offers.ts'
import type { Died, Fault } from './points.ts'

/**
 * What a process is to do; a line of JSON on its standard input. It has the place of all that as its only
 * argument.
 */
export interface Order {
  readonly run: string
  readonly owners: Owners
  readonly fault: Fault
  readonly wanted: readonly WantedJob[]
}

/** A wanted job, under the same key in each process. */
export interface WantedJob extends Offer {
  readonly kind: SubmitKind
  readonly prompt: string
  /** Of the `Idempotency-Key`. */
  readonly key: string
  /** Milliseconds until it is offered. */
  readonly inMs: number
  /** Milliseconds from its acceptance until it is cancelled; null: never. */
  readonly cancelInMs: number | null
}

/** One line each, before anything else follows. */
export type Answer =
  /** As a 202 gives it. */
  | { readonly what: 'accepted'; readonly run: string; readonly nth: number; readonly id: string }
  /** @param how the answer to the call to cancel */
  | { readonly what: 'cancelled'; readonly run: string; readonly nth: number; readonly how: string }
  | Died
