/** Results of a watched load: curves, and the required figures. */
import { checkRecord, type CheckRecord, type CurveRecord, type ResultRow } from '../record.ts'
import { spread, type Spread } from '../statistics.ts'
import type { Holding } from './holding.ts'
import { after, growth, slopePerMinute, type Reading } from './trend.ts'
import { seriesOf, type LoopReading, type Watched } from './watch.ts'

export const MB = 1_000_000
/** Megabytes of memory growth in a minute. */
const SLOPE_MAX = 1
/** Descriptors at the end beyond those at the start: a pool opens one more for a while. */
const DESCRIPTORS_MAX = 2
/** Milliseconds of delay of the event loop. */
const LOOP_P99_MS_MAX = 10
/** Milliseconds in which heaps, pools and caches reach their size. */
const SETTLE_MS = 120_000
/** Share of a load shorter than five times SETTLE_MS in which memory settles. */
const SETTLE_SHARE = 0.2
/** Seconds below which a slope means nothing: a young heap fills and empties. */
export const SLOPE_SECONDS_MIN = 300

export function settleMs(seconds: number): number {
  return Math.min(SETTLE_MS, seconds * 1_000 * SETTLE_SHARE)
}

interface Input {
  readonly seconds: number
  readonly rows: readonly ResultRow[]
}

/** The checks; slopes only after a load that is long enough. */
export function soakChecks(watched: Watched, { seconds, rows }: Input): readonly CheckRecord[] {
  const from = settleMs(seconds)
  const check = (text: string, found: Spread, atMost: number): CheckRecord =>
    // One load has many readings.
    checkRecord(text, found, { bound: { atMost }, rows, repeats: null })
  const settled = (read: (holding: Holding) => number | null) =>
    [...seriesOf(watched.looks, read)].map(([name, readings]) => [name, after(readings, from)] as const)
  const memory = settled(countedBytes)
  const descriptors = after(
    totalOf(watched.looks, ({ isOurs, descriptors: open }) => (isOurs ? (open ?? 0) : 0)),
    from,
  )
  const slopes =
    seconds < SLOPE_SECONDS_MIN
      ? []
      : [
          ...memory.map(([name, readings]) =>
            check(`memory of ${name}, MB a minute`, one(slopePerMinute(readings) / MB), SLOPE_MAX),
          ),
          check(
            'memory of all processes, MB a minute',
            one(slopePerMinute(after(totalOf(watched.looks, countedBytes), from)) / MB),
            SLOPE_MAX,
          ),
        ]
  return [
    ...slopes,
    check(
      'descriptors of our processes, more at the end than at the start',
      one(growth(descriptors)),
      DESCRIPTORS_MAX,
    ),
    ...(watched.loops.length > 0
      ? []
      : [check('event-loop delay of a front, p99 in ms: none was told', one(Number.NaN), LOOP_P99_MS_MAX)]),
    ...fronts(watched.loops).map(([front, loops]) =>
      check(
        `event-loop delay of front ${front}, p99 in ms`,
        spread(loops.map(({ p99Ms }) => p99Ms)),
        LOOP_P99_MS_MAX,
      ),
    ),
    check('processes that ended', one(ended(watched)), 0),
  ]
}

/** Bytes of a holding; for a store without the memory that its processes share. */
function countedBytes({ isOurs, residentBytes, ownBytes }: Holding): number {
  return isOurs ? residentBytes : ownBytes
}

/** Number of the node's own processes of the first look that have ended. */
function ended({ looks }: Watched): number {
  const pids = (at: number): readonly number[] =>
    (looks.at(at)?.holdings ?? []).filter(({ isOurs }) => isOurs).flatMap(({ pids }) => pids)
  const last = new Set(pids(-1))
  return pids(0).filter((pid) => !last.has(pid)).length
}

export function soakCurves(watched: Watched): readonly CurveRecord[] {
  const { looks, loops } = watched
  const resident = seriesOf(looks, (holding) => holding.residentBytes / MB)
  const own = seriesOf(looks, (holding) => (holding.isOurs ? null : holding.ownBytes / MB))
  const curve = (title: string, y: string, lines: CurveRecord['lines']): CurveRecord => ({
    scenario: 'soak',
    title,
    x: 'seconds',
    y,
    lines: lines.filter(({ points }) => points.length > 0),
  })
  return [
    curve('Memory over time', 'MB', [
      ...lines(resident),
      ...lines(own).map(({ name, points }) => ({
        name: `${name}, without what its processes share`,
        points,
      })),
      { name: 'all', points: inSeconds(totalOf(looks, (holding) => countedBytes(holding) / MB)) },
    ]),
    curve(
      'Descriptors over time',
      'open descriptors',
      lines(seriesOf(looks, (holding) => holding.descriptors)),
    ),
    curve(
      'Event-loop delay over time',
      'ms',
      fronts(loops).flatMap(([front, of]) => [
        { name: `front ${front}, p50`, points: inSeconds(of.map(({ atMs, p50Ms }) => [atMs, p50Ms])) },
        { name: `front ${front}, p99`, points: inSeconds(of.map(({ atMs, p99Ms }) => [atMs, p99Ms])) },
      ]),
    ),
  ]
}

export function soakNotes(watched: Watched, seconds: number): readonly string[] {
  const from = settleMs(seconds) / 1_000
  const worst = Math.max(0, ...watched.loops.map(({ maxMs }) => maxMs))
  return [
    'Postgres opens the files of its tables as it comes to use them, up to a bound of its own: its descriptors are shown and not judged',
    `slopes are least squares over what was read after the first ${from.toFixed(0)} s`,
    ...(seconds < SLOPE_SECONDS_MIN
      ? [`under ${SLOPE_SECONDS_MIN} s memory still settles: its slope is not checked`]
      : []),
    "Postgres' processes share a cache of fixed size that fills as rows are written: their own memory counts, and is added up, as theirs come and go",
    `event-loop delay is what each front says at /metrics, of the time since the reading before; at most ${worst.toFixed(1)} ms`,
    ...watched.problems,
  ]
}

/** Maximum of all memory together: the node's own with shared memory, that of stores without. */
export function peakMb({ looks }: Watched): number {
  return Math.max(...totalOf(looks, countedBytes).map(([, bytes]) => bytes)) / MB
}

/** Sum of all processes at each look, also of those that came later. */
function totalOf(looks: Watched['looks'], read: (holding: Holding) => number): readonly Reading[] {
  return looks.map(({ atMs, holdings }) => [atMs, holdings.reduce((sum, holding) => sum + read(holding), 0)])
}

function fronts(loops: readonly LoopReading[]): readonly (readonly [string, readonly LoopReading[]])[] {
  return [...new Set(loops.map(({ front }) => front))]
    .sort()
    .map((front) => [front, loops.filter((of) => of.front === front)])
}

function lines(series: ReadonlyMap<string, readonly Reading[]>): CurveRecord['lines'] {
  return [...series].map(([name, readings]) => ({ name, points: inSeconds(readings) }))
}

function inSeconds(readings: readonly Reading[]): readonly Reading[] {
  return readings.map(([at, value]) => [Math.round(at / 100) / 10, Math.round(value * 100) / 100])
}

function one(value: number): Spread {
  return { median: value, min: value, max: value }
}
