import { h, type ComponentChild, type ComponentChildren } from 'preact'
import { LegendChart } from '../../charts/legend-chart.tsx'
import type { ChartLine } from '../../charts/time-chart.tsx'
import type { Query } from '../../api.ts'
import type { PageContext } from '../../page.ts'
import { Badge } from '../../parts/badge.tsx'
import { DataTable, type Column } from '../../parts/data-table.tsx'
import { SelectField } from '../../parts/fields.tsx'
import { count, share, usd, Tile } from '../../parts/figures.tsx'
import { Awaited, useLoaded } from '../../parts/loaded.tsx'
import { SubjectLink, StartLink } from '../../parts/links.tsx'
import type { Workspaces } from '../../parts/workspaces.ts'
import {
  BREAKDOWNS,
  DAY_S,
  DAYS_DEFAULT,
  loadSpend,
  type Breakdown,
  type Group,
  type Spend,
} from '../spend-sums.ts'

const DAYS = [
  ['7', '7 days'],
  ['31', '31 days'],
  ['90', '90 days'],
] as const
/** Top names, each with its own bar; the rest are grouped as one bar. */
const BARS = 5

export function daysAsked(query: URLSearchParams): string {
  return DAYS.find(([value]) => value === query.get('days'))?.[0] ?? DAYS_DEFAULT
}

export interface SpentProps {
  readonly context: PageContext
  readonly workspaces: Workspaces
  readonly spend: Spend
  readonly choices: readonly Breakdown[]
  /** Further filters. */
  readonly children?: ComponentChildren
}

/** Spend by day, as stacked bars, and in total. */
export function Spent({ context, workspaces, spend, choices, children }: SpentProps): ComponentChild {
  const { query, setQuery } = context
  const options = BREAKDOWNS.filter(([value]) => choices.includes(value))
  const by = options.find(([value]) => value === query.get('by'))?.[0] ?? choices[0] ?? 'model'
  const nameOf = ({ name }: Group): string => {
    if (by === 'workspace') return workspaces.nameOf(name)
    const key = spend.keys.get(name)
    if (key !== undefined) return `${key.name} ${key.label}`
    return by === 'key' ? `${name.slice(0, 12)}…` : name
  }
  return (
    <section class="panel" aria-label="Spend breakdown">
      <div class="head">
        <h2>Spend breakdown</h2>
        <div class="filters">
          <SelectField
            label="Time"
            value={daysAsked(query)}
            options={DAYS}
            onInput={(to) => setQuery({ days: to })}
          />
          {children}
          {options.length > 1 && (
            <SelectField label="By" value={by} options={options} onInput={(to) => setQuery({ by: to })} />
          )}
        </div>
      </div>
      <Totals spend={spend} />
      <Days key={by} spend={spend} groups={spend.groups[by]} nameOf={nameOf} />
      <Groups spend={spend} by={by} nameOf={nameOf} />
    </section>
  )
}

/** Spend of one key, model or workspace. @param search parameters of `GET /activity` */
export function SubjectSpent({
  context,
  search,
  ...props
}: Omit<SpentProps, 'spend'> & { readonly search: Query }): ComponentChild {
  const { api, query } = context
  const days = daysAsked(query)
  const loaded = useLoaded(
    (signal) => loadSpend(api, { days: Number(days), search }, signal),
    [api, days, JSON.stringify(search)],
  )
  const spend = loaded.value
  return (
    <div class="stack">
      <Awaited {...loaded} />
      {spend !== undefined && <Spent context={context} spend={spend} {...props} />}
    </div>
  )
}

function Totals({ spend: { total, isPartial, rowsRead } }: Pick<SpentProps, 'spend'>): ComponentChild {
  return (
    <div class="stack">
      <dl class="tiles">
        <Tile name="Spent" value={usd(total.usage)} />
        <Tile name="Calls" value={count(total.requests)} />
        <Tile name="Own provider keys" value={usd(total.byok)} />
        <Tile name="Forfeited" value={usd(total.forfeited)} note="calls lost in a crash" />
      </dl>
      {isPartial && (
        <p class="notice warn" role="status">
          {`Shows the newest ${count(rowsRead)} rows. Choose fewer days or one workspace to see all rows.`}
        </p>
      )}
    </div>
  )
}

interface GroupsProps {
  readonly spend: Spend
  readonly by: Breakdown
  nameOf(group: Group): string
}

/** @param groups those with the highest spend first */
function Days({
  spend: { sinceS, total },
  groups,
  nameOf,
}: Omit<GroupsProps, 'by'> & { readonly groups: readonly Group[] }): ComponentChild {
  if (groups.length === 0) return null
  return (
    <LegendChart
      title="Daily (UTC)"
      sinceS={sinceS}
      grainS={DAY_S}
      points={total.daily.length}
      lines={barsOf(groups, nameOf)}
      events={[]}
      isStacked
      format={usd}
      timeOf={(second) => new Date(second * 1_000).toISOString().slice(5, 10)}
    />
  )
}

/** The names with the highest spend, and one bar for all others. */
export function barsOf(groups: readonly Group[], nameOf: (group: Group) => string): readonly ChartLine[] {
  const bar = (name: string, of: readonly Group[], nth: number): ChartLine => ({
    name,
    look: `line-${nth + 1}`,
    values: (of[0]?.daily ?? []).map((_, day) =>
      of.reduce((sum, { daily }) => sum + (daily[day]?.usage ?? 0), 0),
    ),
  })
  const rest = groups.slice(BARS)
  return [
    ...groups.slice(0, BARS).map((group, nth) => bar(nameOf(group), [group], nth)),
    ...(rest.length === 0 ? [] : [bar('others', rest, BARS)]),
  ]
}

function Groups({ spend, by, nameOf }: GroupsProps): ComponentChild {
  const columns: readonly Column<Group>[] = [
    {
      title: BREAKDOWNS.find(([value]) => value === by)?.[1] ?? '',
      isName: true,
      cell: (group) => <SubjectLink to={by} id={group.name} text={nameOf(group)} />,
      sortBy: nameOf,
    },
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
    { title: 'Own provider keys', isNumber: true, cell: ({ byok }) => usd(byok), sortBy: ({ byok }) => byok },
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
      rows={spend.groups[by]}
      keyOf={(group) => group.name}
      empty={['No calls in this period. ', <StartLink key="start" />]}
    />
  )
}
