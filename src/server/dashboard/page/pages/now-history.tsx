import { h, type ComponentChild } from 'preact'
import { useMemo } from 'preact/hooks'
import type {
  HistoryAnswer,
  HistoryData,
  HistoryDimension,
  HistoryLine,
} from '../../../../schemas/operator/history.ts'
import type { Static } from 'typebox'
import { LegendChart } from '../charts/legend-chart.tsx'
import type { ChartLine } from '../charts/time-chart.tsx'
import { nodeNow } from '../live.ts'
import type { PageContext } from '../page.ts'
import { SelectField } from '../parts/fields.tsx'
import { duration, figure, usd } from '../parts/figures.tsx'
import { useKeyNames } from '../parts/key-names.ts'
import { Awaited, useLoaded } from '../parts/loaded.tsx'
import { useRefresh } from '../parts/refresh.ts'
import type {
  HISTORY_KEYS_MAX,
  HISTORY_MODELS_MAX,
  HISTORY_OPERATIONS_MAX,
  HISTORY_PROVIDERS_MAX,
} from '../../../../schemas/operator/admin-port-limits.ts'

const METRICS = [
  ['requests', 'Requests per second'],
  ['refused', 'Client errors (4xx) per second'],
  ['failed', 'Server errors (5xx) per second'],
  ['latency', 'Latency'],
  ['first_output', 'Time to first token'],
  ['tokens', 'Output tokens per second'],
  ['cost', 'Cost per minute'],
] as const
const BY = [
  ['all', 'Total'],
  ['operation', 'By operation'],
  ['provider', 'By provider'],
  ['model', 'By model'],
  ['key', 'By key'],
  ['status', 'By status'],
] as const
const QUANTILES = [
  ['p50', 'p50'],
  ['p90', 'p90'],
  ['p99', 'p99'],
] as const
const HOUR_S = 3_600
/** A period up to now, and the granularity of its chart. */
const RANGES = {
  quarter: { text: '15 minutes', seconds: HOUR_S / 4, grain: 'second' },
  hour: { text: 'An hour', seconds: HOUR_S, grain: 'ten_seconds' },
  day: { text: 'A day', seconds: 24 * HOUR_S, grain: 'minute' },
  month: { text: 'A month', seconds: 31 * 24 * HOUR_S, grain: 'hour' },
} as const
const RANGE_OPTIONS = Object.entries(RANGES).map(([name, { text }]) => [name, text] as const)
/** Metrics that are not recorded by status or by key. */
const WITHOUT: Readonly<Record<string, readonly string[]>> = {
  status: ['refused', 'failed', 'latency', 'first_output', 'tokens', 'cost'],
  key: ['first_output', 'tokens'],
}
/** Milliseconds between two reads of a range that ends now: for an hour at most, and for longer ones. */
const REFRESH_MS = 10_000
const LONG_REFRESH_MS = 60_000
const COLOURS = 6
/** Failures are always red. */
const STATUS_LOOKS: Readonly<Record<string, string>> = { '2xx': 'line-2', '4xx': 'line-4', '5xx': 'line-bad' }

/** The key, model or provider whose line is shown alone. */
export interface Subject {
  readonly by: HistoryDimension
  readonly name: string
}

interface HistoryProps {
  readonly context: PageContext
  readonly of?: Subject | undefined
}

/** The node's history, one metric at a time; the selection is in the address. */
export function History({ context, of }: HistoryProps): ComponentChild {
  const { api, query, setQuery } = context
  const choice = choiceOf(query, of)
  const { metric, by, range, from, to } = choice
  const title = of === undefined ? 'History' : 'Traffic'
  const loaded = useLoaded(
    (signal) =>
      api.get<Static<typeof HistoryAnswer>>(
        ['admin', 'history'],
        { metric, by, name: of?.name, ...spanOf(choice, context) },
        signal,
      ),
    [api, metric, by, of?.name, range, from, to],
  )
  useRefresh(from === null, loaded, RANGES[range].seconds > HOUR_S ? LONG_REFRESH_MS : REFRESH_MS)
  const { value, isLoading } = loaded
  // While another selection loads, the previous lines stay.
  return (
    <section class="panel" aria-label={title}>
      <div class="head">
        <h2>{title}</h2>
        <div class="filters">
          <Choices choice={choice} of={of} setQuery={setQuery} />
        </div>
      </div>
      <div aria-busy={isLoading}>
        <Awaited {...loaded} />
        {value !== undefined && <Lines data={value.data} choice={choice} context={context} of={of} />}
      </div>
    </section>
  )
}

interface Choice {
  readonly metric: string
  readonly by: string
  readonly quantile: string
  readonly range: keyof typeof RANGES
  /** Instants of a range that the user selected. */
  readonly from: string | null
  readonly to: string | null
}

function choiceOf(query: URLSearchParams, of: Subject | undefined): Choice {
  const one = (name: string, of: readonly (readonly [string, string])[], otherwise: string): string => {
    const given = query.get(name)
    return of.find(([value]) => value === given)?.[0] ?? otherwise
  }
  const [by, from, to] = [of?.by ?? one('by', BY, 'all'), query.get('from'), query.get('to')]
  const metric = one('metric', METRICS, 'requests')
  const isSpan = from !== null && to !== null
  return {
    by,
    metric: WITHOUT[by]?.includes(metric) === true ? 'requests' : metric,
    quantile: one('quantile', QUANTILES, 'p99'),
    range: one('range', RANGE_OPTIONS, of === undefined ? 'hour' : 'day') as keyof typeof RANGES,
    from: isSpan ? from : null,
    to: isSpan ? to : null,
  }
}

function spanOf({ range, from, to }: Choice, context: PageContext): Readonly<Record<string, string | null>> {
  if (from !== null) return { from, to }
  const { seconds, grain } = RANGES[range]
  return { from: new Date(nodeNow(context) - seconds * 1_000).toISOString(), grain }
}

function Choices({
  choice,
  of,
  setQuery,
}: Pick<LinesProps, 'choice' | 'of'> & Pick<PageContext, 'setQuery'>): ComponentChild {
  const { metric, by, quantile, range, from } = choice
  const all = METRICS.filter(([value]) => WITHOUT[by]?.includes(value) !== true)
  return [
    <SelectField
      key="m"
      label="Figure"
      value={metric}
      options={all}
      onInput={(value) => setQuery({ metric: value })}
    />,
    of === undefined && (
      <SelectField
        key="b"
        label="Lines"
        value={by}
        options={BY}
        onInput={(value) => setQuery({ by: value })}
      />
    ),
    of === undefined && isTime(metric) && by !== 'all' && (
      <SelectField
        key="q"
        label="Quantile"
        value={quantile}
        options={QUANTILES}
        onInput={(value) => setQuery({ quantile: value })}
      />
    ),
    <SelectField
      key="r"
      label="Range"
      value={from === null ? range : ''}
      options={from === null ? RANGE_OPTIONS : [['', 'Chosen'], ...RANGE_OPTIONS]}
      onInput={(value) => setQuery({ range: value, from: null, to: null })}
    />,
    from !== null && (
      <button key="z" type="button" onClick={() => setQuery({ from: null, to: null })}>
        Until now
      </button>
    ),
  ]
}

interface LinesProps {
  readonly data: HistoryData
  readonly choice: Choice
  readonly context: PageContext
  readonly of: Subject | undefined
}

function Lines({ data, choice: { quantile }, context, of }: LinesProps): ComponentChild {
  const { nameOf } = useKeyNames(context)
  const lines = useMemo(() => drawn(data, { quantile, nameOf, of }), [data, quantile, nameOf])
  const { metric, grain_seconds: grainS, events } = data
  const [sinceS, untilS] = [Date.parse(data.from) / 1_000, Date.parse(data.to) / 1_000]
  if (lines.length === 0)
    return <p class="empty">{of === undefined ? NOTHING : `${NOTHING} ${lineText(of)}`}</p>
  return (
    <LegendChart
      title={METRICS.find(([value]) => value === metric)?.[1] ?? metric}
      sinceS={sinceS}
      grainS={grainS}
      points={(untilS - sinceS) / grainS}
      lines={lines}
      events={events}
      format={formatOf(data)}
      timeOf={(second) => timeText(second, grainS)}
      onRange={(since, until) => context.setQuery({ from: isoOf(since), to: isoOf(until) })}
      onReset={() => context.setQuery({ from: null, to: null })}
    />
  )
}

const NOTHING = 'No calls in this period.'
/** Number of names that get a line of their own, by dimension. */
const LINES_OF: { readonly [by in HistoryDimension]: number } = {
  operation: 16 satisfies typeof HISTORY_OPERATIONS_MAX,
  provider: 12 satisfies typeof HISTORY_PROVIDERS_MAX,
  model: 16 satisfies typeof HISTORY_MODELS_MAX,
  key: 12 satisfies typeof HISTORY_KEYS_MAX,
}
const lineText = ({ by }: Subject): string =>
  `A node keeps history only for its ${LINES_OF[by]} busiest ${by}s.`

/** For latencies by name only one quantile is drawn: three lines for each name would be unreadable. */
function drawn(
  { lines, by, metric }: HistoryData,
  {
    quantile,
    nameOf,
    of,
  }: Pick<Choice, 'quantile'> & Pick<LinesProps, 'of'> & { readonly nameOf: (hash: string) => string },
): readonly ChartLine[] {
  const isOne = by === 'all' || of !== undefined
  const named = (line: HistoryLine): string => {
    if (line.is_others) return 'others'
    return by === 'key' ? nameOf(line.name) : line.name
  }
  const some = isOne || !isTime(metric) ? lines : lines.filter((line) => line.quantile === quantile)
  return some.map((line, nth) => ({
    name: isOne ? (line.quantile ?? 'all') : named(line),
    look: STATUS_LOOKS[line.name] ?? `line-${(nth % COLOURS) + 1}${nth < COLOURS ? '' : ' dashed'}`,
    values: line.values,
  }))
}

function formatOf({ unit }: HistoryData): (value: number | null | undefined) => string {
  return { per_second: figure, usd_per_minute: usd, ms: duration }[unit]
}

const isTime = (metric: string): boolean => metric === 'latency' || metric === 'first_output'
const isoOf = (second: number): string => new Date(second * 1_000).toISOString()

function timeText(second: number, grainS: number): string {
  const at = new Date(second * 1_000)
  if (grainS >= HOUR_S)
    return `${at.toLocaleDateString('en-GB').slice(0, 5)} ${at.toLocaleTimeString('en-GB').slice(0, 5)}`
  return at.toLocaleTimeString('en-GB').slice(0, grainS < 60 ? 8 : 5)
}
