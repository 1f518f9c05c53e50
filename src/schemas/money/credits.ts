import Type, { type Static } from 'typebox'
import { Effective } from './budgets.ts'
import { OrganizationId } from '../operator/caps.ts'
import { CREDIT_NOTE_CHARS_MAX, USD_MAX } from './money-limits.ts'

/** Credit and usage of an organization. B2.10 defines the first two. */
const totals = {
  total_credits: Type.Number({ description: 'USD of all entries; 0 until the first top-up.' }),
  total_usage: Type.Number({
    description: 'USD that calls have cost, those by credentials of workspaces left out.',
  }),
  is_unlimited: Type.Boolean({ description: 'Our extension: true until the first top-up.' }),
  remaining: Type.Union([Type.Number(), Type.Null()], {
    description:
      'Our extension: credits less usage, with what fronts hold to spend; null while it is unlimited.',
  }),
  lent: Type.Number({
    description: 'Our extension: what fronts hold to spend; what they do not need comes back.',
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

/** Body of POST /credits. Other members are ignored. C25. */
export const CreditBody = Type.Object({
  organization_id: Type.Optional(OrganizationId),
  amount_usd: Type.Number({
    minimum: -USD_MAX,
    maximum: USD_MAX,
    description: 'Rounded to the nearest nano-USD, and then not 0. Below 0 it corrects, and needs a note.',
  }),
  note: Type.Optional(
    Type.String({
      maxLength: CREDIT_NOTE_CHARS_MAX,
      pattern: '^[^\\u0000]*$',
      title: `string of at most ${CREDIT_NOTE_CHARS_MAX} characters without U+0000`,
    }),
  ),
})
export type CreditBody = Static<typeof CreditBody>

export const CreditsAnswer = Type.Object({ data: Totals })
export const CreditAddedAnswer = Type.Object({ data: Added })
