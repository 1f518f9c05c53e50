import { Gauge, type Registry } from 'prom-client'
import type { FailureName } from '../../schemas/failures.ts'
import { METRIC_MODELS_MAX, PROGRESS_RATE_MS_MIN } from '../../schemas/inference/stream-limits.ts'
import type { AnswerLabels, StreamMeters } from '../ports/observe.ts'
import { AnsweredModels, type ModelReading } from './answered-models.ts'
import { FIRST_OUTPUT_BUCKETS } from './buckets.ts'
import { Durations } from './durations.ts'
import { Tally } from './tally.ts'
import type { UnpricedTier } from './unpriced-tiers.ts'

/** Seconds of Sluice's own part. */
const OWN_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1]
/** Tokens a second: from a large model on a busy machine to hardware that is made for models. */
const RATE_BUCKETS = [2.5, 5, 10, 20, 30, 50, 75, 100, 150, 200, 300, 500, 1_000, 2_000]
const LABELS = ['operation', 'provider', 'model'] as const
/** The end of the help texts of metrics with these labels alone. */
const BY_MODEL = ', by operation, provider and model'
/** The models behind the first METRIC_MODELS_MAX. */
const OTHER = 'other'

/** Answers of models that write, since the start of the process. */
export interface StreamsReading {
  /** Streams in progress that have sent their first output. */
  readonly open: number
  /** Streams by the time to their first output (`FIRST_OUTPUT_BUCKETS`). */
  readonly firstCounts: readonly number[]
  /** Tokens of outputs, those of open streams among them. */
  readonly tokens: number
  /** Streams cut before the answer was complete, by cause. */
  readonly cuts: Readonly<Record<string, number>>
  readonly models: readonly ModelReading[]
  /** Answers that report a tier without a price. F8. */
  readonly unpricedTiers: readonly UnpricedTier[]
}

/** The series since the start, with the labels operation, provider and model. */
export interface StreamSeries {
  readonly firsts: Durations['series']
  readonly tokens: Tally['counts']
}

/** Metrics of the answers of models that write. D36. */
export interface StreamMetrics extends StreamMeters {
  read(): StreamsReading
  series(): StreamSeries
}

export function createStreamMeters(registry: Registry): StreamMetrics {
  const counts = talliesOf(registry)
  const { first, own, rate } = durationsOf(registry)
  const valuesOf = boundedValues()
  const open = watchOpen(registry)
  const models = new AnsweredModels(registry, LABELS)
  let tokensSum = 0
  return {
    committed(by, { ms, ownMs, failed }) {
      const values = valuesOf(by)
      counts.commits.add(1, ...values)
      if (failed > 0) counts.fallbacks.add(failed, ...values)
      first.observe(values.join('|'), ms / 1_000)
      own.observe(values.join('|'), ownMs / 1_000)
      open.add(values, 1)
    },
    wrote(by, tokens) {
      tokensSum += tokens
      counts.tokens.add(tokens, ...valuesOf(by))
    },
    ended(by, { cause, tokens, ms, pausedMs, isDrained }) {
      const values = valuesOf(by)
      open.add(values, -1)
      if (cause !== null) counts.cuts.add(1, ...values, cause)
      if (isDrained) counts.drains.add(1, ...values)
      if (pausedMs > 0) counts.paused.add(pausedMs / 1_000, ...values)
      const writingMs = ms - pausedMs
      if (writingMs >= PROGRESS_RATE_MS_MIN) rate.observe(values.join('|'), (tokens / writingMs) * 1_000)
    },
    answered: (by, input) => models.add(valuesOf(by), input),
    called(by, failure: FailureName | null, isEstimated: boolean) {
      const values = valuesOf(by)
      counts.calls.add(1, ...values, failure ?? '')
      if (isEstimated) counts.estimated.add(1, ...values)
    },
    read: () => ({
      open: open.all,
      firstCounts: sums(first.series),
      tokens: tokensSum,
      cuts: byCause(counts.cuts),
      models: models.read(),
      unpricedTiers: models.readUnpriced(),
    }),
    series: () => ({ firsts: first.series, tokens: counts.tokens.counts }),
  }
}

function talliesOf(registry: Registry) {
  const tally = (name: string, help: string, ...labels: readonly string[]): Tally =>
    new Tally(registry, name, help, [...LABELS, ...labels])
  return {
    calls: tally(
      'sluice_model_calls_total',
      'Calls to text models, by operation, provider, model and failure; provider is empty if none answered, failure if the call succeeded.',
      'failure',
    ),
    commits: tally(
      'sluice_stream_commits_total',
      `Streamed answers that sent their first output${BY_MODEL}.`,
    ),
    fallbacks: tally(
      'sluice_stream_fallbacks_total',
      'Endpoints that failed before the first output of a stream, by operation, model and the provider that answered instead.',
    ),
    cuts: tally(
      'sluice_streams_cut_total',
      'Streams cut before the answer was complete, by operation, provider, model and cause.',
      'cause',
    ),
    drains: tally(
      'sluice_stream_drains_total',
      `Streams read to the end after the client had left${BY_MODEL}.`,
    ),
    paused: tally(
      'sluice_stream_paused_seconds_total',
      `Seconds streams were paused because the client did not read${BY_MODEL}.`,
    ),
    estimated: tally(
      'sluice_estimated_usage_total',
      `Answers charged by estimated tokens, as they were cut off or had no credible counts from the provider${BY_MODEL}.`,
    ),
    tokens: tally(
      'sluice_output_tokens_total',
      `Output tokens of text models, counted while they are written${BY_MODEL}.`,
    ),
  }
}

function durationsOf(registry: Registry) {
  const durations = (name: string, help: string, bounds: readonly number[]): Durations =>
    new Durations(registry, { name, help, labels: LABELS, bounds })
  return {
    first: durations(
      'sluice_ttft_seconds',
      `Time in seconds from the request to the first output of a stream${BY_MODEL}.`,
      FIRST_OUTPUT_BUCKETS,
    ),
    own: durations(
      'sluice_gateway_ttft_seconds',
      `Time in seconds from the request for a stream to the first attempt at a provider${BY_MODEL}.`,
      OWN_BUCKETS,
    ),
    rate: durations(
      'sluice_output_tokens_per_second',
      `Output tokens per second of a stream after its first output, excluding pauses${BY_MODEL}.`,
      RATE_BUCKETS,
    ),
  }
}

/** The values of the labels; the set of models is bounded. */
function boundedValues(): (by: AnswerLabels) => readonly [string, string, string] {
  const models = new Set<string>()
  return ({ operation, provider, model }) => {
    if (models.size < METRIC_MODELS_MAX) models.add(model)
    return [operation, provider, models.has(model) ? model : OTHER]
  }
}

interface Open {
  readonly all: number
  add(values: readonly string[], count: 1 | -1): void
}

function watchOpen(registry: Registry): Open {
  const open = new Map<string, number>()
  let all = 0
  new Gauge({
    name: 'sluice_streams_open',
    help: `Streams in progress that have sent their first output${BY_MODEL}.`,
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
    add(values, count) {
      const key = values.join('|')
      all += count
      open.set(key, (open.get(key) ?? 0) + count)
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
