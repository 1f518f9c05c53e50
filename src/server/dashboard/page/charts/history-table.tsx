import { h, type ComponentChild } from 'preact'
import { useState } from 'preact/hooks'
import type { HistoryEvent } from '../../../../schemas/operator/history.ts'
import { DataTable, type Column } from '../parts/data-table.tsx'
import { count } from '../parts/figures.tsx'
import type { ChartLine } from './time-chart.tsx'

/** Rows of the table: the newest points. */
const ROWS_MAX = 120

export interface HistoryTableProps {
  readonly title: string
  readonly sinceS: number
  readonly grainS: number
  readonly lines: readonly ChartLine[]
  readonly events: readonly HistoryEvent[]
  format(value: number | null | undefined): string
  timeOf(second: number): string
}

/** What a chart shows, for who reads it as text: the newest points, and the events. Made when it is opened. */
export function HistoryTable(props: HistoryTableProps): ComponentChild {
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
      {events.map(({ at, kind, text }) => (
        <li key={`${at} ${kind} ${text}`}>
          {`${new Date(at).toLocaleString('en-GB')} ${kind.replace('_', ' ')}: ${text}`}
        </li>
      ))}
    </ul>
  )
}
