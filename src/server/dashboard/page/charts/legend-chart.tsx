import { type ComponentChild, h } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import type { HistoryEvent } from '../../../../schemas/operator/history.ts'
import { DataTable, type Column } from '../parts/data-table.tsx'
import { count } from '../parts/figures.tsx'
import { type ChartEvent, type ChartLine, TimeChart, type TimeChartProps } from './time-chart.tsx'

const BAD = ['breaker_open', 'degraded', 'reload_refused']

export interface LegendChartProps extends Omit<TimeChartProps, 'events' | 'onLook'> {
  readonly events: readonly HistoryEvent[]
}

/** A chart with a button for each line, which hides the line, and with the same data as a table. */
export function LegendChart({ lines, events, ...chart }: LegendChartProps): ComponentChild {
  const { title, sinceS, grainS, isStacked, format, timeOf } = chart
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set())
  const [looked, setLooked] = useState<number | null>(null)
  const shown = useMemo(() => lines.filter(({ name }) => !hidden.has(name)), [lines, hidden])
  const toggle = (name: string): void =>
    setHidden((last) => new Set(last.has(name) ? [...last].filter((one) => one !== name) : [...last, name]))
  const figureOf = (values: readonly (number | null)[]): number | null | undefined =>
    looked === null && isStacked === true ? sumOf(values) : values.at(looked ?? -1)
  return (
    <div class="stack">
      <TimeChart {...chart} lines={shown} events={events.map(markOf)} onLook={setLooked} />
      <div class="actions" role="group" aria-label="Visible lines">
        {lines.map(({ name, look, values }) => (
          <button
            key={name}
            type="button"
            class="small legend"
            aria-pressed={!hidden.has(name)}
            onClick={() => toggle(name)}
          >
            <i class={look} />
            {`${name} `}
            <b>{format(figureOf(values))}</b>
          </button>
        ))}
        <span class="legend">
          {looked !== null &&
            [
              timeOf(sinceS + looked * grainS),
              ...events
                .filter(({ at }) => Math.floor((Date.parse(at) / 1_000 - sinceS) / grainS) === looked)
                .map(eventText),
            ].join(', ')}
        </span>
      </div>
      <HistoryTable {...{ title, sinceS, grainS, events, format, timeOf }} lines={shown} />
    </div>
  )
}

const eventText = ({ kind, text }: HistoryEvent): string => `${kind.replace('_', ' ')}: ${text}`

function markOf(event: HistoryEvent): ChartEvent {
  return { atS: Date.parse(event.at) / 1_000, text: eventText(event), isBad: BAD.includes(event.kind) }
}

function sumOf(values: readonly (number | null)[]): number {
  return values.reduce<number>((sum, value) => sum + (value ?? 0), 0)
}

/** Rows of the table: the newest points. */
const ROWS_MAX = 120

interface HistoryTableProps {
  readonly title: string
  readonly sinceS: number
  readonly grainS: number
  readonly lines: readonly ChartLine[]
  readonly events: readonly HistoryEvent[]
  format(value: number | null | undefined): string
  timeOf(second: number): string
}

/** The data of a chart as a table for screen readers: the newest points, and the events. Created when it is opened. */
function HistoryTable(props: HistoryTableProps): ComponentChild {
  const [isOpen, setOpen] = useState(false)
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>As a table</summary>
      {isOpen && <Points {...props} />}
      {isOpen && <Events {...props} />}
    </details>
  )
}

interface Row {
  readonly point: number
}

function Points({ title, sinceS, grainS, lines, format, timeOf }: HistoryTableProps): ComponentChild {
  const points = lines[0]?.values.length ?? 0
  const rows = Array.from({ length: Math.min(ROWS_MAX, points) }, (_, nth) => ({ point: points - 1 - nth }))
  const columns: readonly Column<Row>[] = [
    { title: 'Time', isName: true, cell: ({ point }) => timeOf(sinceS + point * grainS) },
    ...lines.map(({ name, values }): Column<Row> => ({
      title: name,
      isNumber: true,
      cell: ({ point }) => format(values[point]),
      sortBy: ({ point }) => values[point] ?? -1,
    })),
  ]
  return (
    <DataTable<Row>
      caption={`${title}, the newest ${count(rows.length)} points`}
      columns={columns}
      rows={rows}
      keyOf={({ point }) => String(sinceS + point * grainS)}
      empty="No measurements."
    />
  )
}

function Events({ events }: Pick<HistoryTableProps, 'events'>): ComponentChild {
  if (events.length === 0) return <p class="hint">No start, reload, open breaker or outage in this period.</p>
  return (
    <ul aria-label="Events">
      {events.map((event) => (
        <li key={`${event.at} ${event.kind} ${event.text}`}>
          {`${new Date(event.at).toLocaleString('en-GB')} ${eventText(event)}`}
        </li>
      ))}
    </ul>
  )
}
