/** Lines of the grid above the one at zero. */
const GRID_LINES = 4
const NICE = [1, 2, 2.5, 5, 10] as const

/** Where values and times lie on a drawing. */
export interface Scale {
  /** Values of the lines of the grid, the lowest first; the last is the top. */
  readonly grid: readonly number[]
  /** Pixels from a point to the end of its place where bars stand around points; 0: lines end at points. */
  readonly half: number
  x(point: number): number
  y(value: number): number
  /** The point at a place, in whole points. */
  pointAt(x: number): number
}

export interface Frame {
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

/** Pixels above the highest line, and behind the last point. */
const TOP = 8
const RIGHT = 12

function niceStep(most: number): number {
  if (most <= 0) return 1
  const rough = most / GRID_LINES
  const power = 10 ** Math.floor(Math.log10(rough))
  return (NICE.find((nice) => nice * power >= rough) ?? 10) * power
}

/** A ring around the place that a path has come to, as wide as the eye finds. */
const DOT = 'm-2 0a2 2 0 1 0 4 0a2 2 0 1 0 -4 0'

/** The path of a line; where nothing was measured it has a gap, and a point alone is a dot. */
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

/** Share of its place that a bar takes, and the most pixels of half a bar. */
const BAR_SHARE = 0.7
const HALF_BAR_MAX = 24

/** Each line on top of those before it. */
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

/** Points at which a time stands below the drawing: round ones, about as many as have room. */
export function ticksOf(
  sinceS: number,
  grainS: number,
  { points, room }: { points: number; room: number },
): number[] {
  const spanS = points * grainS
  const stepS = STEPS_S.find((step) => spanS / step <= room) ?? DAY_S * Math.ceil(spanS / DAY_S / room)
  // Days of spend are those of UTC, as budgets are.
  const zone = grainS < DAY_S ? zoneS(sinceS) : 0
  const first = Math.ceil((sinceS - zone) / stepS) * stepS + zone
  const ticks: number[] = []
  for (let at = first; at < sinceS + spanS; at += stepS) ticks.push((at - sinceS) / grainS)
  return ticks
}

const DAY_S = 86_400
const MINUTE_S = 60
const STEPS_S = [10, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 14_400, 21_600, 43_200, DAY_S]

/** Seconds by which the person's clock is behind UTC: round times are round on that clock. */
function zoneS(atS: number): number {
  return new Date(atS * 1_000).getTimezoneOffset() * MINUTE_S
}
