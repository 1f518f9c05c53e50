/** Comparisons: the subject that was ahead, in which figure, and how certain that is. */
import type { RatioRecord, ResultRow, ResultsFile, SampleRecord, ScenarioRecord } from '../record.ts'
import { pairedRatio, type Interval } from '../statistics.ts'
import { RUNG_PREFIX } from '../ladder/rungs.ts'
import { isTaken } from './figures.ts'

export type Metric = RatioRecord['metric'] | 'latency_p50' | 'latency_p99' | 'rss_mb'

/** Verdict on `over` beside `under`. */
export type Verdict = 'ahead' | 'behind' | 'alike' | 'unsure'

export interface Comparison {
  readonly scenario: string
  readonly case: string
  readonly metric: Metric
  readonly over: string
  readonly under: string
  readonly ratio: Interval
  /** Repeats of the interval; null without rows. */
  readonly repeats: number | null
  readonly verdict: Verdict
  /** The reason why the verdict is unsure. */
  readonly doubt: string | null
  /**
   * peer: the product against another; own: against itself or against no gateway; other: without the product.
   */
  readonly kind: 'peer' | 'own' | 'other'
}

export const IS_LESS_BETTER: Readonly<Record<Metric, boolean>> = {
  cpu_us_per_request: true,
  cpu_s_per_gb: true,
  requests_per_second: false,
  mb_per_second: false,
  latency_p50: true,
  latency_p99: true,
  rss_mb: true,
}

export const PRODUCT_NAME = 'Sluice'
const PRODUCT = 'sluice'
/**
 * Variants of the product that show the cost of a part of its work: they are not for use, and their wins do
 * not count.
 */
const VARIANTS = new Set(['sluice-ungoverned', 'sluice-unsynced', 'sluice-unlimited'])
/** The same load without a gateway: the lower limit of the cost. */
const NO_GATEWAY = 'direct'

/** Distance from 1 within which an interval is no noticeable difference. */
const ALIKE_WITHIN = 0.02

export function comparisonsOf(results: ResultsFile): readonly Comparison[] {
  return results.scenarios.flatMap(scenarioComparisons)
}

/**
 * The ratios of the record, seen from the product where it takes part, and further ones that its rows allow.
 */
export function scenarioComparisons(scenario: ScenarioRecord): readonly Comparison[] {
  const given = scenario.ratios
    .filter(({ ratio }) => isTaken(ratio.median) && ratio.median > 0)
    .map((one) => compared(scenario, seenFromProduct(one)))
  const known = new Set(given.map(nameOf))
  const more = derived(scenario)
    .map((one) => compared(scenario, one))
    .filter((one) => !known.has(nameOf(one)))
  return ordered([...given, ...more], scenario)
}

/** Comparisons in the order of the rows: by case, then by the other side. */
function ordered(all: readonly Comparison[], { rows }: ScenarioRecord): readonly Comparison[] {
  const cases = rows.map((row) => row.case)
  const subjects = rows.map(({ subject }) => subject)
  const metrics = Object.keys(IS_LESS_BETTER)
  return all.toSorted(
    (a, b) =>
      cases.indexOf(a.case) - cases.indexOf(b.case) ||
      subjects.indexOf(a.under) - subjects.indexOf(b.under) ||
      metrics.indexOf(a.metric) - metrics.indexOf(b.metric),
  )
}

type Pair = Pick<Comparison, 'scenario' | 'case' | 'metric' | 'over' | 'under' | 'ratio'>

function nameOf(one: Pair): string {
  return JSON.stringify([one.case, one.metric, one.over, one.under])
}

function seenFromProduct(one: RatioRecord): Pair {
  if (!isOurs(one.under) || isOurs(one.over)) return one
  const { median, low, high } = one.ratio
  return {
    ...one,
    over: one.under,
    under: one.over,
    ratio: { median: 1 / median, low: 1 / high, high: 1 / low },
  }
}

/**
 * True for the product as it is used: sealed files and containers are subjects of their own where they are
 * compared.
 */
export function isProduct(name: string): boolean {
  return isOurs(name) && !VARIANTS.has(name) && !isRung(name)
}

/** True for a part of the product on its ladder. */
function isRung(name: string): boolean {
  return name.startsWith(RUNG_PREFIX)
}

export function isOurs(name: string): boolean {
  return name === PRODUCT || name.startsWith(`${PRODUCT}-`) || name.startsWith(`${PRODUCT} `)
}

function derived(scenario: ScenarioRecord): readonly Pair[] {
  return scenario.rows
    .filter(({ subject }) => isProduct(subject))
    .flatMap((ours) =>
      scenario.rows
        .filter((row) => row.case === ours.case && !isProduct(row.subject) && row.subject !== NO_GATEWAY)
        // The table of rungs compares each with its neighbour.
        .filter((row) => !isRung(row.subject))
        .flatMap((theirs) => pairOf(ours, theirs)),
    )
}

function pairOf(ours: ResultRow, theirs: ResultRow): readonly Pair[] {
  return metricsOf(ours, theirs).flatMap((metric) => {
    const ratio = pairedRatio(
      ours.samples.map((one) => read(one, metric)),
      theirs.samples.map((one) => read(one, metric)),
    )
    const pair = {
      scenario: ours.scenario,
      case: ours.case,
      metric,
      over: ours.subject,
      under: theirs.subject,
      ratio,
    }
    return isTaken(ratio.median) && ratio.median > 0 ? [pair] : []
  })
}

/**
 * Figures to compare. Under a fixed rate all subjects serve the same, and without one latency repeats the
 * rate.
 */
function metricsOf(ours: ResultRow, theirs: ResultRow): readonly Metric[] {
  const isOpen =
    ours.pace === 'open' && theirs.pace === 'open' && ours.offered_per_second === theirs.offered_per_second
  const isClosed = ours.pace === 'closed' && theirs.pace === 'closed'
  const isOfBytes = ours.cpu_s_per_gb !== null && theirs.cpu_s_per_gb !== null
  return [
    isOfBytes ? 'cpu_s_per_gb' : 'cpu_us_per_request',
    ...(isClosed ? [isOfBytes ? ('mb_per_second' as const) : ('requests_per_second' as const)] : []),
    ...(isOpen ? ['latency_p50' as const, 'latency_p99' as const] : []),
    'rss_mb',
  ]
}

function read(one: SampleRecord, metric: Metric): number {
  if (metric === 'latency_p50') return one.latency_us?.p50 ?? Number.NaN
  if (metric === 'latency_p99') return one.latency_us?.p99 ?? Number.NaN
  return one[metric] ?? Number.NaN
}

function compared(scenario: ScenarioRecord, pair: Pair): Comparison {
  const rowOf = (subject: string): ResultRow | undefined =>
    scenario.rows.find((row) => row.case === pair.case && row.subject === subject)
  const [over, under] = [rowOf(pair.over), rowOf(pair.under)]
  const repeats =
    over === undefined || under === undefined ? null : Math.min(over.samples.length, under.samples.length)
  const doubt = doubtOf(pair, { over, under, repeats })
  const { scenario: name, case: ofCase, metric, ratio } = pair
  return {
    scenario: name,
    case: ofCase,
    metric,
    over: pair.over,
    under: pair.under,
    ratio,
    repeats,
    doubt,
    verdict: doubt === null ? verdictOf(ratio, metric) : 'unsure',
    kind: kindOf(pair),
  }
}

function verdictOf({ low, high }: Interval, metric: Metric): Verdict {
  const isApart = low > 1 || high < 1
  const isNear = low >= 1 - ALIKE_WITHIN && high <= 1 + ALIKE_WITHIN
  if (!isApart || isNear) return 'alike'
  return high < 1 === IS_LESS_BETTER[metric] ? 'ahead' : 'behind'
}

function kindOf({ over, under }: Pair): Comparison['kind'] {
  if (isProduct(over) && !isOurs(under) && under !== NO_GATEWAY) return 'peer'
  return isOurs(over) && (isOurs(under) || under === NO_GATEWAY) ? 'own' : 'other'
}

interface Sides {
  readonly over: ResultRow | undefined
  readonly under: ResultRow | undefined
  readonly repeats: number | null
}

/** The reason why neither side counts as ahead at any ratio. */
function doubtOf(pair: Pair, { over, under, repeats }: Sides): string | null {
  const refused = [over, under].find((row) => row !== undefined && row.failed > 0)
  if (refused !== undefined)
    return `${refused.failed.toLocaleString('en-US')} of the requests to ${refused.subject} failed`
  if (!isTaken(pair.ratio.low) || !isTaken(pair.ratio.high)) return 'no interval was taken'
  if (repeats !== null && repeats < 2) return 'taken once: no interval'
  if (over === undefined || under === undefined) return null
  const slower = pair.ratio.median < 1 ? over : under
  const isOfRate = pair.metric === 'requests_per_second' || pair.metric === 'mb_per_second'
  const isOfLatency = pair.metric === 'latency_p50' || pair.metric === 'latency_p99'
  const isHeldBack =
    (isOfRate && slower.is_generator_limit) ||
    (isOfLatency && (over.is_generator_limit || under.is_generator_limit))
  return isHeldBack ? 'the generator, not the server, was the limit' : null
}
