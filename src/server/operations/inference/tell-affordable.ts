import type { Failure } from '../../../schemas/failures.ts'
import { withAffordable, type RefusedTokens } from '../../../schemas/money/money-refusals.ts'
import type { InferencePlan } from '../../ports/inference/inference.ts'

/**
 * A refusal for want of money with the most tokens of an answer that there is money for, as
 * `affordable_output_tokens` and in its text. Other failures are as they were. D25.
 */
export function tellAffordable(
  failure: Failure,
  plan: Pick<InferencePlan, 'affordableTokens'>,
  tokens: Omit<RefusedTokens, 'affordable'>,
): Failure {
  const available = failure.fields?.['availableNano']
  if (typeof available !== 'number') return failure
  const affordable = plan.affordableTokens(available)
  return affordable === null ? failure : withAffordable(failure, available, { ...tokens, affordable })
}
