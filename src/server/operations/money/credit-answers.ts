import type { CreditTotals } from '../../../schemas/money/credits.ts'
import type { CreditState } from '../../ports/money/credits.ts'
import { usdOfNano } from '../../../schemas/money/costs.ts'

/** The organization's credit in the form of B2.10. */
export function creditTotals({
  creditNano,
  usedNano,
  lentNano,
  isUnlimited,
  isEffective,
}: CreditState): CreditTotals {
  return {
    total_credits: usdOfNano(creditNano),
    total_usage: usdOfNano(usedNano),
    is_unlimited: isUnlimited,
    remaining: isUnlimited ? null : usdOfNano(creditNano - usedNano),
    lent: usdOfNano(lentNano),
    effective: isEffective ? 'now' : 'pending',
  }
}
