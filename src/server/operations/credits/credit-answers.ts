import type { CreditTotals } from '../../../schemas/credits.ts'
import { usdOfNano } from '../../../schemas/usd.ts'
import type { CreditState } from '../../ports/credits.ts'

/** B2.10. */
export function creditTotals({ creditNano, usedNano, lentNano, isUnlimited, isEffective }: CreditState): CreditTotals {
  return {
    total_credits: usdOfNano(creditNano),
    total_usage: usdOfNano(usedNano),
    is_unlimited: isUnlimited,
    remaining: isUnlimited ? null : usdOfNano(creditNano - usedNano),
    lent: usdOfNano(lentNano),
    effective: isEffective ? 'now' : 'pending',
  }
}
