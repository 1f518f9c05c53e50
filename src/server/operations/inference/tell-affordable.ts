import type { Failure } from '../../../schemas/failures.ts'
import type { InferencePlan } from '../../ports/inference/inference.ts'

/**
 * A refusal for want of money with the most tokens of an answer that there is money for, as
 * `affordable_output_tokens`: the caller can ask for so many. Other failures are as they were. D25.
 * @param defaultTokens that stood for the maximum which the request lacks; null: it has one, or there is none
 */
export function tellAffordable(
  failure: Failure,
  plan: Pick<InferencePlan, 'affordableTokens'>,
  defaultTokens: number | null,
): Failure {
  const available = failure.fields?.['availableNano']
  if (typeof available !== 'number') return failure
  const tokens = plan.affordableTokens(available)
  if (tokens === null) return failure
  const byDefault = defaultTokens === null ? null : { default_max_output_tokens: defaultTokens }
  return { ...failure, metadata: { ...failure.metadata, affordable_output_tokens: tokens, ...byDefault } }
}
