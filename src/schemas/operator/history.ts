import Type, { type Static } from 'typebox'
import { INSTANT_RULES } from '../values/instants.ts'
import { HISTORY_LINES_MAX, HISTORY_POINTS_MAX, HISTORY_QUANTILE_S } from './history-limits.ts'

/** What lines can be told apart by. */
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
/** The quantiles of latencies; each is a line of its own. */
export const HISTORY_QUANTILES = ['p50', 'p90', 'p99'] as const
export type HistoryQuantile = (typeof HISTORY_QUANTILES)[number]
export const HISTORY_UNITS = ['per_second', 'usd_per_minute', 'ms'] as const
/** What an event says; `start` is also what a deployment of another version begins with. */
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

/** GET /admin/history. */
export const GetHistoryQuery = Type.Object({
  metric: Type.Optional(
    Type.Enum([...HISTORY_METRICS], {
      default: 'requests',
      description:
        '`refused` are calls answered 4xx, `failed` those answered 5xx; `latency` and `first_output` are p50, p90 and p99.',
    }),
  ),
  by: Type.Optional(
    Type.Enum([...HISTORY_BY], {
      default: 'all',
      description:
        'What lines are told apart by. `status` has `requests` alone, `key` no tokens and no `first_output`.',
    }),
  ),
  name: Type.Optional(
    Type.String({
      minLength: 1,
      pattern: '^[^\\u0000]+$',
      title: 'id of an operation or a model, slug of a provider, or hash of a key',
      description:
        'The lines of this name alone, for a `by` that has names; none where it has no line of its own.',
    }),
  ),
  from: instant('First instant; left out: an hour before the last one.'),
  to: instant('The instant after the last one; left out: now.'),
  grain: Type.Optional(
    Type.Enum([...HISTORY_GRAINS], {
      description:
        'Time of one point. Grains below a minute reach back an hour, those below an hour a day, `hour` a month. Left out: the finest that reaches `from`.',
    }),
  ),
})
export type GetHistoryQuery = Static<typeof GetHistoryQuery>

const Instant = Type.String({ format: 'date-time' })

const HistoryLine = Type.Object({
  name: Type.String({
    description:
      'Operation, slug of the provider, id of the model, hash of the key, or class of the status; `all` or `others`.',
  }),
  is_others: Type.Boolean({ description: 'True for all that has no line of its own.' }),
  quantile: Type.Union([Type.Enum([...HISTORY_QUANTILES]), Type.Null()], {
    description: 'Null of what is no latency.',
  }),
  values: Type.Array(Type.Union([Type.Number(), Type.Null()]), {
    description: `Oldest first, ${HISTORY_POINTS_MAX} at most; null: nothing was measured.`,
  }),
})
export type HistoryLine = Static<typeof HistoryLine>

const HistoryEvent = Type.Object({
  at: Instant,
  kind: Type.Enum([...HISTORY_EVENTS]),
  text: Type.String({ description: 'What it is about: a version, an endpoint, a store.' }),
})
export type HistoryEvent = Static<typeof HistoryEvent>

export const HistoryData = Type.Object({
  scope: Type.Enum(['node', 'installation'] as const, {
    description: 'Grains below an hour are of the node that answers; hours are of all nodes.',
  }),
  from: Type.String({ format: 'date-time', description: 'Of the first point.' }),
  to: Instant,
  grain_seconds: Type.Integer(),
  quantile_seconds: Type.Integer({
    description: `Time behind each quantile: at least ${HISTORY_QUANTILE_S} seconds.`,
  }),
  metric: Type.Enum([...HISTORY_METRICS]),
  by: Type.Enum([...HISTORY_BY]),
  unit: Type.Enum([...HISTORY_UNITS]),
  lines: Type.Array(HistoryLine, {
    description: `The ${HISTORY_LINES_MAX} largest, the largest first, and one of all others.`,
  }),
  events: Type.Array(HistoryEvent, {
    description: 'Of the `scope`, oldest first.',
  }),
})
export type HistoryData = Static<typeof HistoryData>

export const HistoryAnswer = Type.Object({ data: HistoryData })
