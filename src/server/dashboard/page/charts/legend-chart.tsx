import { h, type ComponentChild } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import type { HistoryEvent } from '../../../../schemas/operator/history.ts'
import { HistoryTable } from './history-table.tsx'
import { TimeChart, type ChartEvent, type TimeChartProps } from './time-chart.tsx'

const BAD = ['breaker_open', 'degraded', 'reload_refused']

export interface LegendChartProps extends Omit<TimeChartProps, 'events' | 'onLook'> {
  readonly events: readonly HistoryEvent[]
}

/** A chart with a button for each of its lines, which takes the line away, and the same as a table. */
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
