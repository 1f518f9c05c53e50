import { OrganizationQuery } from '../../../schemas/operator/caps.ts'
import { CreditsAnswer, type CreditTotals } from '../../../schemas/money/credits.ts'
import { ok } from '../../../schemas/failures.ts'
import { defineOperation } from '../define.ts'
import { readableOf } from '../named-organization.ts'
import type { CreditState } from '../../ports/money/credits.ts'
import { usdOfNano } from '../../../schemas/money/costs.ts'

/** Reads an organization's credit and spend. Source: B2.10, C14, C32. */
export const getCredits = defineOperation({
  id: 'credits.get',
  method: 'get',
  path: '/credits',
  tag: 'credits',
  summary: "Get the organization's credit and spend",
  description: "Keys of the operator's organization may name another organization.",
  input: { query: OrganizationQuery },
  success: { status: 200, body: CreditsAnswer },
  statuses: [400, 403, 500],
  failures: ['query_invalid', 'operator_only', 'organization_unknown', 'store_unavailable'],
  example: { query: {} },
  async run(call, ports) {
    const target = await readableOf(call.key.organizationId, call.query.organization_id, ports)
    if (!target.ok) return target
    const found = await ports.credits.get(target.value)
    return found.ok ? ok({ kind: 'json', value: { data: creditTotals(found.value) } }) : found
  },
})

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
