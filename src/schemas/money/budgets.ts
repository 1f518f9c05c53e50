import Type, { type Static } from 'typebox'
import { USD_MAX } from './money-limits.ts'

/** Intervals of a budget, the shortest first; `lifetime` never resets. */
export const BUDGET_INTERVALS = ['daily', 'weekly', 'monthly', 'lifetime'] as const
export type BudgetInterval = (typeof BUDGET_INTERVALS)[number]

/** USD of one nano-USD, the unit of budgets. */
const USD_MIN = 1e-9

const WorkspaceRef = Type.String({ minLength: 1, description: 'UUID or slug of the workspace.' })

export const BudgetsParams = Type.Object({ workspace_ref: WorkspaceRef })
/** Parameters of a single budget. §4.12. */
export const BudgetParams = Type.Object({
  workspace_ref: WorkspaceRef,
  interval: Type.Enum(BUDGET_INTERVALS),
})

/** Body of PUT /workspaces/{workspace_ref}/budgets/{interval}. Other members are ignored. */
export const BudgetBody = Type.Object({
  limit_usd: Type.Number({
    minimum: USD_MIN,
    maximum: USD_MAX,
    description: 'Limit in USD, above 0; rounded to the nearest nano-USD.',
  }),
  include_byok_in_budgets: Type.Optional(
    Type.Boolean({
      description:
        "Whether calls with the workspace's own provider keys count against all its budgets; if absent, the setting does not change.",
    }),
  ),
})
export type BudgetBody = Static<typeof BudgetBody>

/** Whether a limit already applies. */
export const Effective = Type.Enum(['now', 'pending'], {
  description:
    'Sluice extension: `now` when the limit is in force; `pending` while a process that serves calls ' +
    'has not applied the limit, or calls admitted earlier may still exceed it.',
})
export type Effective = Static<typeof Effective>

const Instant = Type.String({ format: 'date-time' })

/** §2.11, with four fields added by Sluice. */
export const Budget = Type.Object({
  id: Type.String({ format: 'uuid' }),
  workspace_id: Type.String({ format: 'uuid' }),
  limit_usd: Type.Number(),
  reset_interval: Type.Enum(BUDGET_INTERVALS),
  created_at: Instant,
  updated_at: Instant,
  effective: Effective,
  spent_usd: Type.Number({
    description: 'Sluice extension: USD that count against the limit in this window.',
  }),
  lent_usd: Type.Number({
    description:
      'Sluice extension: USD reserved for calls by the processes of Sluice; unused USD are released.',
  }),
  resets_at: Type.Union([Instant, Type.Null()], {
    description: 'Sluice extension: start of the next window, UTC.',
  }),
})
export type Budget = Static<typeof Budget>

const Byok = Type.Boolean({
  description: "Whether calls with the workspace's own provider keys count against its budgets.",
})

export const BudgetAnswer = Type.Object({ data: Budget, include_byok_in_budgets: Byok })
export const BudgetListAnswer = Type.Object({ data: Type.Array(Budget), include_byok_in_budgets: Byok })
export const BudgetDeletedAnswer = Type.Object({ deleted: Type.Literal(true) })
