import Type, { type Static } from 'typebox'
import { INSTANT_RULES } from '../values/instants.ts'
import { readableCount } from '../values/readable.ts'
import { HISTORY_LINES_MAX, HISTORY_POINTS_MAX, HISTORY_QUANTILE_S } from './admin-port-limits.ts'

export const HISTORY_DIMENSIONS = ['operation', 'provider', 'model', 'key'] as const
export type HistoryDimension = (typeof HISTORY_DIMENSIONS)[number]
export const HISTORY_BY = ['all', ...HISTORY_DIMENSIONS, 'status'] as const
export type HistoryBy = (typeof HISTORY_BY)[number]
export const HISTORY_METRICS = [
  'requests',
  'refused',
  'failed',
  'tokens',
  'cost',
  'latency',
  'first_output',
] as const
export type HistoryMetric = (typeof HISTORY_METRICS)[number]
/** Names of grains, the finest first. */
export const HISTORY_GRAINS = ['second', 'ten_seconds', 'minute', 'ten_minutes', 'hour'] as const
export type HistoryGrain = (typeof HISTORY_GRAINS)[number]
/** The quantiles of latencies; each is a separate line. */
export const HISTORY_QUANTILES = ['p50', 'p90', 'p99'] as const
export type HistoryQuantile = (typeof HISTORY_QUANTILES)[number]
export const HISTORY_UNITS = ['per_second', 'usd_per_minute', 'ms'] as const
/** Kinds of events; `start` also marks the beginning of a deployment of another version. */
export const HISTORY_EVENTS = [
  'start',
  'reload',
  'reload_refused',
  'breaker_open',
  'breaker_closed',
  'degraded',
  'restored',
] as const
export type HistoryEventKind = (typeof HISTORY_EVENTS)[number]

const instant = (description: string) => Type.Optional(Type.String({ title: INSTANT_RULES, description }))

export const GetHistoryQuery = Type.Object({
  metric: Type.Optional(
    Type.Enum([...HISTORY_METRICS], {
      default: 'requests',
      description:
        'Metric. `refused` counts 4xx answers and `failed` counts 5xx answers; `latency` and `first_output` give p50, p90 and p99.',
    }),
  ),
  by: Type.Optional(
    Type.Enum([...HISTORY_BY], {
      default: 'all',
      description:
        'Breakdown of the lines. `status` supports only `requests`; `key` does not support tokens or `first_output`.',
    }),
  ),
  name: Type.Optional(
    Type.String({
      minLength: 1,
      pattern: '^[^\\u0000]+$',
      title: 'the id of an operation or a model, the slug of a provider, or the hash of a key',
      description: 'Returns only the line with this name, such as one model of a breakdown by model.',
    }),
  ),
  from: instant('Start of the range; defaults to an hour before its end.'),
  to: instant('End of the range, exclusive; defaults to now.'),
  grain: Type.Optional(
    Type.Enum([...HISTORY_GRAINS], {
      description:
        'Time per point. Values are available for the last hour (grains shorter than a minute), the last day (grains ' +
        'shorter than an hour) or the last month (`hour`). By default, the finest grain that covers `from` is used.',
    }),
  ),
})
export type GetHistoryQuery = Static<typeof GetHistoryQuery>

const Instant = Type.String({ format: 'date-time' })

const HistoryLine = Type.Object({
  name: Type.String({
    description:
      'Name of the line: an operation, provider slug, model id, key hash or status class, or `all` or `others`.',
  }),
  is_others: Type.Boolean({
    description: 'True for the line that combines all names without a line of their own.',
  }),
  quantile: Type.Union([Type.Enum([...HISTORY_QUANTILES]), Type.Null()], {
    description: 'Quantile of a latency; null for other metrics.',
  }),
  values: Type.Array(Type.Union([Type.Number(), Type.Null()]), {
    description: `Values of the line, oldest first, at most ${readableCount(HISTORY_POINTS_MAX)}; null where nothing was measured.`,
  }),
})
export type HistoryLine = Static<typeof HistoryLine>

const HistoryEvent = Type.Object({
  at: Instant,
  kind: Type.Enum([...HISTORY_EVENTS]),
  text: Type.String({ description: 'Subject of the event, such as a version, an endpoint or a store.' }),
})
export type HistoryEvent = Static<typeof HistoryEvent>

export const HistoryData = Type.Object({
  scope: Type.Enum(['node', 'installation'] as const, {
    description:
      '`node` for grains shorter than an hour (data from the responding node only), `installation` for `hour` (data from ' +
      'all nodes).',
  }),
  from: Type.String({ format: 'date-time', description: 'Time of the first point.' }),
  to: Instant,
  grain_seconds: Type.Integer(),
  quantile_seconds: Type.Integer({
    description: `Seconds that each quantile covers, at least ${HISTORY_QUANTILE_S}.`,
  }),
  metric: Type.Enum([...HISTORY_METRICS]),
  by: Type.Enum([...HISTORY_BY]),
  unit: Type.Enum([...HISTORY_UNITS]),
  lines: Type.Array(HistoryLine, {
    description: `The ${HISTORY_LINES_MAX} lines with the largest values, largest first, plus one line that combines all others.`,
  }),
  events: Type.Array(HistoryEvent, {
    description: 'Events in the `scope`, oldest first.',
  }),
})
export type HistoryData = Static<typeof HistoryData>

export const HistoryAnswer = Type.Object({ data: HistoryData })
