/** Distributions of latencies, drawn: within which time which share of the calls was answered. */
import type { LatencyRecord, ResultRow, SampleRecord, ScenarioRecord } from '../record.ts'
import { spread, type Spread } from '../statistics.ts'
import { figure, isTaken } from './figures.ts'
import { html, type Markup } from './markup.ts'
import { placesOf } from './places.ts'
import { legend, plot, type PlotLine } from './svg/plot.ts'
import { logScale, type Tick } from './svg/scale.ts'

/**
 * Shares of the calls in percent, each with its place on the axis: that of a normal distribution, which gives
 * the bulk and the slow calls as much room. The last is the slowest call.
 */
const PLACES: readonly (readonly [percent: number, place: number])[] = [
  [1, -2.326],
  [5, -1.645],
  [10, -1.282],
  [25, -0.674],
  [50, 0],
  [75, 0.674],
  [90, 1.282],
  [95, 1.645],
  [99, 2.326],
  [99.5, 2.576],
  [99.9, 3.09],
  [99.99, 3.719],
  [100, 4.265],
]
/** Shares that are named at the axis. */
const NAMED = [1, 10, 50, 90, 99, 99.9, 100]
/** The percentiles of every record by their share. */
const FEW: readonly (readonly [percent: number, name: keyof LatencyRecord<number>])[] = [
  [50, 'p50'],
  [90, 'p90'],
  [99, 'p99'],
  [99.9, 'p99_9'],
  [100, 'max'],
]

/** Figures beyond which the rest is folded. */
const OPEN_MAX = 6
/** Cases of a lone subject that one figure holds. */
const CASES_OF_ONE_MAX = 8

interface Group {
  readonly title: string
  readonly curves: readonly Curve[]
}

interface Curve {
  readonly name: string
  readonly shares: readonly Share[]
}

interface Share {
  readonly percent: number
  readonly place: number
  readonly ms: Spread
}

/** A figure for each case that has more than one subject; the cases of a lone subject make one together. */
export function distributionFigures(scenario: ScenarioRecord): Markup | null {
  const groups = groupsOf(scenario)
  if (groups.length === 0) return null
  const names = [...new Set(groups.flatMap(({ curves }) => curves.map(({ name }) => name)))]
  const places = placesOf(names)
  const drawn = groups.map((group) => distributionFigure(group, places))
  const rest = drawn.slice(OPEN_MAX)
  const folded = html`<details><summary>${rest.length} more</summary><div class="distributions">${rest}</div></details>`
  return html`<h3>How long calls took</h3>
<p class="hint">The line at a share of the calls is the time within which they were answered, the median of the repeats;
around it, least to most. Slow calls have as much room as quick ones; time is logarithmic.</p>
${legend(names.map((name) => ({ name, place: places.get(name) ?? 0 })))}
<div class="distributions">${drawn.slice(0, OPEN_MAX)}</div>${rest.length === 0 ? null : folded}`
}

/** @param places of the names in all figures of the scenario */
export function distributionFigure({ title, curves }: Group, places: ReadonlyMap<string, number>): Markup {
  const all = curves.flatMap(({ shares }) => shares)
  const time = logScale(all.flatMap(({ ms }) => [ms.median, ms.min, ms.max]))
  const [first, last] = [
    Math.min(...all.map(({ place }) => place)),
    Math.max(...all.map(({ place }) => place)),
  ]
  const acrossOf = (place: number): number => (place - first) / (last - first)
  const lines = curves.map(({ name, shares }): PlotLine => {
    const isBand = shares.some(({ ms }) => ms.min < ms.max)
    return {
      name,
      place: places.get(name) ?? 0,
      points: shares.map(({ percent, place, ms }) => ({
        x: acrossOf(place),
        y: time.at(ms.median),
        bounds: isBand ? [time.at(ms.min), time.at(ms.max)] : null,
        text: `${name}: ${shareText(percent)} ${figure(ms.median)} ms`,
      })),
    }
  })
  return html`<figure><figcaption>${title}</figcaption>${plot({
    label: labelOf(title, curves),
    xTitle: '% of the calls',
    yTitle: 'ms',
    xTicks: ticksOf(all).map(({ percent, place }): Tick => ({
      at: acrossOf(place),
      text: percent === 100 ? 'all' : String(percent),
    })),
    yTicks: time.ticks,
    lines,
  })}</figure>`
}

function ticksOf(all: readonly Share[]): readonly Pick<Share, 'percent' | 'place'>[] {
  return PLACES.filter(
    ([percent]) => NAMED.includes(percent) && all.some((one) => one.percent === percent),
  ).map(([percent, place]) => ({ percent, place }))
}

function labelOf(title: string, curves: readonly Curve[]): string {
  const texts = curves.map(({ name, shares }) => {
    const reported = shares.filter(({ percent }) => FEW.some(([known]) => known === percent))
    return `${name} ${reported.map(({ percent, ms }) => `${shareText(percent)} ${figure(ms.median)} ms`).join(', ')}`
  })
  return `Latency, ${title}: ${texts.join('; ')}`
}

function shareText(percent: number): string {
  return percent === 100 ? 'the slowest' : `${percent} % within`
}

export function groupsOf({ scenario, rows }: ScenarioRecord): readonly Group[] {
  const taken = rows.map((row) => ({ row, shares: sharesOf(row) })).filter(({ shares }) => isSpread(shares))
  const subjects = new Set(taken.map(({ row }) => row.subject))
  const cases = [...new Set(taken.map(({ row }) => row.case))]
  if (subjects.size === 1 && cases.length <= CASES_OF_ONE_MAX) {
    const curves = taken.map(({ row, shares }) => ({ name: row.case, shares }))
    return [{ title: `${scenario}, ${[...subjects].join('')}`, curves }]
  }
  return cases
    .map((title) => ({
      title,
      curves: taken
        .filter(({ row }) => row.case === title)
        .map(({ row, shares }) => ({ name: row.subject, shares })),
    }))
    .filter(({ curves }) => curves.length > 1)
}

/** A figure that was taken once, such as the time of a start, has no distribution. */
function isSpread(shares: readonly Share[]): boolean {
  return (shares.at(-1)?.ms.median ?? 0) > (shares[0]?.ms.median ?? 0)
}

function sharesOf({ samples }: ResultRow): readonly Share[] {
  return PLACES.flatMap(([percent, place]) => {
    const values = samples.map((one) => msAt(one, percent)).filter((ms) => isTaken(ms) && ms > 0)
    return values.length === 0 ? [] : [{ percent, place, ms: spread(values) }]
  })
}

function msAt({ latency_us: few, latency_by_percent_us: many }: SampleRecord, percent: number): number {
  const name = FEW.find(([known]) => known === percent)?.[1]
  const us = many?.[String(percent)] ?? (name === undefined ? null : (few?.[name] ?? null))
  return us === null ? Number.NaN : us / 1_000
}
