/** Forecasts of spending limits: windows, rates and the amount left over time. All days are in UTC. */

export type Interval = 'daily' | 'weekly' | 'monthly' | 'lifetime'

const DAY_MS = 86_400_000
/** Days that the rate of a forecast covers, including today. Decision. */
const RATE_DAYS = 7
/** Least milliseconds that a rate covers: the first call of a day gives no useful rate. Decision. */
const RATE_MS_MIN = 3_600_000
/** Days drawn before and after now for a limit that never resets. */
const OPEN_DAYS = 30
/** Milliseconds from now up to which a forecast is made. */
const FORESEEN_MS = 3_650 * DAY_MS

export const FORECAST_RULE =
  'Forecasts extend your average daily spend of the last seven days (UTC) to the end of the budget period.'

export interface Day {
  /** Start of the day, in seconds since 1970. */
  readonly at: number
  readonly usd: number
}

/** A limit in its window. */
export interface Burned {
  readonly limit: number
  readonly spent: number
  readonly interval: Interval
  /** Spend that counted against the limit, oldest day first, including days before the window. */
  readonly days: readonly Day[]
}

export interface Window {
  readonly startMs: number
  /** Null: the limit never resets. */
  readonly endMs: number | null
}

export interface Forecast {
  readonly usdADay: number
  /** Spend at the end of the window; null: the window does not end. */
  readonly atEnd: number | null
  /** Instant within the window at which the limit is used up; null: it lasts. */
  readonly usedUpMs: number | null
}

/** Weeks begin on Monday. */
export function windowOf(interval: Interval, nowMs: number): Window {
  const now = new Date(nowMs)
  const [year, month, day] = [now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate()]
  const at = (months: number, date: number): number => Date.UTC(year, month + months, date)
  const monday = day - ((now.getUTCDay() + 6) % 7)
  switch (interval) {
    case 'daily':
      return { startMs: at(0, day), endMs: at(0, day + 1) }
    case 'weekly':
      return { startMs: at(0, monday), endMs: at(0, monday + 7) }
    case 'monthly':
      return { startMs: at(0, 1), endMs: at(1, 1) }
    case 'lifetime':
      return { startMs: at(0, day - OPEN_DAYS), endMs: null }
  }
}

export function forecastOf({ limit, spent, interval, days }: Burned, nowMs: number): Forecast {
  const { endMs } = windowOf(interval, nowMs)
  const rate = rateOf(days, nowMs)
  const left = limit - spent
  const usedUpMs = left <= 0 ? nowMs : rate > 0 ? nowMs + left / rate : Infinity
  return {
    usdADay: rate * DAY_MS,
    atEnd: endMs === null ? null : spent + rate * (endMs - nowMs),
    usedUpMs: usedUpMs < (endMs ?? nowMs + FORESEEN_MS) ? usedUpMs : null,
  }
}

/** USD of a millisecond. */
function rateOf(days: readonly Day[], nowMs: number): number {
  const sinceMs = (Math.floor(nowMs / DAY_MS) + 1 - RATE_DAYS) * DAY_MS
  const spent = days.filter(({ at, usd }) => at * 1_000 >= sinceMs && usd > 0)
  const [first] = spent
  if (first === undefined) return 0
  return spent.reduce((sum, { usd }) => sum + usd, 0) / Math.max(RATE_MS_MIN, nowMs - first.at * 1_000)
}

/** An instant in milliseconds since 1970, and the USD left at that instant. */
export type Left = readonly [atMs: number, usd: number]

/** The amount left at the beginning of each day of the window, and now; calculated backwards from the amount left now. */
export function leftOver({ limit, spent, interval, days }: Burned, nowMs: number): readonly Left[] {
  const { startMs } = windowOf(interval, nowMs)
  let left = limit - spent
  const found: Left[] = [[nowMs, Math.max(0, left)]]
  for (const { at, usd } of days.toReversed()) {
    if (at * 1_000 < startMs) break
    left += usd
    found.unshift([at * 1_000, Math.min(limit, Math.max(0, left))])
  }
  return found
}

export function drawnUntil({ interval }: Pick<Burned, 'interval'>, nowMs: number): number {
  return windowOf(interval, nowMs).endMs ?? nowMs + OPEN_DAYS * DAY_MS
}
