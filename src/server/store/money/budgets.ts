import { workspaceAccount } from '../../../schemas/money/accounts.ts'
import { fail, ok, type Outcome } from '../../../schemas/failures.ts'
import type { Issue } from '../../../schemas/failure-metadata.ts'
import { LIMITS_APPLIED_WAIT_MS_MAX } from '../../../schemas/money/money-limits.ts'
import type { AuditEvent } from '../../ports/audit/audit.ts'
import type {
  Budget,
  BudgetRef,
  Budgets,
  BudgetInput,
  LimitActor,
  OneBudget,
  WorkspaceRef,
} from '../../ports/money/budgets.ts'
import type { Hints, Invalidation } from '../../ports/keys/keys.ts'
import { SPANS } from '../../ports/money/money.ts'
import {
  bumpLimits,
  countedNano,
  isApplied,
  isWithin,
  putLimit,
  readAccounts,
  type AccountLimit,
  type AccountNow,
} from './account-limits.ts'
import { lockAccounts } from './accounts.ts'
import { appendAudit } from '../base/append-audit.ts'
import type { Queryable, Store, Transaction } from '../base/open.ts'
import { reach } from '../base/translate.ts'
import { resetsAtMs } from './windows.ts'
import { findWorkspace } from '../base/find-workspace.ts'
import { usdOfNano } from '../../../schemas/money/costs.ts'

export interface BudgetDeps {
  readonly store: Store
  /** Informs the fronts immediately; the epoch informs them in any case. */
  readonly hints: Pick<Hints, 'publish'>
  /** Milliseconds that a change waits for the fronts. */
  readonly appliedWaitMs?: number
}

/** Budgets are limits of their workspace's account. */
export function openBudgets({
  store,
  hints,
  appliedWaitMs = LIMITS_APPLIED_WAIT_MS_MAX,
}: BudgetDeps): Budgets {
  const { sql } = store
  return {
    list: (ref) =>
      reach(async () => {
        const place = await find(sql, ref)
        if (!place.ok) return place
        const { account } = place.value
        const areApplied = await isApplied(sql, account.limitsEpoch)
        const budgets = inOrder(account.limits).map((limit) => budgetOf(place.value, limit, areApplied))
        return ok({ budgets, countsByok: account.countsByok })
      }),
    get: (ref) =>
      reach(async () => {
        const place = await find(sql, ref)
        if (!place.ok) return place
        const { account } = place.value
        const limit = account.limits.find(({ span }) => span === ref.span)
        if (limit === undefined) return fail('budget_unknown')
        return ok({
          budget: budgetOf(place.value, limit, await isApplied(sql, account.limitsEpoch)),
          countsByok: account.countsByok,
        })
      }),
    async put(ref, input, by) {
      const changed = await reach(() => sql.begin((tx) => put(tx, { ref, input, by })))
      if (!changed.ok) return changed
      const { change, place, limit } = changed.value
      await hints.publish(change)
      // The budget is committed, regardless of the result of this check.
      const applied = await reach(async () => ok(await isApplied(sql, change.n, appliedWaitMs)))
      return ok<OneBudget>({
        budget: budgetOf(place, limit, applied.ok && applied.value),
        countsByok: place.account.countsByok,
      })
    },
    async remove(ref, by) {
      const removed = await reach(() => sql.begin<Outcome<Invalidation | null>>((tx) => remove(tx, ref, by)))
      if (!removed.ok) return removed
      if (removed.value !== null) await hints.publish(removed.value)
      return ok(null)
    },
  }
}

interface Place {
  readonly workspaceId: string
  readonly account: AccountNow
}

interface Put {
  readonly change: Invalidation
  readonly place: Place
  readonly limit: AccountLimit
}

async function put(
  tx: Transaction,
  { ref, input, by }: { ref: BudgetRef; input: BudgetInput; by: LimitActor },
): Promise<Outcome<Put>> {
  const place = await lock(tx, ref)
  if (!place.ok) return place
  const { account, workspaceId } = place.value
  const issue = disorderOf(account.limits, ref, input)
  if (issue !== null) return fail('budgets_unordered', { metadata: { issues: [issue] } })
  const before = account.limits.find(({ span }) => span === ref.span)
  await putLimit(tx, account.id, { span: ref.span, limitNano: input.limitNano })
  if (input.countsByok !== undefined)
    await tx`UPDATE accounts SET counts_byok = ${input.countsByok} WHERE id = ${account.id}`
  const after = await read(tx, workspaceId)
  const limit = after.limits.find(({ span }) => span === ref.span)
  if (limit === undefined) throw new Error('the budget to change does not exist')
  const change = {
    before: before === undefined ? null : toAudit(account, before),
    after: toAudit(after, limit),
  }
  await appendAudit(tx, budgetEvent(by, place.value, { ...change, budgetId: limit.id }))
  return ok({
    place: { workspaceId, account: after },
    limit,
    change: await bumpLimits(tx, account.id, { kind: 'workspace', id: workspaceId }),
  })
}

async function remove(
  tx: Transaction,
  ref: BudgetRef,
  by: LimitActor,
): Promise<Outcome<Invalidation | null>> {
  const place = await lock(tx, ref)
  if (!place.ok) return place
  const { account, workspaceId } = place.value
  const limit = account.limits.find(({ span }) => span === ref.span)
  if (limit === undefined) return ok(null)
  await tx`DELETE FROM account_limits WHERE account_id = ${account.id} AND span = ${ref.span}`
  await appendAudit(
    tx,
    budgetEvent(by, place.value, { before: toAudit(account, limit), after: null, budgetId: limit.id }),
  )
  return ok(await bumpLimits(tx, account.id, { kind: 'workspace', id: workspaceId }))
}

/**
 * Locks the account before the rows for the check are read: otherwise two concurrent changes could both pass a
 * check that fails after either of them.
 */
async function lock(tx: Transaction, ref: WorkspaceRef): Promise<Outcome<Place>> {
  const workspace = await findWorkspace(tx, ref.workspace, ref.organizationId)
  if (!workspace.ok) return workspace
  const { id } = workspace.value
  await lockAccounts(tx, [workspaceAccount(id)])
  return ok({ workspaceId: id, account: await read(tx, id) })
}

async function find(
  sql: Queryable,
  { workspace: reference, organizationId }: WorkspaceRef,
): Promise<Outcome<Place>> {
  const workspace = await findWorkspace(sql, reference, organizationId)
  if (!workspace.ok) return workspace
  return ok({ workspaceId: workspace.value.id, account: await read(sql, workspace.value.id) })
}

async function read(sql: Queryable, workspaceId: string): Promise<AccountNow> {
  const [account] = await readAccounts(sql, [workspaceAccount(workspaceId)])
  if (account === undefined) throw new Error('a workspace has no account')
  return account
}

/** The first conflict with the required order of limits: lifetime > monthly > weekly > daily. */
function disorderOf(
  limits: readonly AccountLimit[],
  { span }: BudgetRef,
  { limitNano }: BudgetInput,
): Issue | null {
  const rank = SPANS.indexOf(span)
  for (const other of inOrder(limits)) {
    const otherRank = SPANS.indexOf(other.span)
    const usd = usdOfNano(other.limitNano)
    if (otherRank < rank && other.limitNano >= limitNano) {
      return {
        path: '/limit_usd',
        message: `is not above the ${other.span} budget`,
        expected: `more than ${usd}`,
      }
    }
    if (otherRank > rank && other.limitNano <= limitNano) {
      return {
        path: '/limit_usd',
        message: `is not below the ${other.span} budget`,
        expected: `less than ${usd}`,
      }
    }
  }
  return null
}

function inOrder(limits: readonly AccountLimit[]): readonly AccountLimit[] {
  return limits.toSorted((one, other) => SPANS.indexOf(one.span) - SPANS.indexOf(other.span))
}

function budgetOf({ workspaceId, account }: Place, limit: AccountLimit, isAppliedByAll: boolean): Budget {
  const { span } = limit
  const resetsAt = resetsAtMs(span, account.day)
  return {
    id: limit.id,
    workspaceId,
    span,
    limitNano: limit.limitNano,
    spentNano: countedNano(account, span),
    lentNano: account.lent[span],
    resetsAt: resetsAt === null ? null : new Date(resetsAt),
    isEffective: isAppliedByAll && isWithin(account, limit),
    createdAt: limit.createdAt,
    updatedAt: limit.updatedAt,
  }
}

interface BudgetChange {
  readonly budgetId: string
  readonly before: unknown
  readonly after: unknown
}

function budgetEvent(
  by: LimitActor,
  { account, workspaceId }: Place,
  { budgetId, before, after }: BudgetChange,
): AuditEvent {
  return {
    ...by,
    organizationId: account.organizationId,
    workspaceId,
    outcome: 'changed',
    objectKind: 'budget',
    objectId: budgetId,
    before,
    after,
  }
}

/** The budget as the audit log shows it. */
function toAudit({ countsByok }: AccountNow, { span, limitNano }: AccountLimit): object {
  return { reset_interval: span, limit_usd: usdOfNano(limitNano), include_byok_in_budgets: countsByok }
}
