import { HISTORY_DIMENSIONS } from '../../../schemas/operator/history.ts'
import type { BreakerReading } from '../../ports/observe.ts'
import type { Durations } from '../durations.ts'
import type { AttemptsReading, CallsReading } from '../live-reader.ts'
import type { StreamSeries } from '../stream-metrics.ts'
import {
  bump,
  COLUMN,
  DURATIONS_AT,
  FIRSTS_AT,
  noColumns,
  type ColumnsByDimension,
  type ColumnsByName,
  type Counts,
  type SettledCounts,
} from './columns.ts'

/**
 * The counts of a front since its last report: differences instead of totals, so that the restart of a front
 * does not lower sums. Plain data, fit for IPC.
 */
export interface FrontFigures {
  readonly counts: Counts
  /** `provider endpoint` of each open breaker; absent when they are unchanged. */
  readonly breakers?: readonly string[]
}

export interface FigureSources {
  /** Calls since the start, as in the live view. */
  readonly calls: () => readonly CallsReading[]
  readonly attempts: () => readonly AttemptsReading[]
  readonly attemptDurations: Pick<Durations, 'series'>
  readonly streams: () => StreamSeries
  readonly settled: Pick<SettledCounts, 'take'>
  readonly breakers: () => readonly BreakerReading[]
}

/** Reads how much the counters of a process increased. There must be only one reader. */
export class FigureReader {
  readonly #sources: FigureSources
  #before = noColumns()
  #openBefore = ''

  constructor(sources: FigureSources) {
    this.#sources = sources
  }

  /** Null when nothing was counted since the last time. */
  read(): FrontFigures | null {
    const now = noColumns()
    addCalls(now, this.#sources)
    addStreams(now, this.#sources.streams())
    const grown = this.#sources.settled.take()
    for (const by of HISTORY_DIMENSIONS)
      for (const [name, columns] of now[by])
        grow(grown[by], name, { columns, before: this.#before[by].get(name) })
    this.#before = now
    const breakers = this.#changedBreakers()
    if (breakers === null && HISTORY_DIMENSIONS.every((by) => grown[by].size === 0)) return null
    return { counts: countsOf(grown), ...(breakers !== null && { breakers }) }
  }

  #changedBreakers(): readonly string[] | null {
    const open = this.#sources
      .breakers()
      .flatMap(({ provider, open }) => open.map(({ endpoint }) => `${provider} ${endpoint}`))
    const text = open.sort().join('\n')
    if (text === this.#openBefore) return null
    this.#openBefore = text
    return open
  }
}

function addCalls(now: ColumnsByDimension, { calls, attempts, attemptDurations }: FigureSources): void {
  for (const { operation, counts, refused, failed } of calls()) {
    const columns = now.operation.of(operation)
    columns[COLUMN.calls] = sumOf(counts)
    columns[COLUMN.refused] = refused
    columns[COLUMN.failed] = failed
    columns.set(counts, DURATIONS_AT)
  }
  for (const { provider, attempts: all, failed } of attempts()) {
    const columns = now.provider.of(provider)
    columns[COLUMN.calls] = all
    columns[COLUMN.failed] = failed
  }
  for (const { label, counts } of attemptDurations.series) now.provider.of(label).set(counts, DURATIONS_AT)
}

/** Adds the series of streams, which have three labels, to the sums of each label. */
function addStreams(now: ColumnsByDimension, { firsts, tokens }: StreamSeries): void {
  const each = (labels: readonly string[], add: (columns: Float64Array) => void): void => {
    const [operation = '', provider = '', model = ''] = labels
    add(now.operation.of(operation))
    // No endpoint has answered yet.
    if (provider !== '') add(now.provider.of(provider))
    add(now.model.of(model))
  }
  for (const { label, counts } of firsts)
    each(label.split('|'), (columns) => {
      for (const [at, count] of counts.entries()) bump(columns, FIRSTS_AT + at, count)
    })
  for (const { labels, count } of tokens)
    each([labels['operation'] ?? '', labels['provider'] ?? '', labels['model'] ?? ''], (columns) =>
      bump(columns, COLUMN.tokens, count),
    )
}

interface Growth {
  readonly columns: Float64Array
  readonly before: Float64Array | undefined
}

function grow(grown: ColumnsByName, name: string, { columns, before }: Growth): void {
  let into = grown.get(name)
  for (const [at, total] of columns.entries()) {
    const more = total - (before?.[at] ?? 0)
    if (more <= 0) continue
    into ??= grown.of(name)
    bump(into, at, more)
  }
}

function countsOf(grown: ColumnsByDimension): Counts {
  const of = (names: ColumnsByName) =>
    Array.from(names, ([name, columns]) => ({ name, columns: [...columns] }))
  const { operation, provider, model, key } = grown
  return { operation: of(operation), provider: of(provider), model: of(model), key: of(key) }
}

function sumOf(counts: readonly number[]): number {
  return counts.reduce((sum, count) => sum + count, 0)
}
