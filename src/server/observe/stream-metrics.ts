import { Gauge, type Registry } from 'prom-client'
import type { FailureName } from '../../schemas/failures.ts'
import {
  METRIC_MODELS_MAX,
  PROGRESS_RATE_MS_MIN,
  METRIC_DROPPED_MAX,
} from '../../schemas/inference/stream-limits.ts'
import type { AnsweredInput, AnswerMeter, FirstOutput, StreamEnd, StreamMeters } from '../ports/observe.ts'
import { Durations, FIRST_OUTPUT_BUCKETS, ByLabels, Tally, type Count } from './durations.ts'
import type { UnpricedTier } from './unpriced-tiers.ts'
import { fieldName, OTHER_FIELD } from '../../dialects/table/field-names.ts'
import { UNPRICED_TIER_CALLS, unpricedTierOf } from './unpriced-tiers.ts'

/** Seconds of Sluice's own part. */
const OWN_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1]
/** Tokens a second: from a large model on a busy machine to hardware that is made for models. */
const RATE_BUCKETS = [2.5, 5, 10, 20, 30, 50, 75, 100, 150, 200, 300, 500, 1_000, 2_000]
const LABELS = ['operation', 'provider', 'model'] as const
/** The models after the first METRIC_MODELS_MAX. */
const OTHER = 'other'

/** Answers of models that write, since the start of the process. */
export interface StreamsReading {
  /** Streams in progress that have sent their first output. */
  readonly open: number
  /** Streams by the time to their first output (`FIRST_OUTPUT_BUCKETS`). */
  readonly firstCounts: readonly number[]
  /** Tokens of outputs, those of open streams among them. */
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

/** Metrics of the answers of models that write. */
export interface StreamMetrics extends StreamMeters {
  read(): StreamsReading
  series(): StreamSeries
}

export function createStreamMeters(registry: Registry): StreamMetrics {
  const counts = talliesOf(registry)
  const durations = durationsOf(registry)
  const open = watchOpen(registry)
  const models = new AnsweredModels(registry, LABELS)
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

/** The metrics in which all answers are counted. */
interface AnswerMetrics {
  readonly counts: ReturnType<typeof talliesOf>
  readonly durations: ReturnType<typeof durationsOf>
  /** Tokens of all outputs. */
  readonly written: Count
}

/** The figures under one set of labels; what each call counts is looked up once. */
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
  const tally = (name: string, help: string, ...labels: readonly string[]): Tally =>
    new Tally(registry, name, help, [...LABELS, ...labels])
  return {
    calls: tally(
      'sluice_model_calls_total',
      'Calls to text models, by operation, provider, model and failure; provider is empty if none answered, and failure is empty if the call succeeded.',
      'failure',
    ),
    commits: tally(
      'sluice_stream_commits_total',
      'Streamed answers that sent their first output, by operation, provider and model.',
    ),
    fallbacks: tally(
      'sluice_stream_fallbacks_total',
      'Endpoints that failed before the first output of a stream, by operation, model and the provider that answered instead.',
    ),
    cuts: tally(
      'sluice_streams_cut_total',
      'Streams cut off before the answer was complete, by operation, provider, model and cause.',
      'cause',
    ),
    drains: tally(
      'sluice_stream_drains_total',
      'Streams read to the end after the client disconnected, by operation, provider and model.',
    ),
    paused: tally(
      'sluice_stream_paused_seconds_total',
      'Time that streams were paused because the client did not read, in seconds, by operation, provider and model.',
    ),
    estimated: tally(
      'sluice_estimated_usage_total',
      'Answers charged by estimated token counts because they were cut off or the provider reported no credible counts, by operation, provider and model.',
    ),
    tokens: tally(
      'sluice_output_tokens_total',
      'Output tokens of text models, counted as they are generated, by operation, provider and model.',
    ),
  }
}

function durationsOf(registry: Registry) {
  const durations = (name: string, help: string, bounds: readonly number[]): Durations =>
    new Durations(registry, { name, help, labels: LABELS, bounds })
  return {
    first: durations(
      'sluice_ttft_seconds',
      'Time in seconds from the request to the first output of a stream, by operation, provider and model.',
      FIRST_OUTPUT_BUCKETS,
    ),
    own: durations(
      'sluice_gateway_ttft_seconds',
      "Time in seconds from a stream's request to its first provider attempt, by operation, provider and model.",
      OWN_BUCKETS,
    ),
    rate: durations(
      'sluice_output_tokens_per_second',
      'Output tokens per second of a stream after its first output, excluding pauses, by operation, provider and model.',
      RATE_BUCKETS,
    ),
  }
}

/** The value of the label; the set of models is bounded. */
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
  new Gauge({
    name: 'sluice_streams_open',
    help: 'Streams in progress that have sent their first output, by operation, provider and model.',
    labelNames: [...LABELS],
    registers: [registry],
    collect() {
      for (const [values, count] of open) {
        const [operation = '', provider = '', model = ''] = values.split('|')
        this.set({ operation, provider, model }, count)
      }
    },
  })
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

/** The counts of all series together, by bucket. */
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
  /** Calls by the member of the request that the provider did not get. */
  readonly dropped: Readonly<Record<string, number>>
}

/** The answered calls of one model. */
export interface AnsweredModel {
  add(input: AnsweredInput): void
}

/** Counts the input of answered calls, and what their providers did not get. */
export class AnsweredModels {
  readonly #input: Tally
  readonly #dropped: Tally
  readonly #unpriced: Tally
  readonly #pairs = new Set<string>()

  /** @param labels names of the labels; the last one is `model` */
  constructor(registry: Registry, labels: readonly string[]) {
    this.#input = new Tally(
      registry,
      'sluice_input_tokens_total',
      "Input tokens of answered calls, by operation, provider, model and use of the provider's cache: read, write or none.",
      [...labels, 'cache'],
    )
    this.#dropped = new Tally(
      registry,
      'sluice_dropped_fields_total',
      'Answered calls with a request field that was not sent to the provider, by operation, provider, model and field.',
      [...labels, 'field'],
    )
    this.#unpriced = new Tally(
      registry,
      UNPRICED_TIER_CALLS,
      'Answers charged at the base price because their tier has no price in the catalogue, by operation, provider, ' +
        'model, tier and member (the field that contains the tier).',
      [...labels, 'member', 'tier'],
    )
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
    // Several members of one field are one.
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

  /** Callers choose members and models: the pairs of both are bounded, too. */
  #bounded(values: readonly string[], field: string): string {
    const pair = [...values, field].join('|')
    if (this.#pairs.size < METRIC_DROPPED_MAX) this.#pairs.add(pair)
    return this.#pairs.has(pair) ? field : OTHER_FIELD
  }
}

type Counts = Record<string, number>
