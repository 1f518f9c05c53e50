import Type, { type Static } from 'typebox'
import { Effective } from './budgets.ts'
import { OrganizationId } from '../operator/caps.ts'
import { CREDIT_NOTE_CHARS_MAX, USD_MAX } from './money-limits.ts'

/** Credit and usage of an organization. B2.10 defines the first two. */
const totals = {
  total_credits: Type.Number({ description: 'Sum of all entries in USD; 0 until the first top-up.' }),
  total_usage: Type.Number({
    description: "USD spent by calls, excluding calls made with workspaces' own provider keys.",
  }),
  is_unlimited: Type.Boolean({
    description: 'Sluice extension: true while the credit is unlimited, which it is until the first top-up.',
  }),
  remaining: Type.Union([Type.Number(), Type.Null()], {
    description:
      'Sluice extension: remaining USD, including amounts reserved for calls; null while the credit is unlimited.',
  }),
  lent: Type.Number({
    description:
      'Sluice extension: USD reserved for calls by the processes of Sluice; unused USD are released.',
  }),
  effective: Effective,
}
const Totals = Type.Object(totals)
export type CreditTotals = Static<typeof Totals>

/** Kinds of entries; `opening` is the spend before the first top-up. */
export const CREDIT_KINDS = ['opening', 'top_up', 'correction'] as const
export type CreditKind = (typeof CREDIT_KINDS)[number]

const Added = Type.Object({
  id: Type.String({ format: 'uuid' }),
  kind: Type.Enum(CREDIT_KINDS),
  amount_usd: Type.Number(),
  note: Type.String(),
  created_at: Type.String({ format: 'date-time' }),
  ...totals,
})

/** Body of POST /credits. Other members are ignored. */
export const CreditBody = Type.Object({
  organization_id: Type.Optional(OrganizationId),
  amount_usd: Type.Number({
    minimum: -USD_MAX,
    maximum: USD_MAX,
    description:
      'Amount in USD, rounded to the nearest nano-USD; must not be 0. A negative amount is a correction and requires a note.',
  }),
  note: Type.Optional(
    Type.String({
      maxLength: CREDIT_NOTE_CHARS_MAX,
      pattern: '^[^\\u0000]*$',
      title: `a string of at most ${CREDIT_NOTE_CHARS_MAX} characters without U+0000`,
    }),
  ),
})
export type CreditBody = Static<typeof CreditBody>

export const CreditsAnswer = Type.Object({ data: Totals })
export const CreditAddedAnswer = Type.Object({ data: Added })
