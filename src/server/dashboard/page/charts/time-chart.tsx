import { h, type ComponentChild } from 'preact'
import { useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { barsOf, pathOf, scaleOf, stackOf, ticksOf, type Scale } from './chart-scale.ts'
import { useRange, type Range } from './chart-range.ts'

export interface ChartLine {
  readonly name: string
  /** Names of classes that give it a colour, and dashes. */
  readonly look: string
  readonly values: readonly (number | null)[]
}

export interface ChartEvent {
  readonly atS: number
  readonly text: string
  readonly isBad: boolean
}

export interface TimeChartProps {
  readonly title: string
  /** Second since 1970 of the first point. */
  readonly sinceS: number
  readonly grainS: number
  readonly points: number
  readonly lines: readonly ChartLine[]
  readonly events: readonly ChartEvent[]
  /** Bars on top of each other instead of lines. */
  readonly isStacked?: boolean
  format(value: number | null | undefined): string
  timeOf(second: number): string
  /** The point that is looked at, from 0; null: none. */
  onLook(point: number | null): void
  /** A part was chosen, in seconds since 1970; left out: none can be. */
  onRange?(sinceS: number, untilS: number): void
  /** All is wanted again. */
  onReset?(): void
}

const HEIGHT = 220
const LEFT = 60
const BOTTOM = 24
/** Pixels of a time below the drawing. */
const TICK_WIDTH = 90

/** Lines over time, drawn by ourselves: a range is chosen by the pointer or by keys. */
export function TimeChart(props: TimeChartProps): ComponentChild {
  const {
    title,
    sinceS,
    grainS,
    points,
    lines,
    isStacked = false,
    format,
    timeOf,
    onLook,
    onRange,
    onReset,
  } = props
  const { box, width } = useWidth()
  const help = useId()
  const range = useRange({
    points,
    onRange: onRange && ((first, last) => onRange(sinceS + first * grainS, sinceS + (last + 1) * grainS)),
    onReset,
  })
  const scale = useMemo(() => {
    const all = lines.map(({ values }) => values)
    const most = Math.max(0, ...(isStacked ? stackOf(all) : all).flat().map((value) => value ?? 0))
    return scaleOf({ width, height: HEIGHT, left: LEFT, bottom: BOTTOM, hasBars: isStacked }, points, most)
  }, [lines, width, points])
  const said = lines.map(({ name, values }) => `${name} ${format(values.at(-1))}`).join(', ')
  const at = range.cursor !== null && range.cursor < points ? range.cursor : null
  useEffect(() => onLook(at), [at])
  const pointOf = (event: PointerEvent): number =>
    scale.pointAt(event.clientX - (box.current?.getBoundingClientRect().left ?? 0))
  return (
    <div
      ref={box}
      class="chart"
      role="application"
      aria-roledescription="chart"
      aria-label={`${title}. Last: ${said}`}
      aria-describedby={help}
      tabIndex={0}
      onKeyDown={range.key}
      onPointerMove={(event) => range.move(pointOf(event))}
      onPointerLeave={() => range.marked === null && range.move(null)}
      onPointerDown={(event) => {
        if (event.button !== 0) return
        box.current?.setPointerCapture(event.pointerId)
        range.move(pointOf(event))
        range.grasp(pointOf(event))
      }}
      onPointerUp={range.release}
      onPointerCancel={range.drop}
    >
      <Drawing {...props} scale={scale} width={width} range={range} />
      <p id={help} class="unseen">
        {onRange === undefined
          ? 'Left and right arrows select a point.'
          : 'Left and right arrows select a point; with Shift they mark a range. Enter zooms in, Escape zooms out.'}
      </p>
      <p class="unseen" aria-live="polite">
        {at !== null &&
          `${timeOf(sinceS + at * grainS)}: ${lines.map(({ name, values }) => `${name} ${format(values[at])}`).join(', ')}`}
      </p>
    </div>
  )
}

interface DrawingProps extends TimeChartProps {
  readonly scale: Scale
  readonly width: number
  readonly range: Range
}

function Drawing({ scale, width, range, ...props }: DrawingProps): ComponentChild {
  const { sinceS, grainS, points, lines, events, format, timeOf } = props
  const { cursor, marked } = range
  const paths = useMemo(() => {
    const tops = stackOf(scale.half > 0 ? lines.map(({ values }) => values) : [])
    return lines.map(({ name, look, values }, nth) => {
      const top = tops[nth]
      const path = top === undefined ? pathOf(values, scale) : barsOf(tops[nth - 1], top, scale)
      return <path key={name} class={look} d={path} />
    })
  }, [lines, scale])
  const room = Math.max(2, Math.floor((width - LEFT) / TICK_WIDTH))
  const floor = HEIGHT - BOTTOM
  return (
    <svg width={width} height={HEIGHT} aria-hidden="true">
      {scale.grid.map((value) => (
        <g key={value}>
          <line class="rule" x1={LEFT} x2={width} y1={scale.y(value)} y2={scale.y(value)} />
          <text x={LEFT - 6} y={scale.y(value) + 4} text-anchor="end">
            {format(value)}
          </text>
        </g>
      ))}
      {ticksOf(sinceS, grainS, { points, room }).map((point) => (
        <text key={point} x={scale.x(point)} y={HEIGHT - 6} text-anchor="middle">
          {timeOf(sinceS + point * grainS)}
        </text>
      ))}
      {events.map(({ atS, text, isBad }) => {
        const x = scale.x((atS - sinceS) / grainS)
        return (
          <g key={`${atS} ${text}`} class={isBad ? 'event bad' : 'event'}>
            <title>{text}</title>
            <line x1={x} x2={x} y1={0} y2={floor} />
            <path d={`M${x - 4} 0h8l-4 7z`} />
          </g>
        )
      })}
      {marked !== null && (
        <rect
          class="marked"
          x={scale.x(marked[0])}
          y={0}
          width={scale.x(marked[1]) - scale.x(marked[0])}
          height={floor}
        />
      )}
      <g class={scale.half > 0 ? 'lines bars' : 'lines'}>{paths}</g>
      {cursor !== null && <line class="cursor" x1={scale.x(cursor)} x2={scale.x(cursor)} y1={0} y2={floor} />}
    </svg>
  )
}

/** The width of an element, whenever it changes. */
function useWidth(): { readonly box: { current: HTMLDivElement | null }; readonly width: number } {
  const box = useRef<HTMLDivElement | null>(null)
  const [width, setWidth] = useState(0)
  useLayoutEffect(() => {
    const element = box.current
    if (element === null) return undefined
    const observer = new ResizeObserver(() => setWidth(element.clientWidth))
    setWidth(element.clientWidth)
    observer.observe(element)
    return () => observer.disconnect()
  }, [])
  return { box, width }
}
