import type { Registry } from 'prom-client'
import type { FailureName } from '../../schemas/failures.ts'
import { PROGRESS_RATE_MS_MIN } from '../../schemas/inference/stream-limits.ts'
import type { AnsweredInput, AnswerMeter, FirstOutput, StreamEnd, StreamMeters } from '../ports/observe.ts'
import { ByLabels, FIRST_OUTPUT_BUCKETS, type Count, type Durations, type Tally } from './durations.ts'
import { durationsOf, tallyOf } from './metric-table.ts'
import { watchMetrics } from './read-metrics.ts'
import { OPEN_STREAMS } from './read-table.ts'
import type { UnpricedTier } from './unpriced-tiers.ts'
import { fieldName, OTHER_FIELD } from '../../dialects/table/field-names.ts'
import { UNPRICED_TIER_CALLS, unpricedTierOf } from './unpriced-tiers.ts'

/** Models that have figures of their own in the metrics of a process; others share `other`. Decision. */
export const METRIC_MODELS_MAX = 200
/**
 * Pairs of a dropped member and a model that have figures of their own in the metrics of a process; further
 * pairs share `other`. Decision.
 */
export const METRIC_DROPPED_MAX = 1_000

/** Label of the models after the first METRIC_MODELS_MAX. */
const OTHER = 'other'

/** Answers of text models, since the start of the process. */
export interface StreamsReading {
  /** Streams in progress that have sent their first output. */
  readonly open: number
  /** Streams by the time to their first output (`FIRST_OUTPUT_BUCKETS`). */
  readonly firstCounts: readonly number[]
  /** Output tokens, including those of open streams. */
  readonly tokens: number
  /** Streams cut off before the answer was complete, by cause. */
  readonly cuts: Readonly<Record<string, number>>
  readonly models: readonly ModelReading[]
  /** Answers that report a tier without a price. */
  readonly unpricedTiers: readonly UnpricedTier[]
}

/** The series since the start, with the labels operation, provider and model. */
export interface StreamSeries {
  readonly firsts: Durations['series']
  readonly tokens: Tally['counts']
}

/** Metrics of the answers of text models. */
export interface StreamMetrics extends StreamMeters {
  read(): StreamsReading
  series(): StreamSeries
}

export function createStreamMeters(registry: Registry): StreamMetrics {
  const counts = talliesOf(registry)
  const durations = histogramsOf(registry)
  const open = watchOpen(registry)
  const models = new AnsweredModels(registry)
  const written = { count: 0 }
  const metrics = { counts, durations, written }
  const meters = new ByLabels(
    (values) => new ModelMeter(metrics, values, { open: open.of(values), model: models.of(values) }),
  )
  const bounded = boundedModels()
  return {
    of: ({ operation, provider, model }) => meters.of([operation, provider, bounded(model)]),
    read: () => ({
      open: open.all,
      firstCounts: sums(durations.first.series),
      tokens: written.count,
      cuts: byCause(counts.cuts),
      models: models.read(),
      unpricedTiers: models.readUnpriced(),
    }),
    series: () => ({ firsts: durations.first.series, tokens: counts.tokens.counts }),
  }
}

interface AnswerMetrics {
  readonly counts: ReturnType<typeof talliesOf>
  readonly durations: ReturnType<typeof histogramsOf>
  /** Tokens of all outputs. */
  readonly written: Count
}

/** The figures under one set of labels; its counters are looked up once. */
class ModelMeter implements AnswerMeter {
  readonly #metrics: AnswerMetrics
  readonly #values: readonly string[]
  readonly #label: string
  readonly #open: OpenOfModel
  readonly #model: AnsweredModel
  readonly #whole: Count
  readonly #tokens: Count
  readonly #commits: Count

  /** @param values of the labels */
  constructor(
    metrics: AnswerMetrics,
    values: readonly string[],
    { open, model }: { readonly open: OpenOfModel; readonly model: AnsweredModel },
  ) {
    this.#metrics = metrics
    this.#values = values
    this.#label = values.join('|')
    this.#open = open
    this.#model = model
    this.#whole = metrics.counts.calls.cell(...values, '')
    this.#tokens = metrics.counts.tokens.cell(...values)
    this.#commits = metrics.counts.commits.cell(...values)
  }

  committed({ ms, ownMs, failed }: FirstOutput): void {
    const { counts, durations } = this.#metrics
    this.#commits.count += 1
    if (failed > 0) counts.fallbacks.add(failed, ...this.#values)
    durations.first.observe(this.#label, ms / 1_000)
    durations.own.observe(this.#label, ownMs / 1_000)
    this.#open.add(1)
  }

  wrote(tokens: number): void {
    this.#metrics.written.count += tokens
    this.#tokens.count += tokens
  }

  ended({ cause, tokens, ms, pausedMs, isDrained }: StreamEnd): void {
    const { counts, durations } = this.#metrics
    this.#open.add(-1)
    if (cause !== null) counts.cuts.add(1, ...this.#values, cause)
    if (isDrained) counts.drains.add(1, ...this.#values)
    if (pausedMs > 0) counts.paused.add(pausedMs / 1_000, ...this.#values)
    const writingMs = ms - pausedMs
    if (writingMs >= PROGRESS_RATE_MS_MIN) durations.rate.observe(this.#label, (tokens / writingMs) * 1_000)
  }

  answered(input: AnsweredInput): void {
    this.#model.add(input)
  }

  called(failure: FailureName | null, isEstimated: boolean): void {
    if (failure === null) this.#whole.count += 1
    else this.#metrics.counts.calls.add(1, ...this.#values, failure)
    if (isEstimated) this.#metrics.counts.estimated.add(1, ...this.#values)
  }
}

function talliesOf(registry: Registry) {
  return {
    calls: tallyOf(registry, 'sluice_model_calls_total'),
    commits: tallyOf(registry, 'sluice_stream_commits_total'),
    fallbacks: tallyOf(registry, 'sluice_stream_fallbacks_total'),
    cuts: tallyOf(registry, 'sluice_streams_cut_total'),
    drains: tallyOf(registry, 'sluice_stream_drains_total'),
    paused: tallyOf(registry, 'sluice_stream_paused_seconds_total'),
    estimated: tallyOf(registry, 'sluice_estimated_usage_total'),
    tokens: tallyOf(registry, 'sluice_output_tokens_total'),
  }
}

function histogramsOf(registry: Registry) {
  return {
    first: durationsOf(registry, 'sluice_ttft_seconds'),
    own: durationsOf(registry, 'sluice_gateway_ttft_seconds'),
    rate: durationsOf(registry, 'sluice_output_tokens_per_second'),
  }
}

/** @returns a function that maps a model to its label; the number of distinct labels is bounded */
function boundedModels(): (model: string) => string {
  const models = new Set<string>()
  return (model) => {
    if (models.size < METRIC_MODELS_MAX) models.add(model)
    return models.has(model) ? model : OTHER
  }
}

/** Streams in progress under one set of labels. */
interface OpenOfModel {
  add(count: 1 | -1): void
}

interface Open {
  readonly all: number
  /** @param values of the labels */
  of(values: readonly string[]): OpenOfModel
}

function watchOpen(registry: Registry): Open {
  const open = new Map<string, number>()
  let all = 0
  watchMetrics(registry, OPEN_STREAMS, () => open)
  return {
    get all() {
      return all
    },
    of(values) {
      const key = values.join('|')
      return {
        add(count) {
          all += count
          open.set(key, (open.get(key) ?? 0) + count)
        },
      }
    },
  }
}

function byCause(cuts: Tally): Readonly<Record<string, number>> {
  const found: Record<string, number> = {}
  for (const {
    labels: { cause = '' },
    count,
  } of cuts.counts)
    found[cause] = (found[cause] ?? 0) + count
  return found
}

function sums(series: Durations['series']): readonly number[] {
  const found = new Array<number>(FIRST_OUTPUT_BUCKETS.length + 1).fill(0)
  for (const { counts } of series)
    for (const [at, count] of counts.entries()) found[at] = (found[at] ?? 0) + count
  return found
}

/** The answered calls of one model since the start of the process. */
export interface ModelReading {
  readonly model: string
  readonly inputTokens: number
  /** Of these, those that a provider had in its cache. */
  readonly cachedTokens: number
  /** Calls by the request member that was dropped for the provider. */
  readonly dropped: Readonly<Record<string, number>>
}

export interface AnsweredModel {
  add(input: AnsweredInput): void
}

/** Counts the input of answered calls, and the members dropped for their providers. */
export class AnsweredModels {
  readonly #input: Tally
  readonly #dropped: Tally
  readonly #unpriced: Tally
  readonly #pairs = new Set<string>()

  constructor(registry: Registry) {
    this.#input = tallyOf(registry, 'sluice_input_tokens_total')
    this.#dropped = tallyOf(registry, 'sluice_dropped_fields_total')
    this.#unpriced = tallyOf(registry, UNPRICED_TIER_CALLS)
  }

  /** @param values of the labels */
  of(values: readonly string[]): AnsweredModel {
    const input = (cache: string): Count => this.#input.cell(...values, cache)
    const [none, read, write] = [input('none'), input('read'), input('write')]
    return {
      add: ({ fresh, cacheRead, cacheWrite, dropped, unpricedTier }) => {
        none.count += fresh
        read.count += cacheRead
        write.count += cacheWrite
        if (unpricedTier !== null) this.#unpriced.add(1, ...values, unpricedTier.member, unpricedTier.tier)
        if (dropped.length > 0) this.#addDropped(values, dropped)
      },
    }
  }

  #addDropped(values: readonly string[], dropped: readonly string[]): void {
    // Several dropped members of one field count once.
    for (const field of new Set(dropped.map(fieldName)))
      this.#dropped.add(1, ...values, this.#bounded(values, field))
  }

  readUnpriced(): readonly UnpricedTier[] {
    return Array.from(this.#unpriced.counts, ({ labels, count }) => unpricedTierOf(labels, count))
  }

  read(): readonly ModelReading[] {
    const found = new Map<string, { inputTokens: number; cachedTokens: number; dropped: Counts }>()
    const of = (model = '') => {
      const known = found.get(model) ?? { inputTokens: 0, cachedTokens: 0, dropped: {} }
      found.set(model, known)
      return known
    }
    for (const { labels, count } of this.#input.counts) {
      const sums = of(labels['model'])
      sums.inputTokens += count
      if (labels['cache'] === 'read') sums.cachedTokens += count
    }
    for (const {
      labels: { model, field = '' },
      count,
    } of this.#dropped.counts) {
      const { dropped } = of(model)
      dropped[field] = (dropped[field] ?? 0) + count
    }
    return Array.from(found, ([model, sums]) => ({ model, ...sums }))
  }

  /** Callers choose members and models: so the number of pairs is bounded too. */
  #bounded(values: readonly string[], field: string): string {
    const pair = [...values, field].join('|')
    if (this.#pairs.size < METRIC_DROPPED_MAX) this.#pairs.add(pair)
    return this.#pairs.has(pair) ? field : OTHER_FIELD
  }
}

type Counts = Record<string, number>
