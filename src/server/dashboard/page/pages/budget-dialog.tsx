import { h, type ComponentChild } from 'preact'
import { useState } from 'preact/hooks'
import type { Budget, BudgetInterval } from '../../../../schemas/money/budgets.ts'
import type { PageContext } from '../page.ts'
import type { Tone } from '../parts/badge.tsx'
import { Dialog, useAction } from '../parts/dialog.tsx'
import { errorAbout, Form, SelectField, TextField } from '../parts/fields.tsx'
import { usd } from '../parts/figures.tsx'
import type { Workspaces } from '../parts/workspaces.ts'

export const INTERVALS: Readonly<Record<BudgetInterval, string>> = {
  daily: 'daily',
  weekly: 'weekly',
  monthly: 'monthly',
  lifetime: 'lifetime',
}

/** The budget to set or change; without a limit it is a new one. */
interface Input {
  readonly workspace: string
  readonly interval: BudgetInterval
  readonly limit: string
}

export const newInput = (workspace = 'default'): Input => ({ workspace, interval: 'monthly', limit: '' })
export const inputOf = ({
  workspace_id: workspace,
  reset_interval: interval,
  limit_usd: limit,
}: Budget): Input => ({
  workspace,
  interval,
  limit: String(limit),
})

interface BudgetDialogProps extends Pick<PageContext, 'api' | 'say'> {
  readonly workspaces: Workspaces
  readonly first: Input
  onDone(): void
  onDelete(): void
  onClose(): void
}

/** Dialog to create a budget or change the limit of one. */
export function BudgetDialog(props: BudgetDialogProps): ComponentChild {
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
    const set = `Budget saved: ${workspaces.nameOf(data.workspace_id)}, ${usd(data.limit_usd)} ${INTERVALS[data.reset_interval]}.`
    const { title } = FORCES[forceOf(data)]
    say(title === undefined ? set : `${set} ${title}`)
    onClose()
  }, onDone)
  return (
    <Dialog
      title={isNew ? 'Create budget' : `Edit budget of ${workspaces.nameOf(first.workspace)}`}
      onClose={onClose}
    >
      <Form
        action={isNew ? 'Create' : 'Save'}
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
          label="Limit (USD)"
          type="number"
          min={0}
          step="any"
          value={input.limit}
          onInput={set('limit')}
          isRequired
          hint="All budgets of a workspace apply at once; a shorter interval needs a lower limit."
          hasFocus
          error={errorAbout(problem, 'limit_usd')}
        />
        {!isNew && (
          <p>
            <button type="button" class="link" onClick={onDelete}>
              Delete budget…
            </button>
          </p>
        )}
      </Form>
    </Dialog>
  )
}

export const leftOf = ({
  spent_usd: spent,
  limit_usd: limit,
}: Pick<Budget, 'spent_usd' | 'limit_usd'>): number => limit - spent

type Force = 'now' | 'overdrawn' | 'pending'

/**
 * How far a limit is in effect. The API reports an overdrawn limit without lent money as `pending`, although
 * no more is spent: it must reset or be raised.
 */
export function forceOf(budget: Pick<Budget, 'effective' | 'lent_usd' | 'spent_usd' | 'limit_usd'>): Force {
  if (budget.effective === 'now') return 'now'
  return budget.lent_usd === 0 && leftOf(budget) < 0 ? 'overdrawn' : 'pending'
}

export const FORCES: Readonly<
  Record<Force, { readonly text: string; readonly tone: Tone; readonly title?: string }>
> = {
  now: { text: 'active', tone: 'good' },
  overdrawn: {
    text: 'overdrawn',
    tone: 'bad',
    title: 'Spend exceeds this limit. Calls are refused until the limit resets or is raised.',
  },
  pending: {
    text: 'pending',
    tone: 'warn',
    title: 'Amounts that were reserved before the change may still be spent.',
  },
}
