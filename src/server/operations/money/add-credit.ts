import { OrganizationQuery } from '../../../schemas/operator/caps.ts'
import { CreditAddedAnswer, type CreditBody } from '../../../schemas/money/credits.ts'
import { fail, ok, type Outcome } from '../../../schemas/failures.ts'
import { actorOf, defineOperation } from '../define.ts'
import { namedOrganization } from '../named-organization.ts'
import { nanoOfUsd, usdOfNano } from '../../../schemas/money/costs.ts'
import { creditTotals } from './get-credits.ts'

/** Books a top-up of the organization's credit, or a correction. Source: an extension of Sluice; C14, C16. */
export const addCredit = defineOperation({
  id: 'credits.add',
  method: 'post',
  path: '/credits',
  tag: 'credits',
  summary: 'Add credit',
  description:
    'Credit is unlimited until the first top-up. Earlier spending becomes part of `total_credits`, so the whole ' +
    "top-up can be spent. Only keys of the operator's organization may add credit.",
  idempotent: true,
  input: { query: OrganizationQuery, body: 'credit' },
  success: { status: 200, body: CreditAddedAnswer },
  statuses: [400, 403, 500],
  failures: [
    'operator_only',
    'organization_unknown',
    'body_invalid',
    'query_invalid',
    'credit_out_of_range',
    'idempotency_mismatch',
    'store_unavailable',
  ],
  example: { query: {}, body: { amount_usd: 500, note: 'invoice 2026-031' } },
  async run(call, ports) {
    const { note = '' } = call.body
    const amount = amountOf(call.body)
    if (!amount.ok) return amount
    const named = namedOrganization(call.query, call.body)
    if (!named.ok) return named
    const target = await ports.operators.targetOf(call.key.organizationId, named.value)
    if (!target.ok) return target
    const request = { organizationId: target.value, amountNano: amount.value, note, claim: call.claim }
    const booked = await ports.credits.add(request, actorOf(call))
    if (!booked.ok) return booked
    const { entry, state } = booked.value
    const rendered = {
      id: entry.id,
      kind: entry.kind,
      amount_usd: usdOfNano(entry.amountNano),
      note: entry.note,
      created_at: entry.createdAt.toISOString(),
    }
    return ok({ kind: 'json', value: { data: { ...rendered, ...creditTotals(state) } } })
  },
})

function amountOf({ amount_usd: usd, note = '' }: CreditBody): Outcome<bigint> {
  const nano = nanoOfUsd(usd)
  if (nano === null || nano === 0n) return invalid('/amount_usd', 'is zero', 'at least 0.000000001 USD')
  if (nano < 0n && note.trim() === '')
    return invalid('/note', 'is missing', 'a reason for the negative amount')
  return ok(nano)
}

function invalid(path: string, message: string, expected: string): Outcome<never> {
  return fail('body_invalid', { metadata: { issues: [{ path, message, expected }] } })
}
