import { instantOf } from '../values/instants.ts'
import {
  HISTORY_DIMENSIONS,
  HISTORY_GRAINS,
  type GetHistoryQuery,
  type HistoryBy,
  type HistoryGrain,
  type HistoryMetric,
} from './history.ts'
import {
  HISTORY_HOURS_KEPT,
  HISTORY_MINUTES_KEPT,
  HISTORY_POINTS_MAX,
  HISTORY_SECONDS_KEPT,
} from './admin-port-limits.ts'

/** Points of a line when the request names no grain. Decision. */
export const HISTORY_POINTS_WANTED = 720

const MINUTE_S = 60
/** Seconds of the coarsest grain. */
export const HISTORY_HOUR_S = 3_600
/** Seconds by which a range may begin before the kept data, to allow for the time of the request. */
const LATE_S = 60

/** Seconds of one point, and seconds for which the grain is kept. */
const GRAINS: Readonly<Record<HistoryGrain, { readonly seconds: number; readonly reachS: number }>> = {
  second: { seconds: 1, reachS: HISTORY_SECONDS_KEPT },
  ten_seconds: { seconds: 10, reachS: HISTORY_SECONDS_KEPT },
  minute: { seconds: MINUTE_S, reachS: HISTORY_MINUTES_KEPT * MINUTE_S },
  ten_minutes: { seconds: 10 * MINUTE_S, reachS: HISTORY_MINUTES_KEPT * MINUTE_S },
  hour: { seconds: HISTORY_HOUR_S, reachS: HISTORY_HOURS_KEPT * HISTORY_HOUR_S },
}

/** Metrics with a breakdown by status or key; all other dimensions have every metric. */
const METRICS_OF: Readonly<Partial<Record<HistoryBy, readonly HistoryMetric[]>>> = {
  status: ['requests'],
  key: ['requests', 'refused', 'failed', 'cost', 'latency'],
}

/** A checked request for lines. Times are Unix seconds, rounded to whole grains. */
export interface HistoryInput {
  readonly metric: HistoryMetric
  readonly by: HistoryBy
  /** The only name with lines; absent: the names with the largest values. */
  readonly name?: string
  readonly grainS: number
  readonly sinceS: number
  /** The second after the last point. */
  readonly untilS: number
}

export interface HistoryFault {
  readonly path: string
  readonly message: string
  readonly expected: string
}

/** @returns the request, limited to the data available at `nowMs`, or its first fault */
export function historyInput(
  { metric = 'requests', by = 'all', name, grain, from, to }: GetHistoryQuery,
  nowMs: number,
): HistoryInput | HistoryFault {
  const metrics = METRICS_OF[by]
  if (metrics !== undefined && !metrics.includes(metric))
    return { path: '/metric', message: `is not recorded by ${by}`, expected: metrics.join(', ') }
  if (name !== undefined && !HISTORY_DIMENSIONS.some((dimension) => dimension === by))
    return {
      path: '/name',
      message: `is not broken down by ${by}`,
      expected: `no \`name\`, or \`by\` set to one of ${HISTORY_DIMENSIONS.join(', ')}`,
    }
  const nowS = Math.floor(nowMs / 1_000)
  const times = timesOf({ from, to }, nowS)
  if ('path' in times) return times
  const { sinceS, untilS } = times
  const chosen = grain ?? finestOf(nowS - sinceS, untilS - sinceS)
  const { seconds, reachS } = GRAINS[chosen]
  if (nowS - sinceS > reachS + LATE_S)
    return {
      path: '/from',
      message: 'is older than the stored history',
      expected: `an instant in the last ${reachS / HISTORY_HOUR_S} hours for the grain ${chosen}`,
    }
  const aligned = {
    sinceS: Math.floor(sinceS / seconds) * seconds,
    untilS: Math.ceil(untilS / seconds) * seconds,
  }
  // The oldest points are left out if they expired while the request was sent.
  if (aligned.untilS - aligned.sinceS > HISTORY_POINTS_MAX * seconds + LATE_S)
    return {
      path: '/grain',
      message: 'would have too many points',
      expected: `at most ${HISTORY_POINTS_MAX} points`,
    }
  const { untilS: endS } = aligned
  return {
    metric,
    by,
    ...(name !== undefined && { name }),
    grainS: seconds,
    untilS: endS,
    sinceS: Math.max(aligned.sinceS, endS - HISTORY_POINTS_MAX * seconds),
  }
}

function timesOf(
  { from, to }: { readonly from: string | undefined; readonly to: string | undefined },
  nowS: number,
): Pick<HistoryInput, 'sinceS' | 'untilS'> | HistoryFault {
  const untilS = to === undefined ? nowS : secondOf(to)
  if (untilS === null) return { path: '/to', message: 'is not a date and time', expected: 'an instant' }
  const ended = Math.min(untilS, nowS)
  const sinceS = from === undefined ? ended - HISTORY_HOUR_S : secondOf(from)
  if (sinceS === null) return { path: '/from', message: 'is not a date and time', expected: 'an instant' }
  return sinceS < ended
    ? { sinceS, untilS: ended }
    : {
        path: '/from',
        message: 'is not before the end of the range',
        expected: 'a time before `to` and before the current time',
      }
}

function finestOf(ageS: number, lengthS: number): HistoryGrain {
  const found = HISTORY_GRAINS.find((name) => {
    const { seconds, reachS } = GRAINS[name]
    return ageS <= reachS + LATE_S && lengthS <= seconds * HISTORY_POINTS_WANTED
  })
  return found ?? 'hour'
}

function secondOf(text: string): number | null {
  const at = instantOf(text)
  return at === null ? null : Math.floor(at.getTime() / 1_000)
}
