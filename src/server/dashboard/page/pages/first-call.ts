import type { LiveView, OperationView } from '../../../../schemas/operator/live-view.ts'
import { REPEATABLE } from './calls/request-steps.ts'

/** Whether a model was called, and by which operation. */
export type FirstCall =
  | { readonly kind: 'none' }
  | { readonly kind: 'refused'; readonly operation: string }
  /** `operation` is null for a call before the page was there, or at another node. */
  | { readonly kind: 'seen'; readonly operation: string | null }

/** Looks for which a refusal is told: there is one a second. */
const LOOKS_TOLD = 10
/** Calls a second below which a rate is a difference of rounded figures. */
const NO_RATE = 0.01

/**
 * The first call of a model that these looks have.
 * @param looks of the live view, the newest at the end
 * @param hasCalled whether the books have one
 */
export function firstCallOf(looks: readonly LiveView[], hasCalled: boolean): FirstCall {
  const calls = looks.map(({ operations }) => operations.filter(({ operation }) => operation in REPEATABLE))
  const answered = calls.flat().find(isAnswered)
  if (answered !== undefined) return { kind: 'seen', operation: answered.operation }
  if (hasCalled) return { kind: 'seen', operation: null }
  const refused = calls.slice(-LOOKS_TOLD).flat().find(isRefused)
  return refused === undefined ? { kind: 'none' } : { kind: 'refused', operation: refused.operation }
}

function isAnswered(view: OperationView): boolean {
  return view.per_second - view.refused_per_second - view.failed_per_second > NO_RATE
}

function isRefused(view: OperationView): boolean {
  return view.refused_per_second + view.failed_per_second > NO_RATE
}
