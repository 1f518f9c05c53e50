import { Fragment, h, type ComponentChild, type ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { Static } from 'typebox'
import type { Budget, BudgetListAnswer } from '../../../../schemas/money/budgets.ts'
import type { Api } from '../api.ts'
import { BurnDown } from '../charts/burn-down.tsx'
import type { Burned } from '../charts/forecast.ts'
import { nodeNow } from '../live.ts'
import type { PageContext } from '../page.ts'
import { Badge, Meter } from '../parts/badge.tsx'
import { LoadedTable, type Column } from '../parts/data-table.tsx'
import { Confirm } from '../parts/dialog.tsx'
import { Time, usd } from '../parts/figures.tsx'
import { Awaited, type Loaded } from '../parts/loaded.tsx'
import { offsetOf, Pager } from '../parts/pager.tsx'
import type { Workspaces } from '../parts/workspaces.ts'
import { BudgetDialog, forceOf, FORCES, inputOf, INTERVALS, leftOf, newInput } from './budget-dialog.tsx'
import { counted, daysOf, type Spend } from './spend-sums.ts'
import type { Refusals } from './subjects/refusals.ts'

/** Workspaces whose budgets are shown at once: each needs a separate call. */
const WORKSPACES_SHOWN = 10
/** A budget, and whether spend on the workspace's own provider keys counts. */
export interface LimitedBudget extends Budget {
  readonly isByok: boolean
}

interface BudgetsProps {
  readonly context: PageContext
  readonly workspaces: Workspaces
  /** Workspaces whose budgets are shown; undefined: not known yet. */
  readonly ids: readonly string[] | undefined
  readonly budgets: Loaded<readonly LimitedBudget[]>
  readonly recent: Spend
  readonly refusals: Refusals
  /** Below the table. */
  readonly children?: ComponentChildren
}
/** Spending limits of workspaces by interval: the part used, and when they reset. */
export function Budgets({
  context,
  workspaces,
  ids,
  budgets,
  recent,
  refusals,
  children,
}: BudgetsProps): ComponentChild {
  const [changed, setChanged] = useState<Budget | null>(null)
  const columns = columnsOf({
    ...{ workspaces, recent, refusals, nowMs: nodeNow(context), change: setChanged },
    all: budgets.value ?? [],
  })
  return (
    <section class="panel" aria-label="Budgets">
      <div class="head">
        <h2>Budgets</h2>
        <button type="button" onClick={() => context.setQuery({ do: 'budget' })}>
          Create budget
        </button>
      </div>
      {workspaces.loaded.problem === null ? (
        <LoadedTable<LimitedBudget>
          caption="Workspace budgets"
          columns={columns}
          loaded={budgets}
          {...(children !== undefined && { found: context })}
          keyOf={({ id }) => id}
          empty="No budgets. Without a budget, only credit and key limits apply."
        />
      ) : (
        <Awaited {...workspaces.loaded} />
      )}
      {children}
      <BudgetDialogs
        context={context}
        workspaces={workspaces}
        ids={ids}
        changed={changed}
        onChanged={setChanged}
        onDone={budgets.reload}
      />
    </section>
  )
}

interface BudgetDialogsProps extends Pick<BudgetsProps, 'context' | 'workspaces' | 'ids'> {
  /** The budget whose row was clicked. */
  readonly changed: Budget | null
  onChanged(budget: null): void
  onDone(): void
}

/** The dialogs to create a budget, to change its limit, and to confirm its deletion. */
function BudgetDialogs({
  context,
  workspaces,
  ids,
  changed,
  onChanged,
  onDone,
}: BudgetDialogsProps): ComponentChild {
  const { api, query, setQuery, say } = context
  const [deleted, setDeleted] = useState<Budget | null>(null)
  const isNew = query.get('do') === 'budget'
  const close = (): void => {
    onChanged(null)
    setQuery({ do: null })
  }
  const remove = (): void => {
    setDeleted(changed)
    close()
  }
  return (
    <>
      {(changed !== null || isNew) && (
        <BudgetDialog
          key={changed?.id}
          api={api}
          workspaces={workspaces}
          first={changed === null ? newInput(ids?.[0]) : inputOf(changed)}
          onDelete={remove}
          onClose={close}
          onDone={onDone}
          say={say}
        />
      )}
      {deleted !== null && (
        <DeleteBudget
          context={context}
          budget={deleted}
          workspaces={workspaces}
          onDone={onDone}
          onClose={() => setDeleted(null)}
        />
      )}
    </>
  )
}

interface DeleteBudgetProps {
  readonly context: PageContext
  readonly budget: Budget
  readonly workspaces: Workspaces
  onDone(): void
  onClose(): void
}

function DeleteBudget({ context, budget, workspaces, onDone, onClose }: DeleteBudgetProps): ComponentChild {
  const { workspace_id: id, reset_interval: interval } = budget
  const name = `${INTERVALS[interval]} budget of ${workspaces.nameOf(id)}`
  return (
    <Confirm
      title={`Delete the ${name}?`}
      text="Spend of the workspace is then limited by its other budgets and by credit."
      action="Delete budget"
      isDestructive
      onClose={onClose}
      run={async () => {
        await context.api.send('DELETE', ['workspaces', id, 'budgets', interval])
        context.say(`Deleted the ${name}.`)
        onDone()
      }}
    />
  )
}

export function BudgetsPager({
  context: { query, setQuery },
  workspaces,
}: Pick<BudgetsProps, 'context' | 'workspaces'>): ComponentChild {
  return (
    <Pager
      offset={offsetOf(query)}
      limit={WORKSPACES_SHOWN}
      shown={shownOf(workspaces, query)?.length ?? 0}
      total={workspaces.loaded.value?.length ?? 0}
      onMove={(to) => setQuery({ offset: to === 0 ? null : String(to) })}
    />
  )
}

/** Ids of the workspaces on the current page of the list; empty when they cannot be loaded, undefined while they are loading. */
export function shownOf(
  { loaded: { value, problem } }: Workspaces,
  query: URLSearchParams,
): readonly string[] | undefined {
  const offset = offsetOf(query)
  return (
    value?.slice(offset, offset + WORKSPACES_SHOWN).map(({ id }) => id) ?? (problem === null ? undefined : [])
  )
}

/** True while some limit is not yet enforced by all fronts. */
export function isPending(budgets: readonly Budget[]): boolean {
  return budgets.some((budget) => forceOf(budget) === 'pending')
}

export async function budgetsOf(
  api: Api,
  ids: readonly string[],
  signal: AbortSignal,
): Promise<readonly LimitedBudget[]> {
  const found = await Promise.all(
    ids.map((id) => api.get<Static<typeof BudgetListAnswer>>(['workspaces', id, 'budgets'], {}, signal)),
  )
  return found.flatMap(({ data, include_byok_in_budgets: isByok }) =>
    data.map((budget) => ({ ...budget, isByok })),
  )
}

function burnedOf({ workspace_id: id, isByok, ...budget }: LimitedBudget, recent: Spend): Burned {
  const group = recent.groups.workspace.find(({ name }) => name === id)
  return {
    limit: budget.limit_usd,
    spent: budget.spent_usd,
    interval: budget.reset_interval,
    days: daysOf(recent, group, counted(isByok)),
  }
}

interface ColumnsInput extends Pick<BudgetsProps, 'workspaces' | 'recent' | 'refusals'> {
  readonly nowMs: number
  readonly all: readonly LimitedBudget[]
  change(budget: Budget): void
}

function columnsOf(input: ColumnsInput): readonly Column<LimitedBudget>[] {
  const { workspaces, recent, refusals, nowMs, all, change } = input
  const name = ({ workspace_id: id }: Budget): string => workspaces.nameOf(id)
  const labelOf = (budget: Budget): string => `${name(budget)} ${INTERVALS[budget.reset_interval]}`
  return [
    {
      title: 'Workspace',
      isName: true,
      sortBy: name,
      cell: (budget) => (
        <button
          type="button"
          class="link"
          aria-label={`Edit budget of ${labelOf(budget)}`}
          onClick={() => change(budget)}
        >
          {name(budget)}
        </button>
      ),
    },
    { title: 'Interval', cell: (budget) => INTERVALS[budget.reset_interval] },
    {
      title: 'Spent',
      sortBy: ({ spent_usd: spent, limit_usd: limit }) => spent / limit,
      cell: (budget) => (
        <Meter
          label={`Spend against the ${labelOf(budget)}`}
          value={budget.spent_usd}
          max={budget.limit_usd}
          text={`${usd(budget.spent_usd)} of ${usd(budget.limit_usd)}`}
        />
      ),
    },
    { title: 'Left', isNumber: true, cell: (budget) => usd(Math.max(0, leftOf(budget))), sortBy: leftOf },
    { title: 'Reserved', isNumber: true, cell: ({ lent_usd: lent }) => usd(lent) },
    {
      title: 'Forecast',
      cell: (budget) => (
        <BurnDown
          burned={burnedOf(budget, recent)}
          nowMs={nowMs}
          {...(isTightest(budget, all) && { refused: refusals.of('workspace', budget.workspace_id) })}
        />
      ),
    },
    {
      title: 'Resets',
      cell: ({ resets_at: at }) => (at === null ? <span class="hint">never</span> : <Time at={at} />),
    },
    {
      title: 'Status',
      cell: (budget) => <Badge {...FORCES[forceOf(budget)]} />,
    },
  ]
}

/** True for the budget of a workspace with the least amount left: if one refuses calls, it is this one. */
function isTightest(budget: Budget, all: readonly Budget[]): boolean {
  const others = all.filter(({ workspace_id: id }) => id === budget.workspace_id)
  return others.every((other) => leftOf(other) >= leftOf(budget))
}
