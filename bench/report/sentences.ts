/** Comparisons in words: one sentence for all cases of a scenario with the same result. */
import type { Comparison, Metric } from './comparisons.ts'
import { range, ratioFigure } from './figures.ts'

const WORDS: Readonly<Record<Metric, readonly [verb: string, noun: string]>> = {
  cpu_us_per_request: ['needs', 'CPU per request'],
  cpu_s_per_gb: ['needs', 'CPU per GB'],
  requests_per_second: ['serves', 'requests per second'],
  mb_per_second: ['moves', 'MB per second'],
  latency_p50: ['has', 'median latency'],
  latency_p99: ['has', 'p99 latency'],
  rss_mb: ['holds', 'memory'],
}

export function metricName(metric: Metric): string {
  return WORDS[metric][1]
}

export interface Sentence {
  readonly scenario: string
  readonly metric: Metric
  readonly text: string
  /** The cases, and the certainty. */
  readonly detail: string
}

/** Cases that a sentence names at most. */
const CASES_NAMED_MAX = 3

/** @param all comparisons of one verdict; @param of the comparisons that count the cases of a sentence */
export function sentences(all: readonly Comparison[], of: readonly Comparison[] = all): readonly Sentence[] {
  return groups(all).map((group) => {
    const [first] = group
    const [verb, noun] = WORDS[first.metric]
    const ratios = group.map(({ ratio }) => ratio.median)
    const [least, most] = [ratioFigure(Math.min(...ratios)), ratioFigure(Math.max(...ratios))]
    const times = least === most ? `${least} ×` : `${least} to ${most} ×`
    return {
      scenario: first.scenario,
      metric: first.metric,
      text: `${first.over} ${verb} ${times} the ${noun} of ${first.under}`,
      detail: detailOf(group, of.filter((one) => groupName(one) === groupName(first)).length),
    }
  })
}

type Group = readonly [Comparison, ...(readonly Comparison[])]

function groups(all: readonly Comparison[]): readonly Group[] {
  const found = new Map<string, Group>()
  for (const one of all) {
    const before = found.get(groupName(one))
    found.set(groupName(one), before === undefined ? [one] : [...before, one])
  }
  return [...found.values()]
}

function groupName({ scenario, metric, over, under }: Comparison): string {
  return JSON.stringify([scenario, metric, over, under])
}

function detailOf(group: Group, casesOfAll: number): string {
  const [first] = group
  const doubts = [...new Set(group.flatMap(({ doubt }) => doubt ?? []))]
  const why = doubts.length === 0 ? '' : `; ${doubts.slice(0, 2).join('; ')}`
  if (group.length === 1) {
    const share = casesOfAll === 1 ? '' : `, 1 of ${casesOfAll} cases`
    return `${first.case}${share}${first.repeats === 1 ? '' : `; interval ${range(first.ratio)}`}${why}`
  }
  const low = Math.min(...group.map(({ ratio }) => ratio.low))
  const high = Math.max(...group.map(({ ratio }) => ratio.high))
  const named = group.slice(0, CASES_NAMED_MAX).map((one) => `“${one.case}”`)
  const more = group.length - named.length
  const share =
    group.length === casesOfAll ? `all ${casesOfAll} cases` : `${group.length} of ${casesOfAll} cases`
  const intervals = group.every(({ repeats }) => repeats === 1)
    ? ''
    : `; intervals within ${range({ low, high })}`
  return `${share}: ${named.join(', ')}${more === 0 ? '' : ` and ${more} more`}${intervals}${why}`
}
