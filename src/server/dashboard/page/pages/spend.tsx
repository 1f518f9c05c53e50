import { Fragment, h, type ComponentChild } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import type { CreditTotals } from '../../../../schemas/money/credits.ts'
import type { Api } from '../api.ts'
import { BurnDown } from '../charts/burn-down.tsx'
import { FORECAST_RULE } from '../charts/forecast.ts'
import { nodeNow } from '../live.ts'
import type { Page, PageContext } from '../page.ts'
import { Dialog, useAction } from '../parts/dialog.tsx'
import { errorAbout, Form, SelectField, TextField } from '../parts/fields.tsx'
import { usd, Tile } from '../parts/figures.tsx'
import { Reload } from '../parts/lists.tsx'
import { Awaited, useLoaded } from '../parts/loaded.tsx'
import { useRefresh } from '../parts/refresh.ts'
import { useWorkspaces } from '../parts/workspaces.ts'
import { Budgets, budgetsOf, BudgetsPager, isPending, shownOf, type LimitedBudget } from './budgets.tsx'
import { BREAKDOWNS, daysOf, DAYS_DEFAULT, loadRecent, loadSpend, type Spend } from './spend-sums.ts'
import { LimitsOfKeys } from './subjects/key-limits.tsx'
import { loadRefusals, type Refusals } from './subjects/refusals.ts'
import { daysAsked, Spent } from './subjects/spent.tsx'

export const spendPage: Page = {
  path: 'spend',
  title: 'Spend',
  letter: 's',
  view: (context) => <SpendView {...context} />,
}

/** Credit, budgets, and where the money went: all figures are of the same moment, which the page shows, so that they agree with each other. */
function SpendView(context: PageContext): ComponentChild {
  const { api, query, setQuery } = context
  const workspaces = useWorkspaces(api)
  const days = daysAsked(query)
  const workspace = query.get('workspace') ?? ''
  const ids = shownOf(workspaces, query)
  const loaded = useLoaded(
    (signal) => lookAt(api, { days, workspace, ids, nowMs: nodeNow(context) }, signal),
    [api, days, workspace, ids?.join()],
  )
  const { value, reload } = loaded
  useRefresh(value !== undefined && isPending(value.budgets), loaded)
  return (
    <div>
      <div class="head">
        <AsOf at={value?.at} />
        <Reload loaded={loaded} />
      </div>
      <Awaited {...loaded} />
      {value !== undefined && (
        <>
          <Credit context={context} look={value} reload={reload} />
          <Budgets
            context={context}
            workspaces={workspaces}
            ids={ids}
            budgets={{ ...loaded, value: value.budgets, problem: null }}
            recent={value.recent}
            refusals={value.refusals}
          >
            <BudgetsPager context={context} workspaces={workspaces} />
          </Budgets>
          <LimitsOfKeys context={context} recent={value.recent} refusals={value.refusals} />
          <Spent context={context} workspaces={workspaces} spend={value.spend} choices={ALL}>
            <SelectField
              label="Workspace"
              value={workspace}
              options={workspaces.options('All')}
              onInput={(to) => setQuery({ workspace: to })}
            />
          </Spent>
        </>
      )}
    </div>
  )
}

const ALL = BREAKDOWNS.map(([by]) => by)

interface SpendLook {
  readonly at: Date
  readonly credit: CreditTotals
  readonly budgets: readonly LimitedBudget[]
  readonly spend: Spend
  /** Spend of all workspaces and keys, as far back as the longest window of a limit. */
  readonly recent: Spend
  readonly refusals: Refusals
}

interface SpendInput {
  readonly days: string
  readonly workspace: string
  /** Workspaces whose budgets are shown; undefined: not known yet. */
  readonly ids: readonly string[] | undefined
  readonly nowMs: number
}

async function lookAt(
  api: Api,
  { days, workspace, ids, nowMs }: SpendInput,
  signal: AbortSignal,
): Promise<SpendLook> {
  if (ids === undefined) return new Promise(() => undefined)
  const at = new Date()
  const recent = loadRecent(api, signal)
  const isRecent = days === DAYS_DEFAULT && workspace === ''
  const [credit, budgets, all, spend, refusals] = await Promise.all([
    api.get<{ data: CreditTotals }>(['credits'], {}, signal),
    budgetsOf(api, ids, signal),
    recent,
    isRecent ? recent : loadSpend(api, { days: Number(days), search: { workspace_id: workspace } }, signal),
    loadRefusals(api, { nowMs }, signal),
  ])
  return { at, credit: credit.data, budgets, spend, recent: all, refusals }
}

function AsOf({ at }: { readonly at: Date | undefined }): ComponentChild {
  return (
    <p class="hint">
      {at !== undefined && [
        'As of ',
        <time key="at" dateTime={at.toISOString()}>
          {at.toLocaleTimeString('en-GB')}
        </time>,
        '.',
      ]}
    </p>
  )
}

interface CreditProps {
  readonly context: PageContext
  readonly look: SpendLook
  reload(): void
}

function Credit({ context, look: { credit, recent, refusals }, reload }: CreditProps): ComponentChild {
  const { api, say } = context
  const [isAdding, setAdding] = useState(false)
  return (
    <section class="panel" aria-label="Credit">
      <div class="head">
        <h2>Credit</h2>
        <button type="button" onClick={() => setAdding(true)}>
          Add credit
        </button>
      </div>
      <dl class="tiles">
        <Tile
          name="Left"
          value={credit.is_unlimited ? 'Unlimited' : usd(credit.remaining)}
          note={credit.effective === 'pending' ? 'being applied' : undefined}
          tone={(credit.remaining ?? 1) <= 0 ? 'bad' : undefined}
        />
        <Tile name="Added" value={usd(credit.total_credits)} />
        <Tile name="Used" value={usd(credit.total_usage)} />
        <Tile name="Reserved" value={usd(credit.lent)} note="released if unused" />
      </dl>
      {credit.is_unlimited ? (
        <p class="hint">
          Credit is unlimited until the first top-up. After the top-up, calls are refused when credit runs
          out.
        </p>
      ) : (
        <BurnDown
          nowMs={nodeNow(context)}
          refused={refusals.of('organization', '')}
          burned={{
            limit: credit.total_credits,
            spent: credit.total_usage,
            interval: 'lifetime',
            days: daysOf(recent, recent.total, ({ usage }) => usage),
          }}
        />
      )}
      <p class="hint">{FORECAST_RULE}</p>
      {isAdding && (
        <CreditDialog
          isFirst={credit.is_unlimited}
          onClose={() => setAdding(false)}
          onDone={reload}
          add={async (body, idempotencyKey) => {
            await api.send('POST', ['credits'], body, { idempotencyKey })
            say(
              body.amount_usd < 0
                ? `Credit reduced by ${usd(-body.amount_usd)}.`
                : `${usd(body.amount_usd)} of credit added.`,
            )
          }}
        />
      )}
    </section>
  )
}

interface CreditDialogProps {
  readonly isFirst: boolean
  /** Repeating the same body with the same key books it only once. */
  add(body: { readonly amount_usd: number; readonly note?: string }, idempotencyKey: string): Promise<void>
  onDone(): void
  onClose(): void
}

function CreditDialog({ isFirst, add, onDone, onClose }: CreditDialogProps): ComponentChild {
  const [amount, setAmount] = useState('')
  const [note, setNote] = useState('')
  // If the answer was lost, the amount may already be booked: pressing again must not book it twice.
  const booking = useMemo(() => crypto.getRandomValues(new Uint32Array(4)).join('-'), [Number(amount), note])
  const { isBusy, problem, start } = useAction(
    () => add({ amount_usd: Number(amount), ...(note !== '' && { note }) }, booking).then(onClose),
    onDone,
  )
  return (
    <Dialog title="Add credit" onClose={onClose}>
      <Form action="Add" isBusy={isBusy} problem={problem} onSubmit={start} onCancel={onClose}>
        {isFirst && (
          <p class="notice warn">
            The first top-up ends unlimited credit. Earlier spend counts against the new credit.
          </p>
        )}
        <TextField
          label="Amount (USD)"
          type="number"
          step="any"
          value={amount}
          onInput={setAmount}
          isRequired
          hasFocus
          hint="A negative amount corrects credit and needs a note."
          error={errorAbout(problem, 'amount_usd')}
        />
        <TextField
          label="Note"
          value={note}
          onInput={setNote}
          isRequired={Number(amount) < 0}
          error={errorAbout(problem, 'note')}
        />
      </Form>
    </Dialog>
  )
}
