import { h, type ComponentChild } from 'preact'
import { useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'

export interface ChartLine {
  readonly name: string
  /** Class names that set its color and dashes. */
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
  /** Index of the point under the pointer, from 0; null: none. */
  onLook(point: number | null): void
  /** Called when a range was selected, in seconds since 1970; absent: no range can be selected. */
  onRange?(sinceS: number, untilS: number): void
  /** All is wanted again. */
  onReset?(): void
}

const HEIGHT = 220
const LEFT = 60
const BOTTOM = 24
/** Width in pixels of a time label below the drawing. */
const TICK_WIDTH = 90

/** Lines over time, drawn without a library. A range is selected with the pointer or the keyboard. */
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
  const lastValues = lines.map(({ name, values }) => `${name} ${format(values.at(-1))}`).join(', ')
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
      aria-label={`${title}. Last: ${lastValues}`}
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

/** The width of an element, updated whenever it changes. */
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

/** Points that a long step of the keyboard moves. */
const LONG_STEP = 10

interface RangeProps {
  readonly points: number
  /** Called with the first and the last point of the range, both included; undefined: no range can be selected. */
  readonly onRange: ((first: number, last: number) => void) | undefined
  readonly onReset: (() => void) | undefined
}

interface Range {
  /** The point under the cursor; null: none. */
  readonly cursor: number | null
  /** The marked points, in order; null: none. */
  readonly marked: readonly [first: number, last: number] | null
  move(point: number | null): void
  grasp(point: number): void
  /** Ends the marking, and applies it if it is a range. */
  release(): void
  /** Clears the marking. */
  drop(): void
  key(event: KeyboardEvent): void
}

/** The point under the cursor and the marked range, set with the pointer or the keyboard. */
function useRange({ points, onRange, onReset }: RangeProps): Range {
  const [cursor, setCursor] = useState<number | null>(null)
  const [anchor, setAnchor] = useState<number | null>(null)
  const marked = anchor === null || cursor === null || anchor === cursor ? null : inOrder(anchor, cursor)
  const drop = (): void => setAnchor(null)
  const grasp = (point: number): void => {
    if (onRange !== undefined) setAnchor(point)
  }
  const take = (): void => {
    if (marked !== null) onRange?.(...marked)
    drop()
  }
  const step = (to: number, isMarking: boolean): void => {
    const from = cursor ?? points - 1
    if (isMarking && anchor === null) grasp(from)
    if (!isMarking) drop()
    setCursor(Math.min(points - 1, Math.max(0, to)))
  }
  const key = (event: KeyboardEvent): void => {
    const at = cursor ?? points
    const places: Readonly<Record<string, number>> = {
      ArrowLeft: at - 1,
      ArrowRight: at + 1,
      PageUp: at - LONG_STEP,
      PageDown: at + LONG_STEP,
      Home: 0,
      End: points - 1,
    }
    const to = places[event.key]
    if (to !== undefined) step(to, event.shiftKey)
    else if (event.key === 'Enter') take()
    else if (event.key === 'Escape') {
      if (anchor === null) onReset?.()
      drop()
    } else return
    event.preventDefault()
  }
  return { cursor, marked, move: setCursor, grasp, release: take, drop, key }
}

function inOrder(one: number, other: number): readonly [number, number] {
  return one < other ? [one, other] : [other, one]
}

/** Lines of the grid above the one at zero. */
const GRID_LINES = 4
const NICE = [1, 2, 2.5, 5, 10] as const
/** Pixels above the highest line, and after the last point. */
const TOP = 8
const RIGHT = 12

interface Scale {
  /** Values of the grid lines, the lowest first; the last is the top of the scale. */
  readonly grid: readonly number[]
  /** Pixels from a point to the edge of its slot, for bars, which are centered on points; 0: lines, which end at points. */
  readonly half: number
  x(point: number): number
  y(value: number): number
  /** The whole point nearest to a horizontal position. */
  pointAt(x: number): number
}

interface Frame {
  readonly width: number
  readonly height: number
  readonly left: number
  readonly bottom: number
  readonly hasBars?: boolean
}

/** @param points number of points, at least 1 */
export function scaleOf(frame: Frame, points: number, most: number): Scale {
  const { width, height, left, bottom, hasBars = false } = frame
  const step = niceStep(most)
  const lines = Math.max(1, Math.ceil(most / step))
  const [all, up, last] = [Math.max(1, width - left - RIGHT), height - bottom - TOP, Math.max(1, points - 1)]
  const half = hasBars ? all / points / 2 : 0
  const across = Math.max(1, all - 2 * half)
  const x = (point: number): number => left + half + (point / last) * across
  return {
    grid: Array.from({ length: lines + 1 }, (_, nth) => nth * step),
    half,
    x,
    y: (value) => TOP + up - (value / (lines * step)) * up,
    pointAt: (at) => Math.min(points - 1, Math.max(0, Math.round(((at - left - half) / across) * last))),
  }
}

function niceStep(most: number): number {
  if (most <= 0) return 1
  const rough = most / GRID_LINES
  const power = 10 ** Math.floor(Math.log10(rough))
  return (NICE.find((nice) => nice * power >= rough) ?? 10) * power
}

/** A ring around the current position of a path, just large enough to be seen. */
const DOT = 'm-2 0a2 2 0 1 0 4 0a2 2 0 1 0 -4 0'

/** The path of a line; it has gaps where nothing was measured, and a single point is a dot. */
export function pathOf(values: readonly (number | null)[], { x, y }: Pick<Scale, 'x' | 'y'>): string {
  let path = ''
  let isOn = false
  for (const [point, value] of values.entries()) {
    if (value !== null) {
      const place = `${x(point).toFixed(1)} ${y(value).toFixed(1)}`
      path += `${isOn ? 'L' : 'M'}${place}`
      if (!isOn && (values[point + 1] ?? null) === null) path += DOT
    }
    isOn = value !== null
  }
  return path
}

/** Share of its slot that a bar fills, and the most pixels of half a bar. */
const BAR_SHARE = 0.7
const HALF_BAR_MAX = 24

/** Stacks each line on top of the previous ones. */
export function stackOf(lines: readonly (readonly (number | null)[])[]): readonly (readonly number[])[] {
  const tops: number[][] = []
  for (const values of lines) tops.push(values.map((value, at) => (tops.at(-1)?.[at] ?? 0) + (value ?? 0)))
  return tops
}

/** The path of bars from one height up to another; undefined: from zero. */
export function barsOf(
  from: readonly number[] | undefined,
  to: readonly number[],
  { x, y, half }: Pick<Scale, 'x' | 'y' | 'half'>,
): string {
  const wide = Math.min(HALF_BAR_MAX, half * BAR_SHARE)
  const bar = (top: number, at: number): string => {
    const bottom = from?.[at] ?? 0
    const sides = [x(at) - wide, x(at) + wide].map((side) => side.toFixed(1))
    return top > bottom
      ? `M${sides[0]} ${y(bottom).toFixed(1)}H${sides[1]}V${y(top).toFixed(1)}H${sides[0]}Z`
      : ''
  }
  return to.map(bar).join('')
}

const DAY_S = 86_400
const MINUTE_S = 60
const STEPS_S = [10, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 14_400, 21_600, 43_200, DAY_S]

/** Points with a time label below the drawing: round times, about as many as fit. */
export function ticksOf(
  sinceS: number,
  grainS: number,
  { points, room }: { points: number; room: number },
): number[] {
  const spanS = points * grainS
  const stepS = STEPS_S.find((step) => spanS / step <= room) ?? DAY_S * Math.ceil(spanS / DAY_S / room)
  // Days of spend are in UTC, as budgets are.
  const zone = grainS < DAY_S ? zoneS(sinceS) : 0
  const first = Math.ceil((sinceS - zone) / stepS) * stepS + zone
  const ticks: number[] = []
  for (let at = first; at < sinceS + spanS; at += stepS) ticks.push((at - sinceS) / grainS)
  return ticks
}

/** Seconds that UTC is ahead of the user's clock: round times are round on that clock. */
function zoneS(atS: number): number {
  return new Date(atS * 1_000).getTimezoneOffset() * MINUTE_S
}
