import { h, type ComponentChild } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import type { CreditTotals } from '../../../../schemas/credits.ts'
import type { Page, PageContext } from '../page.ts'
import { Badge } from '../parts/badge.ts'
import { DataTable, type Column } from '../parts/data-table.ts'
import { Dialog, useAction } from '../parts/dialog.ts'
import { errorAbout, Form, SelectField, TextField } from '../parts/fields.ts'
import { count, share, usd } from '../parts/figures.ts'
import { Awaited, useLoaded } from '../parts/loaded.ts'
import { Plot } from '../parts/plot.ts'
import { Tile } from '../parts/tile.ts'
import { useWorkspaces, type Workspaces } from '../parts/workspaces.ts'
import { Budgets } from './budgets.ts'
import { BREAKDOWNS, loadSpend, type Breakdown, type Group, type Spend } from './spend-sums.ts'

export const spendPage: Page = { path: 'spend', title: 'Spend', letter: 's', view: (context) => h(SpendView, context) }

const DAYS = [['7', '7 days'], ['30', '30 days'], ['90', '90 days']] as const
const DAYS_DEFAULT = '30'

/** Credit, budgets, and where the money went. */
function SpendView(context: PageContext): ComponentChild {
  const workspaces = useWorkspaces(context.api)
  return h('div', null, h(Credit, context), h(Budgets, { context, workspaces }), h(Spent, { context, workspaces }))
}

function Credit({ api, say }: PageContext): ComponentChild {
  const credit = useLoaded(async (signal) => (await api.get<{ data: CreditTotals }>(['credits'], {}, signal)).data, [api])
  const [isAdding, setAdding] = useState(false)
  const { value } = credit
  return h('section', { class: 'panel', 'aria-label': 'Credit' },
    h('div', { class: 'head' }, h('h2', null, 'Credit'), h('button', { type: 'button', onClick: () => setAdding(true) }, 'Add credit')),
    h(Awaited, credit),
    value !== undefined && h('dl', { class: 'tiles' },
      h(Tile, {
        name: 'Left', value: value.is_unlimited ? 'unlimited' : usd(value.remaining), note: value.effective === 'pending' ? 'being applied' : undefined,
        tone: (value.remaining ?? 1) <= 0 ? 'bad' : undefined,
      }),
      h(Tile, { name: 'Added', value: usd(value.total_credits) }), h(Tile, { name: 'Used', value: usd(value.total_usage) }),
      h(Tile, { name: 'Held by fronts', value: usd(value.lent), note: 'comes back if unused' })),
    value?.is_unlimited === true && h('p', { class: 'hint' }, 'Credit is unlimited until the first top-up. From then on calls are refused when it is used up.'),
    isAdding && h(CreditDialog, {
      isFirst: value?.is_unlimited === true, onClose: () => setAdding(false), onDone: credit.reload,
      add: async (body) => {
        await api.send('POST', ['credits'], body)
        say(`${usd(body.amount_usd)} of credit ${body.amount_usd < 0 ? 'are taken off' : 'are added'}.`)
      },
    }))
}

interface CreditDialogProps {
  readonly isFirst: boolean
  add(body: { readonly amount_usd: number; readonly note?: string }): Promise<void>
  onDone(): void
  onClose(): void
}

function CreditDialog({ isFirst, add, onDone, onClose }: CreditDialogProps): ComponentChild {
  const [amount, setAmount] = useState('')
  const [note, setNote] = useState('')
  const { isBusy, problem, start } = useAction(() => add({ amount_usd: Number(amount), ...(note !== '' && { note }) }).then(onClose), onDone)
  return h(Dialog, { title: 'Add credit', onClose },
    h(Form, { action: 'Add', isBusy, problem, onSubmit: start, onCancel: onClose },
      isFirst && h('p', { class: 'notice warn' }, 'The first top-up ends unlimited credit: what was spent before counts.'),
      h(TextField, {
        label: 'Amount in USD', type: 'number', step: 'any', value: amount, onInput: setAmount, isRequired: true, hasFocus: true,
        hint: 'Below 0 it corrects, and needs a note.', error: errorAbout(problem, 'amount_usd'),
      }),
      h(TextField, { label: 'Note', value: note, onInput: setNote, isRequired: Number(amount) < 0, error: errorAbout(problem, 'note') })))
}

interface SpentProps {
  readonly context: PageContext
  readonly workspaces: Workspaces
}

function Spent({ context: { api, query, setQuery }, workspaces }: SpentProps): ComponentChild {
  const days = DAYS.find(([value]) => value === query.get('days'))?.[0] ?? DAYS_DEFAULT
  const [workspace, by] = [query.get('workspace') ?? '', BREAKDOWNS.find(([value]) => value === query.get('by'))?.[0] ?? 'model']
  const spend = useLoaded((signal) => loadSpend(api, { days: Number(days), workspace }, signal), [api, days, workspace])
  const { value } = spend
  return h('section', { class: 'panel', 'aria-label': 'Where it went' },
    h('div', { class: 'head' }, h('h2', null, 'Where it went'),
      h('div', { class: 'filters' },
        h(SelectField, { label: 'Time', value: days, options: DAYS, onInput: (to) => setQuery({ days: to }) }),
        h(SelectField, { label: 'Workspace', value: workspace, options: workspaces.options('All'), onInput: (to) => setQuery({ workspace: to }) }),
        h(SelectField, { label: 'By', value: by, options: BREAKDOWNS, onInput: (to) => setQuery({ by: to }) }))),
    h(Awaited, spend),
    value !== undefined && h(SpentTotals, { spend: value }),
    value !== undefined && h(Groups, { spend: value, by, workspaces }))
}

function SpentTotals({ spend: { total, days, isPartial, rowsRead } }: { readonly spend: Spend }): ComponentChild {
  const drawn = useMemo(() => {
    const values = days.map(({ usage }) => (usage === 0 ? null : usage))
    return { at: days.map(({ at }) => at), lines: [{ name: 'spent', colour: 'line-1', values }] }
  }, [days])
  return h('div', { class: 'stack' },
    h('dl', { class: 'tiles' },
      h(Tile, { name: 'Spent', value: usd(total.usage) }), h(Tile, { name: 'Calls', value: count(total.requests) }),
      h(Tile, { name: 'By own provider keys', value: usd(total.byok) }),
      h(Tile, { name: 'Forfeited', value: usd(total.forfeited), note: 'calls cut by a crash' })),
    isPartial && h('p', { class: 'notice warn', role: 'status' },
      `There is more than the ${count(rowsRead)} rows that this page reads: these are the newest. Take fewer days or one workspace.`),
    h(Plot, { title: 'By day (UTC)', ...drawn, format: usd, isBars: true }))
}

interface GroupsProps {
  readonly spend: Spend
  readonly by: Breakdown
  readonly workspaces: Workspaces
}

function Groups({ spend, by, workspaces }: GroupsProps): ComponentChild {
  const groups = spend.groups[by]
  const names: Readonly<Record<Breakdown, (id: string) => string>> = {
    model: (id) => id, workspace: workspaces.nameOf, key: (hash) => spend.keyNames.get(hash) ?? `${hash.slice(0, 12)}…`,
  }
  const name = (group: Group): string => names[by](group.name)
  const columns: readonly Column<Group>[] = [
    { title: BREAKDOWNS.find(([value]) => value === by)?.[1] ?? '', isName: true, cell: name, sortBy: name },
    { title: 'Spent', isNumber: true, cell: ({ usage }) => usd(usage), sortBy: ({ usage }) => usage },
    { title: 'Share', isNumber: true, cell: ({ usage }) => (spend.total.usage === 0 ? share(0) : share(usage / spend.total.usage)) },
    { title: 'Calls', isNumber: true, cell: ({ requests }) => count(requests), sortBy: ({ requests }) => requests },
    { title: 'Tokens', isNumber: true, cell: ({ tokens }) => count(tokens), sortBy: ({ tokens }) => tokens },
    { title: 'By own keys', isNumber: true, cell: ({ byok }) => usd(byok), sortBy: ({ byok }) => byok },
    {
      title: 'Forfeited', isNumber: true, sortBy: ({ forfeited }) => forfeited,
      cell: ({ forfeited }) => (forfeited > 0 ? h(Badge, { text: usd(forfeited), tone: 'warn' }) : usd(0)),
    },
  ]
  return h(DataTable<Group>, {
    key: by, caption: `Spend by ${by}`, columns, rows: groups, keyOf: (group) => group.name, empty: 'Nothing was called in this time.',
  })
}
