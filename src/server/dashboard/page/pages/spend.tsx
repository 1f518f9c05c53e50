import { Fragment, h, type ComponentChild } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import type { Budget } from '../../../../schemas/money/budgets.ts'
import type { CreditTotals } from '../../../../schemas/money/credits.ts'
import type { Api } from '../api.ts'
import type { Page, PageContext } from '../page.ts'
import { Badge } from '../parts/badge.tsx'
import { DataTable, type Column } from '../parts/data-table.tsx'
import { Dialog, useAction } from '../parts/dialog.tsx'
import { StartLink } from '../parts/empty-links.tsx'
import { errorAbout, Form, SelectField, TextField } from '../parts/fields.tsx'
import { count, share, usd } from '../parts/figures.tsx'
import { Reload } from '../parts/lists.tsx'
import { Awaited, useLoaded } from '../parts/loaded.tsx'
import { Plot } from '../parts/plot.tsx'
import { useRefresh } from '../parts/refresh.ts'
import { Tile } from '../parts/tile.tsx'
import { useWorkspaces, type Workspaces } from '../parts/workspaces.ts'
import { Budgets, budgetsOf, isPending, shownOf } from './budgets.tsx'
import { BREAKDOWNS, loadSpend, type Breakdown, type Group, type Spend } from './spend-sums.ts'

export const spendPage: Page = {
  path: 'spend',
  title: 'Spend',
  letter: 's',
  view: (context) => <SpendView {...context} />,
}

const DAYS = [
  ['7', '7 days'],
  ['30', '30 days'],
  ['90', '90 days'],
] as const
const DAYS_DEFAULT = '30'

/**
 * Credit, budgets, and where the money went: all of one moment, which is said, so that no figure contradicts
 * another one.
 */
function SpendView(context: PageContext): ComponentChild {
  const { api, query } = context
  const workspaces = useWorkspaces(api)
  const days = DAYS.find(([value]) => value === query.get('days'))?.[0] ?? DAYS_DEFAULT
  const workspace = query.get('workspace') ?? ''
  const ids = shownOf(workspaces, query)
  const loaded = useLoaded(
    (signal) => lookAt(api, { days: Number(days), workspace, ids }, signal),
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
          <Credit context={context} credit={value.credit} reload={reload} />
          <Budgets
            context={context}
            workspaces={workspaces}
            budgets={{ ...loaded, value: value.budgets, problem: null }}
          />
          <Spent
            context={context}
            workspaces={workspaces}
            spend={value.spend}
            days={days}
            workspace={workspace}
          />
        </>
      )}
    </div>
  )
}

interface SpendLook {
  readonly at: Date
  readonly credit: CreditTotals
  readonly budgets: readonly Budget[]
  readonly spend: Spend
}

interface SpendInput {
  readonly days: number
  readonly workspace: string
  /** Workspaces whose budgets are shown; undefined: not known yet. */
  readonly ids: readonly string[] | undefined
}

async function lookAt(
  api: Api,
  { days, workspace, ids }: SpendInput,
  signal: AbortSignal,
): Promise<SpendLook> {
  if (ids === undefined) return new Promise(() => undefined)
  const at = new Date()
  const [credit, budgets, spend] = await Promise.all([
    api.get<{ data: CreditTotals }>(['credits'], {}, signal),
    budgetsOf(api, ids, signal),
    loadSpend(api, { days, workspace }, signal),
  ])
  return { at, credit: credit.data, budgets, spend }
}

function AsOf({ at }: { readonly at: Date | undefined }): ComponentChild {
  return (
    <p class="hint">
      {at !== undefined && [
        'As of ',
        <time key="at" dateTime={at.toISOString()}>
          {at.toLocaleTimeString()}
        </time>,
        '.',
      ]}
    </p>
  )
}

interface CreditProps {
  readonly context: PageContext
  readonly credit: CreditTotals
  reload(): void
}

function Credit({ context: { api, say }, credit, reload }: CreditProps): ComponentChild {
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
          value={credit.is_unlimited ? 'unlimited' : usd(credit.remaining)}
          note={credit.effective === 'pending' ? 'being applied' : undefined}
          tone={(credit.remaining ?? 1) <= 0 ? 'bad' : undefined}
        />
        <Tile name="Added" value={usd(credit.total_credits)} />
        <Tile name="Used" value={usd(credit.total_usage)} />
        <Tile name="Held by fronts" value={usd(credit.lent)} note="comes back if unused" />
      </dl>
      {credit.is_unlimited && (
        <p class="hint">
          Credit is unlimited until the first top-up. From then on calls are refused when it is used up.
        </p>
      )}
      {isAdding && (
        <CreditDialog
          isFirst={credit.is_unlimited}
          onClose={() => setAdding(false)}
          onDone={reload}
          add={async (body, idempotencyKey) => {
            await api.send('POST', ['credits'], body, { idempotencyKey })
            say(`${usd(body.amount_usd)} of credit ${body.amount_usd < 0 ? 'are taken off' : 'are added'}.`)
          }}
        />
      )}
    </section>
  )
}

interface CreditDialogProps {
  readonly isFirst: boolean
  /** The same key books the same body once, however often it is sent. */
  add(body: { readonly amount_usd: number; readonly note?: string }, idempotencyKey: string): Promise<void>
  onDone(): void
  onClose(): void
}

function CreditDialog({ isFirst, add, onDone, onClose }: CreditDialogProps): ComponentChild {
  const [amount, setAmount] = useState('')
  const [note, setNote] = useState('')
  // An answer that was lost leaves open whether it was booked: the second press must not book it twice.
  const booking = useMemo(() => crypto.getRandomValues(new Uint32Array(4)).join('-'), [Number(amount), note])
  const { isBusy, problem, start } = useAction(
    () => add({ amount_usd: Number(amount), ...(note !== '' && { note }) }, booking).then(onClose),
    onDone,
  )
  return (
    <Dialog title="Add credit" onClose={onClose}>
      <Form action="Add" isBusy={isBusy} problem={problem} onSubmit={start} onCancel={onClose}>
        {isFirst && (
          <p class="notice warn">The first top-up ends unlimited credit: what was spent before counts.</p>
        )}
        <TextField
          label="Amount in USD"
          type="number"
          step="any"
          value={amount}
          onInput={setAmount}
          isRequired
          hasFocus
          hint="Below 0 it corrects, and needs a note."
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

interface SpentProps {
  readonly context: PageContext
  readonly workspaces: Workspaces
  readonly spend: Spend
  readonly days: string
  readonly workspace: string
}

function Spent({
  context: { query, setQuery },
  workspaces,
  spend,
  days,
  workspace,
}: SpentProps): ComponentChild {
  const by = BREAKDOWNS.find(([value]) => value === query.get('by'))?.[0] ?? 'model'
  return (
    <section class="panel" aria-label="Where it went">
      <div class="head">
        <h2>Where it went</h2>
        <div class="filters">
          <SelectField label="Time" value={days} options={DAYS} onInput={(to) => setQuery({ days: to })} />
          <SelectField
            label="Workspace"
            value={workspace}
            options={workspaces.options('All')}
            onInput={(to) => setQuery({ workspace: to })}
          />
          <SelectField label="By" value={by} options={BREAKDOWNS} onInput={(to) => setQuery({ by: to })} />
        </div>
      </div>
      <SpentTotals spend={spend} />
      <Groups spend={spend} by={by} workspaces={workspaces} />
    </section>
  )
}

function SpentTotals({
  spend: { total, days, isPartial, rowsRead },
}: {
  readonly spend: Spend
}): ComponentChild {
  const drawn = useMemo(() => {
    const values = days.map(({ usage }) => (usage === 0 ? null : usage))
    return { at: days.map(({ at }) => at), lines: [{ name: 'spent', colour: 'line-1', values }] }
  }, [days])
  return (
    <div class="stack">
      <dl class="tiles">
        <Tile name="Spent" value={usd(total.usage)} />
        <Tile name="Calls" value={count(total.requests)} />
        <Tile name="By own provider keys" value={usd(total.byok)} />
        <Tile name="Forfeited" value={usd(total.forfeited)} note="calls cut by a crash" />
      </dl>
      {isPartial && (
        <p class="notice warn" role="status">
          {`There is more than the ${count(rowsRead)} rows that this page reads: these are the newest. Take fewer days or one workspace.`}
        </p>
      )}
      <Plot title="By day (UTC)" {...drawn} format={usd} isBars />
    </div>
  )
}

interface GroupsProps {
  readonly spend: Spend
  readonly by: Breakdown
  readonly workspaces: Workspaces
}

function Groups({ spend, by, workspaces }: GroupsProps): ComponentChild {
  const groups = spend.groups[by]
  const names: Readonly<Record<Breakdown, (id: string) => string>> = {
    model: (id) => id,
    workspace: workspaces.nameOf,
    key: (hash) => spend.keyNames.get(hash) ?? `${hash.slice(0, 12)}…`,
  }
  const name = (group: Group): string => names[by](group.name)
  const columns: readonly Column<Group>[] = [
    { title: BREAKDOWNS.find(([value]) => value === by)?.[1] ?? '', isName: true, cell: name, sortBy: name },
    { title: 'Spent', isNumber: true, cell: ({ usage }) => usd(usage), sortBy: ({ usage }) => usage },
    {
      title: 'Share',
      isNumber: true,
      cell: ({ usage }) => (spend.total.usage === 0 ? share(0) : share(usage / spend.total.usage)),
    },
    {
      title: 'Calls',
      isNumber: true,
      cell: ({ requests }) => count(requests),
      sortBy: ({ requests }) => requests,
    },
    { title: 'Tokens', isNumber: true, cell: ({ tokens }) => count(tokens), sortBy: ({ tokens }) => tokens },
    {
      title: 'Cached',
      isNumber: true,
      cell: ({ cached, tokens }) => (tokens === 0 ? '' : share(cached / tokens)),
      sortBy: ({ cached, tokens }) => (tokens === 0 ? 0 : cached / tokens),
    },
    {
      title: 'Output tokens',
      isNumber: true,
      cell: ({ output }) => count(output),
      sortBy: ({ output }) => output,
    },
    { title: 'By own keys', isNumber: true, cell: ({ byok }) => usd(byok), sortBy: ({ byok }) => byok },
    {
      title: 'Forfeited',
      isNumber: true,
      sortBy: ({ forfeited }) => forfeited,
      cell: ({ forfeited }) => (forfeited > 0 ? <Badge text={usd(forfeited)} tone="warn" /> : usd(0)),
    },
  ]
  return (
    <DataTable<Group>
      key={by}
      caption={`Spend by ${by}`}
      columns={columns}
      rows={groups}
      keyOf={(group) => group.name}
      empty={[
        'Nothing was called in this time. Calls, tokens and cost will stand here. ',
        <StartLink key="start" />,
      ]}
    />
  )
}
