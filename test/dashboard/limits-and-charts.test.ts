import t from 'tap'
import { ROOT } from '../support/source.ts'

/** A module of the page as the compiler made it, before the build joins it with the others. */
async function moduleOf<T>(path: string): Promise<T> {
  return (await import(`${ROOT}dist/.page/src/server/dashboard/page/${path}`)) as T
}

interface Day {
  readonly at: number
  readonly usd: number
}
interface Burned {
  readonly limit: number
  readonly spent: number
  readonly interval: string
  readonly days: readonly Day[]
}
interface Forecast {
  readonly usdADay: number
  readonly atEnd: number | null
  readonly usedUpMs: number | null
}
interface Forecasts {
  windowOf(interval: string, nowMs: number): { readonly startMs: number; readonly endMs: number | null }
  forecastOf(burned: Burned, nowMs: number): Forecast
  leftOver(burned: Burned, nowMs: number): readonly (readonly [number, number])[]
}

const { windowOf, forecastOf, leftOver } = await moduleOf<Forecasts>('charts/forecast.js')
const { forecastText } = await moduleOf<{
  forecastText(burned: Burned, nowMs: number, refused?: object): string
}>('charts/burn-down.js')

const DAY_MS = 86_400_000
const ms = (text: string): number => Date.parse(text)
/** A Wednesday, at noon. */
const NOW = ms('2027-03-17T12:00:00Z')
/** USD of each day up to today. */
const upTo = (...usds: readonly number[]): readonly Day[] =>
  usds.map((usd, nth) => ({
    at: (Math.floor(NOW / DAY_MS) * DAY_MS - (usds.length - 1 - nth) * DAY_MS) / 1_000,
    usd,
  }))
const cents = (usd: number | null): number => Math.round((usd ?? NaN) * 100)
const burned = (more: Partial<Burned>): Burned => ({
  limit: 100,
  spent: 0,
  interval: 'monthly',
  days: [],
  ...more,
})

t.test('periods of limits are days in UTC, weeks from Monday, and months', async (t) => {
  const iso = (interval: string, at: string): readonly (string | null)[] => {
    const { startMs, endMs } = windowOf(interval, ms(at))
    return [startMs, endMs].map((one) => (one === null ? null : new Date(one).toISOString().slice(0, 10)))
  }
  t.same(iso('daily', '2027-12-31T23:59:59.999Z'), ['2027-12-31', '2028-01-01'])
  t.same(iso('weekly', '2027-03-14T23:00:00Z'), ['2027-03-08', '2027-03-15'], 'a Sunday')
  t.same(iso('weekly', '2027-03-15T00:00:00Z'), ['2027-03-15', '2027-03-22'], 'a Monday')
  t.same(iso('monthly', '2028-02-29T12:00:00Z'), ['2028-02-01', '2028-03-01'])
  t.same(iso('monthly', '2027-12-05T12:00:00Z'), ['2027-12-01', '2028-01-01'])
  t.same(iso('lifetime', '2027-03-17T12:00:00Z'), ['2027-02-15', null])
})

t.test('makes a forecast without spend, for a limit of zero, and for an overdrawn limit', async (t) => {
  t.same(forecastOf(burned({}), NOW), { usdADay: 0, atEnd: 0, usedUpMs: null })
  for (const more of [{ limit: 0 }, { limit: 5, spent: 7, days: upTo(7) }, { limit: 5, spent: 5 }]) {
    t.equal(forecastOf(burned(more), NOW).usedUpMs, NOW)
    t.equal(forecastText(burned(more), NOW), 'refusing calls now (none in the last hour)')
    const left = leftOver(burned(more), NOW).map(([, usd]) => usd)
    t.ok(
      left.every((usd) => usd >= 0 && usd <= (more.limit ?? 0)),
      left.join(),
    )
  }
})

t.test('forecasts use the mean spend of the last seven days, from the first day with spend', async (t) => {
  const week = forecastOf(burned({ days: upTo(1_000, 6.5, 0, 0, 0, 0, 0, 0) }), NOW)
  t.equal(cents(week.usdADay), 100, 'six days and a half; older days do not count')
  const half = forecastOf(burned({ spent: 3, days: upTo(0, 0, 1.5, 1.5) }), NOW)
  t.equal(cents(half.usdADay), 200)
  t.equal(cents(half.atEnd), 3_200, 'fourteen days and a half, until the first of April')
  t.equal(half.usedUpMs, null)
})

t.test('a call a minute after midnight does not determine the rate of that day', async (t) => {
  const nowMs = Math.floor(NOW / DAY_MS) * DAY_MS + 60_000
  const { usdADay } = forecastOf(burned({ days: upTo(0.01) }), nowMs)
  t.equal(cents(usdADay), 24, 'as if it had taken an hour')
})

t.test('a limit that runs out in its period says when; others show spend at the period end', async (t) => {
  const fast = burned({ limit: 10, spent: 6, interval: 'weekly', days: upTo(0, 1, 3, 2) })
  const { usedUpMs } = forecastOf(fast, NOW)
  t.equal(cents(((usedUpMs ?? 0) - NOW) / DAY_MS), cents(4 / 2.4), 'days')
  t.equal(forecastText(fast, NOW), 'runs out tomorrow at $2.40/day')
  t.equal(forecastText({ ...fast, interval: 'daily', days: upTo(1) }, NOW), '$7.00 at the end, in 12 hours')
  t.equal(forecastText({ ...fast, days: [] }, NOW), 'no spend in the last seven days')
  const refused = { calls: 1, isPartial: false }
  t.equal(forecastText(fast, NOW, refused), '1 call refused in the last hour', 'a rest is left')
  const credit = { ...fast, interval: 'lifetime', limit: 106 }
  t.equal(forecastText(credit, NOW), 'runs out next month at $2.40/day', 'no window ends it')
  for (const limit of [1e9, Number.MAX_VALUE])
    t.equal(forecastText({ ...credit, limit }, NOW), 'more than ten years left at $2.40/day')
})

t.test('a burn-down begins with the period and ends with the amount that is left now', async (t) => {
  const left = leftOver(burned({ limit: 10, spent: 6, interval: 'weekly', days: upTo(50, 1, 3, 2) }), NOW)
  t.same(
    left.map(([at, usd]) => [new Date(at).toISOString().slice(5, 13), usd]),
    [
      ['03-15T00', 10],
      ['03-16T00', 9],
      ['03-17T00', 6],
      ['03-17T12', 4],
    ],
  )
})

interface Scale {
  readonly half: number
  x(point: number): number
  y(value: number): number
  pointAt(x: number): number
}
interface ChartScale {
  scaleOf(frame: Readonly<Record<string, number | boolean>>, points: number, most: number): Scale
  stackOf(lines: readonly (readonly (number | null)[])[]): readonly (readonly number[])[]
  barsOf(from: readonly number[] | undefined, to: readonly number[], scale: Omit<Scale, 'pointAt'>): string
}

const { scaleOf, stackOf, barsOf } = await moduleOf<ChartScale>('charts/time-chart.js')
const FRAME = { width: 342, height: 132, left: 30, bottom: 24, hasBars: true }

t.test('stacks lines on top of each other, and counts a missing value as zero', async (t) => {
  t.same(stackOf([]), [])
  t.same(
    stackOf([
      [1, null, 3],
      [null, 2, 1],
    ]),
    [
      [1, 0, 3],
      [1, 2, 4],
    ],
  )
})

t.test('bars are inside the drawing, and a value of zero has no bar', async (t) => {
  for (const points of [1, 3]) {
    const { half, x, pointAt } = scaleOf(FRAME, points, 10)
    t.equal(x(0) - half, 30)
    t.equal(x(points - 1) + half, 330)
    t.same(
      Array.from({ length: points }, (_, point) => pointAt(x(point) + half * 0.9)),
      Array.from({ length: points }, (_, point) => point),
    )
  }
  const scale = { half: 10, x: (point: number) => 100 * point, y: (value: number) => -value }
  t.equal(barsOf([1, 5], [3, 5], scale), 'M-7.0 -1.0H7.0V-3.0H-7.0Z')
  t.equal(barsOf(undefined, [0, 2], scale), 'M93.0 0.0H107.0V-2.0H93.0Z')
})

const { barsOf: barsOfGroups } = await moduleOf<{
  barsOf(
    groups: readonly { name: string; daily: readonly { usage: number }[] }[],
    nameOf: (group: { name: string }) => string,
  ): readonly { name: string; values: readonly number[] }[]
}>('pages/subjects/spent.js')

t.test('the five groups with the highest cost have their own bars, and all others share one', async (t) => {
  const groups = Array.from({ length: 7 }, (_, nth) => ({
    name: `n${nth}`,
    daily: [{ usage: 7 - nth }, { usage: 0 }],
  }))
  const lines = barsOfGroups(groups, ({ name }) => name.toUpperCase())
  t.same(
    lines.map(({ name, values }) => [name, values[0]]),
    [...[7, 6, 5, 4, 3].map((usd, nth) => [`N${nth}`, usd]), ['others', 3]],
  )
  t.equal(barsOfGroups(groups.slice(0, 5), ({ name }) => name).length, 5)
  t.same(
    barsOfGroups([], ({ name }) => name),
    [],
  )
})

interface Failed {
  readonly error_type: string | null
  readonly status: number
  readonly limit: string | null
  readonly weight: number
}
const { failuresOf } = await moduleOf<{
  failuresOf(rows: readonly Failed[]): readonly { readonly newest: Failed; readonly calls: number }[]
}>('pages/subjects/calls.js')

t.test(
  'failed calls are counted by error, status and limit, each weighted by the calls that it represents',
  async (t) => {
    const row = (error_type: string | null, weight = 1, limit: string | null = null): Failed => ({
      error_type,
      status: 429,
      limit,
      weight,
    })
    const rows = [
      row('busy'),
      row('limit', 1, 'key'),
      row('busy', 100),
      row('limit'),
      row(null),
      row('limit', 3),
    ]
    t.same(
      failuresOf(rows).map(({ newest: { error_type, limit }, calls }) => [error_type, limit, calls]),
      [
        ['busy', null, 101],
        ['limit', null, 4],
        ['limit', 'key', 1],
        [null, null, 1],
      ],
    )
  },
)

t.test('counts calls of disconnected clients with their cost, and estimated costs apart', async (t) => {
  const { leftText } = await moduleOf<{
    leftText(answer: { readonly data: readonly object[]; readonly next_cursor: string | null }): string
  }>('pages/subjects/key-page.js')
  const row = (weight: number, cost_usd: number | null, is_estimated: boolean): object => ({
    ...{ weight, cost_usd, is_estimated },
  })
  t.equal(leftText({ data: [], next_cursor: null }), '0 calls in the last day')
  const data = [row(1, 0.5, true), row(1, 0.25, false), row(10, null, false)]
  t.match(
    leftText({ data, next_cursor: null }),
    /^12 calls in the last day, 1 with an estimated charge, \$0\.75/,
  )
  t.match(leftText({ data, next_cursor: 'x' }), /^more than 12 calls/)
})
