/** What a call costs at Sluice and beside it: the one result of a run. */
import type { ResultRow, ResultsFile } from '../record.ts'
import type { Spread } from '../statistics.ts'
import type { Comparison } from './comparisons.ts'
import { counted, figure, isTaken, ratioFigure } from './figures.ts'

type CostMetric = 'cpu_us_per_request' | 'cpu_s_per_gb'

export interface Cost {
  readonly scenario: string
  readonly case: string
  readonly metric: CostMetric
  readonly ours: ResultRow
  /** Beside it, the cheapest first. */
  readonly others: readonly { readonly row: ResultRow; readonly comparison: Comparison }[]
}

/** Scenarios whose cost tells most of the product; the others follow in the order of the file. */
const FIRST = ['embeddings', 'chat']

/**
 * The case with most peers of the scenario that tells most; of two the one with more connections. Null: no
 * cost was compared with that of a peer.
 */
export function costOf({ scenarios }: ResultsFile, comparisons: readonly Comparison[]): Cost | null {
  const names = scenarios.map(({ scenario }) => scenario)
  for (const name of [...FIRST.filter((one) => names.includes(one)), ...names]) {
    const rows = scenarios.find(({ scenario }) => scenario === name)?.rows ?? []
    const found = rows.flatMap((ours) => costAt(ours, rows, comparisons) ?? [])
    const [best] = found.toSorted(
      (a, b) => b.others.length - a.others.length || b.ours.connections - a.ours.connections,
    )
    if (best !== undefined) return best
  }
  return null
}

function costAt(
  ours: ResultRow,
  rows: readonly ResultRow[],
  comparisons: readonly Comparison[],
): Cost | null {
  const metric = ours.cpu_s_per_gb === null ? 'cpu_us_per_request' : 'cpu_s_per_gb'
  const isOfCost = (one: Comparison): boolean =>
    one.kind === 'peer' &&
    one.metric === metric &&
    one.scenario === ours.scenario &&
    one.case === ours.case &&
    one.over === ours.subject
  const others = comparisons.filter(isOfCost).flatMap((comparison) => {
    const row = rows.find((one) => one.case === ours.case && one.subject === comparison.under)
    return row === undefined || !isDrawn(row[metric]) ? [] : [{ row, comparison }]
  })
  if (others.length === 0 || !isDrawn(ours[metric])) return null
  return { scenario: ours.scenario, case: ours.case, metric, ours, others: cheapestFirst(others, metric) }
}

function cheapestFirst(others: Cost['others'], metric: CostMetric): Cost['others'] {
  return others.toSorted((a, b) => (a.row[metric]?.median ?? 0) - (b.row[metric]?.median ?? 0))
}

function isDrawn(of: Spread | null): boolean {
  return of !== null && isTaken(of.median) && of.median > 0
}

export interface Unit {
  /** What is paid for. */
  readonly what: string
  readonly unit: string
}

/** Rows of streams count events in the place of calls. */
export function unitOf({ metric, case: name }: Cost): Unit {
  if (metric === 'cpu_s_per_gb') return { what: 'a GB', unit: 's' }
  return { what: /\bstreams?\b/i.test(name) ? 'an event of a stream' : 'a call', unit: 'µs' }
}

/** The result in a sentence, for a terminal. */
export function costText(cost: Cost): string {
  const { head, times, detail } = wordsOf(cost)
  const each = times.map(({ ratio, peer }) => `${ratio} × ${peer}`).join(', ')
  return `${head.before} ${head.figure} ${head.after}: ${each} (${detail})`
}

export interface CostWords {
  readonly head: Readonly<Record<'before' | 'figure' | 'after', string>>
  readonly times: readonly {
    readonly comparison: Comparison
    readonly ratio: string
    readonly peer: string
  }[]
  readonly detail: string
}

export function wordsOf(cost: Cost): CostWords {
  const { metric, ours, others, case: name, scenario } = cost
  const { what, unit } = unitOf(cost)
  const repeats = ours.samples.length
  const taken = repeats < 2 ? 'taken once, and so not judged' : `median of ${counted(repeats, 'repeat')}`
  return {
    head: {
      before: `${what} costs`,
      figure: `${figure(ours[metric]?.median ?? null)} ${unit}`,
      after: `of CPU at ${ours.subject}`,
    },
    times: others.toReversed().map(({ comparison }) => ({
      comparison,
      ratio: ratioFigure(comparison.ratio.median),
      peer: comparison.under,
    })),
    detail: `${scenario}, ${name}; ${taken}`,
  }
}
