import { Fragment, h, type ComponentChild, type ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { Static } from 'typebox'
import type { Budget, BudgetInterval, BudgetListAnswer } from '../../../../schemas/money/budgets.ts'
import type { Api } from '../api.ts'
import { BurnDown } from '../charts/burn-down.tsx'
import type { Burned } from '../charts/forecast.ts'
import { nodeNow } from '../live.ts'
import type { PageContext } from '../page.ts'
import { Badge, Meter, type Tone } from '../parts/badge.tsx'
import { LoadedTable, type Column } from '../parts/data-table.tsx'
import { Confirm, Dialog, useAction } from '../parts/dialog.tsx'
import { errorAbout, Form, SelectField, TextField } from '../parts/fields.tsx'
import { Time, usd } from '../parts/figures.tsx'
import { Awaited, type Loaded } from '../parts/loaded.tsx'
import { offsetOf, Pager } from '../parts/pager.tsx'
import type { Workspaces } from '../parts/workspaces.ts'
import { counted, daysOf, type Spend } from './spend-sums.ts'

/** Workspaces whose budgets are shown at once: each is a call of its own. */
const WORKSPACES_SHOWN = 10
const INTERVALS: Readonly<Record<BudgetInterval, string>> = {
  daily: 'each day',
  weekly: 'each week',
  monthly: 'each month',
  lifetime: 'for its lifetime',
}

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
  /** Below the table. */
  readonly children?: ComponentChildren
}
/** A budget that is to be set or changed; without a limit it is a new one. */
interface Input {
  readonly workspace: string
  readonly interval: BudgetInterval
  readonly limit: string
}

const newInput = (workspace = 'default'): Input => ({ workspace, interval: 'monthly', limit: '' })
const inputOf = ({ workspace_id: workspace, reset_interval: interval, limit_usd: limit }: Budget): Input => ({
  workspace,
  interval,
  limit: String(limit),
})

/** What workspaces may spend in each interval, how much of it is gone, and when it begins anew. */
export function Budgets({
  context,
  workspaces,
  ids,
  budgets,
  recent,
  children,
}: BudgetsProps): ComponentChild {
  const [changed, setChanged] = useState<Budget | null>(null)
  const columns = columnsOf({ workspaces, recent, nowMs: nodeNow(context), change: setChanged })
  return (
    <section class="panel" aria-label="Budgets">
      <div class="head">
        <h2>Budgets</h2>
        <button type="button" onClick={() => context.setQuery({ do: 'budget' })}>
          Set a budget
        </button>
      </div>
      {workspaces.loaded.problem === null ? (
        <LoadedTable<LimitedBudget>
          caption="Budgets of workspaces"
          columns={columns}
          loaded={budgets}
          {...(children !== undefined && { found: context })}
          keyOf={({ id }) => id}
          empty="No budget is set: calls are limited by credit and by the limits of keys alone."
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

/** The dialog for a new budget or another limit, and the question before one is deleted. */
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
  const name = `${workspaces.nameOf(id)} ${INTERVALS[interval]}`
  return (
    <Confirm
      title={`Delete the budget of ${name}?`}
      text="Its workspace may then spend what credit and its other budgets allow."
      action="Delete the budget"
      isDestructive
      onClose={onClose}
      run={async () => {
        await context.api.send('DELETE', ['workspaces', id, 'budgets', interval])
        context.say(`The budget of ${name} is deleted.`)
        onDone()
      }}
    />
  )
}

/** The steps of the workspaces whose budgets are shown. */
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

/** Of workspaces that the address leads to; none when they cannot be had, undefined before they are. */
export function shownOf(
  { loaded: { value, problem } }: Workspaces,
  query: URLSearchParams,
): readonly string[] | undefined {
  const offset = offsetOf(query)
  return (
    value?.slice(offset, offset + WORKSPACES_SHOWN).map(({ id }) => id) ?? (problem === null ? undefined : [])
  )
}

/** Some limit is not obeyed everywhere yet: it will be soon. */
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

/** A budget in its window. */
function burnedOf({ workspace_id: id, isByok, ...budget }: LimitedBudget, recent: Spend): Burned {
  const group = recent.groups.workspace.find(({ name }) => name === id)
  return {
    limit: budget.limit_usd,
    spent: budget.spent_usd,
    interval: budget.reset_interval,
    days: daysOf(recent, group, counted(isByok)),
  }
}

interface ColumnsInput extends Pick<BudgetsProps, 'workspaces' | 'recent'> {
  readonly nowMs: number
  change(budget: Budget): void
}

function columnsOf({ workspaces, recent, nowMs, change }: ColumnsInput): readonly Column<LimitedBudget>[] {
  const name = ({ workspace_id: id }: Budget): string => workspaces.nameOf(id)
  const said = (budget: Budget): string => `${name(budget)} ${INTERVALS[budget.reset_interval]}`
  return [
    {
      title: 'Workspace',
      isName: true,
      sortBy: name,
      cell: (budget) => (
        <button
          type="button"
          class="link"
          aria-label={`Change the budget of ${said(budget)}`}
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
          label={`Spent of the budget of ${said(budget)}`}
          value={budget.spent_usd}
          max={budget.limit_usd}
          text={`${usd(budget.spent_usd)} of ${usd(budget.limit_usd)}`}
        />
      ),
    },
    { title: 'Left', isNumber: true, cell: (budget) => usd(Math.max(0, leftOf(budget))), sortBy: leftOf },
    { title: 'Held by fronts', isNumber: true, cell: ({ lent_usd: lent }) => usd(lent) },
    {
      title: 'Burn-down and forecast',
      cell: (budget) => <BurnDown burned={burnedOf(budget, recent)} nowMs={nowMs} />,
    },
    {
      title: 'Resets',
      cell: ({ resets_at: at }) => (at === null ? <span class="hint">never</span> : <Time at={at} />),
    },
    {
      title: 'In force',
      cell: (budget) => <Badge {...FORCES[forceOf(budget)]} />,
    },
  ]
}

const leftOf = ({ spent_usd: spent, limit_usd: limit }: Pick<Budget, 'spent_usd' | 'limit_usd'>): number =>
  limit - spent

type Force = 'now' | 'overdrawn' | 'pending'

/**
 * How far a limit applies. When an overdrawn limit has no borrowed money left, no more money is spent: the
 * API's `pending` then means only that the limit must start anew or be raised.
 */
export function forceOf(budget: Pick<Budget, 'effective' | 'lent_usd' | 'spent_usd' | 'limit_usd'>): Force {
  if (budget.effective === 'now') return 'now'
  return budget.lent_usd === 0 && leftOf(budget) < 0 ? 'overdrawn' : 'pending'
}

const FORCES: Readonly<
  Record<Force, { readonly text: string; readonly tone: Tone; readonly title?: string }>
> = {
  now: { text: 'now', tone: 'good' },
  overdrawn: {
    text: 'overdrawn',
    tone: 'bad',
    title: 'More than that is spent already: calls are refused until it resets or is raised.',
  },
  pending: {
    text: 'pending',
    tone: 'warn',
    title: 'Nothing more is lent; what fronts held before the change may still be spent.',
  },
}

interface BudgetDialogProps extends Pick<PageContext, 'api' | 'say'> {
  readonly workspaces: Workspaces
  readonly first: Input
  onDone(): void
  onDelete(): void
  onClose(): void
}

function BudgetDialog(props: BudgetDialogProps): ComponentChild {
  const { api, say, workspaces, first, onDone, onDelete, onClose } = props
  const [input, setInput] = useState(first)
  const isNew = first.limit === ''
  const set =
    (name: keyof Input) =>
    (value: string): void =>
      setInput((last) => ({ ...last, [name]: value }))
  const { isBusy, problem, start } = useAction(async () => {
    const { data } = await api.send<{ data: Budget }>(
      'PUT',
      ['workspaces', input.workspace, 'budgets', input.interval],
      { limit_usd: Number(input.limit) },
    )
    const set = `${workspaces.nameOf(data.workspace_id)} may spend ${usd(data.limit_usd)} ${INTERVALS[data.reset_interval]}.`
    const { title } = FORCES[forceOf(data)]
    say(title === undefined ? set : `${set} ${title}`)
    onClose()
  }, onDone)
  return (
    <Dialog
      title={isNew ? 'Set a budget' : `Change the budget of ${workspaces.nameOf(first.workspace)}`}
      onClose={onClose}
    >
      <Form
        action={isNew ? 'Set' : 'Change'}
        isBusy={isBusy}
        problem={problem}
        onSubmit={start}
        onCancel={onClose}
      >
        {isNew && (
          <div class="pair">
            <SelectField
              label="Workspace"
              value={input.workspace}
              options={workspaces.options()}
              onInput={set('workspace')}
            />
            <SelectField
              label="Interval"
              value={input.interval}
              options={Object.entries(INTERVALS)}
              onInput={set('interval')}
            />
          </div>
        )}
        <TextField
          label={`Limit in USD ${INTERVALS[input.interval]}`}
          type="number"
          min={0}
          step="any"
          value={input.limit}
          onInput={set('limit')}
          isRequired
          hint="A shorter interval has the smaller limit. All limits of a workspace hold at once."
          hasFocus
          error={errorAbout(problem, 'limit_usd')}
        />
        {!isNew && (
          <p>
            <button type="button" class="link" onClick={onDelete}>
              Delete the budget…
            </button>
          </p>
        )}
      </Form>
    </Dialog>
  )
}
