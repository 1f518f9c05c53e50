import {
  HISTORY_DIMENSIONS,
  type HistoryData,
  type HistoryDimension,
  type HistoryEvent,
  type HistoryEventKind,
} from '../../../schemas/operator/history.ts'
import { HISTORY_HOUR_S, type HistoryInput } from '../../../schemas/operator/history-range.ts'
import type { HistoryHour, HourDimension, HourRow } from '../../ports/operator/history.ts'
import { COLUMN, COLUMNS, COLUMNS_OF, type Counts, type NamedColumns, OTHER_NAME } from './columns.ts'
import { largest, linesOf, pointsOf, statusTables, unitOf, type NamedCells } from './lines.ts'
import type { SavedHistory } from './saved-history.ts'
import { Series, SERIES_BYTES } from './series.ts'
import {
  HISTORY_EVENTS_MAX,
  HISTORY_KEYS_MAX,
  HISTORY_MODELS_MAX,
  HISTORY_OPERATIONS_MAX,
  HISTORY_PROVIDERS_MAX,
  HISTORY_QUANTILE_S,
} from '../../../schemas/operator/admin-port-limits.ts'

/** Names without a line that are watched, for each name with a line. Decision. */
export const HISTORY_CANDIDATES = 4

const MINUTE_S = 60
/** Seconds of a point for which figures must be known: fronts report once a second, so that the rate of a shorter part would be random. Decision. */
const KNOWN_S_MIN = 5
/** Calls, and the refused and failed ones among them. */
const STATUS_COLUMNS = COLUMN.failed + 1

/** Maximum of names with their own series, by dimension. */
const NAMES_MAX: Readonly<Record<HistoryDimension, number>> = {
  operation: HISTORY_OPERATIONS_MAX,
  provider: HISTORY_PROVIDERS_MAX,
  model: HISTORY_MODELS_MAX,
  key: HISTORY_KEYS_MAX,
}
/** Bytes of a history with every series in use: one for everything, and for each dimension its names and the others. */
export const HISTORY_BYTES = SERIES_BYTES * HISTORY_DIMENSIONS.reduce((sum, by) => sum + NAMES_MAX[by] + 1, 1)

/** The history of a node in bounded memory: an hour by the second and a day by the minute. */
export class History {
  #startedS: number
  readonly #all = new Series()
  readonly #by: Readonly<Record<HistoryDimension, NamedSeries>> = {
    operation: new NamedSeries(NAMES_MAX.operation),
    provider: new NamedSeries(NAMES_MAX.provider),
    model: new NamedSeries(NAMES_MAX.model),
    key: new NamedSeries(NAMES_MAX.key),
  }
  #events: readonly HistoryEvent[] = []
  /** The minute in which the busiest names were last determined. */
  #minute: number

  /** @param startedS second since 1970 from which everything is known */
  constructor(startedS: number) {
    this.#startedS = startedS
    this.#minute = Math.floor(startedS / MINUTE_S)
  }

  /** Bytes of the series in use. */
  get bytes(): number {
    return SERIES_BYTES * HISTORY_DIMENSIONS.reduce((sum, by) => sum + this.#by[by].size, 1)
  }

  /** @param atS second since 1970 */
  take(counts: Counts, atS: number): void {
    const minute = Math.floor(atS / MINUTE_S)
    if (minute !== this.#minute) for (const by of HISTORY_DIMENSIONS) this.#by[by].settle()
    this.#minute = minute
    for (const by of HISTORY_DIMENSIONS) for (const one of counts[by]) this.#by[by].add(atS, one)
    // The sums of everything: each call, stream and cost belongs to exactly one operation.
    for (const { columns } of counts.operation) this.#all.add(atS, columns)
  }

  note(kind: HistoryEventKind, text: string, atMs: number): void {
    const event = { at: new Date(atMs).toISOString(), kind, text }
    this.#events = [...this.#events.slice(1 - HISTORY_EVENTS_MAX), event]
  }

  read(input: HistoryInput, nowS: number): HistoryData {
    const { metric, by, grainS, sinceS, untilS } = input
    const tables =
      by === 'status'
        ? statusTables(read(this.#all, input, [0, STATUS_COLUMNS]), STATUS_COLUMNS)
        : this.#tables(input)
    const secondsOf = (point: number): number => {
      const startS = sinceS + point * grainS
      const known = Math.min(startS + grainS, nowS) - Math.max(startS, this.#startedS)
      return known < Math.min(grainS, KNOWN_S_MIN) ? 0 : known
    }
    const [from, to] = [isoOf(sinceS), isoOf(untilS)]
    return {
      scope: 'node',
      from,
      to,
      grain_seconds: grainS,
      quantile_seconds: Math.max(grainS, HISTORY_QUANTILE_S),
      metric,
      by,
      unit: unitOf(metric),
      lines: [...linesOf(metric, tables, secondsOf)],
      events: this.#events.filter(({ at }) => at >= from && at < to),
    }
  }

  #tables(input: HistoryInput): readonly NamedCells[] {
    const { by, metric, name: only } = input
    const cellsOf = (series: Series): Float64Array => read(series, input, COLUMNS_OF[metric])
    if (by === 'all' || by === 'status') return [{ name: by, isOthers: false, cells: cellsOf(this.#all) }]
    const { named, others } = this.#by[by]
    // A requested name has a line even if nothing was counted.
    if (only !== undefined)
      return Array.from(named)
        .filter(([name]) => name === only)
        .map(([name, series]) => ({ name, isOthers: false, cells: cellsOf(series) }))
    return largest([
      ...Array.from(named, ([name, series]) => ({ name, isOthers: false, cells: cellsOf(series) })),
      ...(others === null ? [] : [{ name: 'others', isOthers: true, cells: cellsOf(others) }]),
    ])
  }

  save(): SavedHistory {
    const of = (by: HistoryDimension) => this.#by[by].save()
    return {
      startedS: this.#startedS,
      events: this.#events,
      all: this.#all.save(),
      by: { operation: of('operation'), provider: of('provider'), model: of('model'), key: of('key') },
    }
  }

  /** Restores a saved history into a new one. Throws if it was saved with another layout. */
  restore({ startedS, events, all, by }: SavedHistory): void {
    this.#all.restore(all)
    for (const one of HISTORY_DIMENSIONS) this.#by[one].restore(by[one])
    this.#events = events
    this.#startedS = startedS
  }

  /** All figures of an hour, by name. @param hourS second in which it began */
  hour(hourS: number, nowS: number): Omit<HistoryHour, 'run'> {
    const rowsOf = (dimension: HourDimension, name: string, series: Series): HourRow => ({
      dimension,
      name,
      figures: [...read(series, hourInput(hourS), [0, COLUMNS])],
    })
    const rows = HISTORY_DIMENSIONS.flatMap((by) => {
      const { named, others } = this.#by[by]
      return [
        ...Array.from(named, ([name, series]) => rowsOf(by, name, series)),
        ...(others === null ? [] : [rowsOf(by, '', others)]),
      ]
    })
    const endS = Math.min(hourS + HISTORY_HOUR_S, nowS)
    return {
      hourS,
      seconds: Math.max(0, endS - Math.max(hourS, this.#startedS)),
      events: this.#events.filter(({ at }) => at >= isoOf(hourS) && at < isoOf(hourS + HISTORY_HOUR_S)),
      rows: [
        rowsOf('all', '', this.#all),
        ...rows.filter(({ figures }) => figures.some((figure) => figure > 0)),
      ],
    }
  }
}

function isoOf(second: number): string {
  return new Date(second * 1_000).toISOString()
}

/** An hour as one point. */
function hourInput(hourS: number): HistoryInput {
  return {
    metric: 'requests',
    by: 'all',
    grainS: HISTORY_HOUR_S,
    sinceS: hourS,
    untilS: hourS + HISTORY_HOUR_S,
  }
}

function read(series: Series, input: HistoryInput, [from, to]: readonly [number, number]): Float64Array {
  const { sinceS, grainS } = input
  const cells = new Float64Array(pointsOf(input) * (to - from))
  series.addTo({ sinceS, grainS, from, to, cells })
  return cells
}

/** Share of its weight that a name keeps from one minute to the next: it halves in ten minutes. Decision. */
const KEPT_SHARE = 0.93
/** Factor by which a name must be busier than another to take over its series. Decision. */
const OVERTAKES = 1.5
/** Weight below which a name without a series is forgotten. */
const FORGOTTEN = 1

/** How busy a name is: its calls, weighted less the older they are. */
interface Weight {
  weight: number
  /** Calls of the current minute. */
  fresh: number
}

interface Held extends Weight {
  readonly series: Series
}

/**
 * The busiest names of one dimension, and all others as one. When a busier name takes the place of another,
 * the figures of the replaced name are added to the others, so that sums stay the same.
 */
class NamedSeries {
  readonly #max: number
  readonly #held = new Map<string, Held>()
  /** Names without a series, of which the busiest may get one. */
  readonly #candidates = new Map<string, Weight>()
  #others: Series | null = null

  /** @param max number of names with their own series */
  constructor(max: number) {
    this.#max = max
  }

  /** Series in use. */
  get size(): number {
    return this.#held.size + (this.#others === null ? 0 : 1)
  }

  get others(): Series | null {
    return this.#others
  }

  get named(): Iterable<readonly [name: string, series: Series]> {
    return Array.from(this.#held, ([name, { series }]) => [name, series] as const)
  }

  add(atS: number, { name, columns }: NamedColumns): void {
    const calls = columns[COLUMN.calls] ?? 0
    const held = name === OTHER_NAME ? null : (this.#held.get(name) ?? this.#begin(name))
    if (held !== null) {
      held.fresh += calls
      held.series.add(atS, columns)
      return
    }
    this.#others ??= new Series()
    this.#others.add(atS, columns)
    const candidate = this.#candidates.get(name)
    if (candidate !== undefined) candidate.fresh += calls
    else if (name !== OTHER_NAME && this.#candidates.size < this.#max * HISTORY_CANDIDATES)
      this.#candidates.set(name, { weight: 0, fresh: calls })
  }

  /** Gives the busiest names their series; to be called once a minute. */
  settle(): void {
    for (const one of [...this.#held.values(), ...this.#candidates.values()]) {
      one.weight = one.weight * KEPT_SHARE + one.fresh
      one.fresh = 0
    }
    for (const [name, { weight }] of this.#candidates) if (weight < FORGOTTEN) this.#candidates.delete(name)
    while (this.#swap()) continue
  }

  save(): SavedHistory['by'][HistoryDimension] {
    return {
      named: Array.from(this.#held, ([name, { weight, series }]) => ({
        name,
        weight,
        series: series.save(),
      })),
      others: this.#others?.save() ?? null,
    }
  }

  /** Throws if it was saved with another layout. */
  restore({ named, others }: SavedHistory['by'][HistoryDimension]): void {
    for (const { name, weight, series } of named.slice(0, this.#max))
      this.#held.set(name, { weight, fresh: 0, series: new Series().restore(series) })
    this.#others = others === null ? null : new Series().restore(others)
  }

  #begin(name: string): Held | null {
    if (this.#held.size >= this.#max) return null
    const held = { weight: 0, fresh: 0, series: new Series() }
    this.#held.set(name, held)
    return held
  }

  /** @returns whether a name took over the series of another */
  #swap(): boolean {
    const [name, busiest] = [...this.#candidates].sort(([, a], [, b]) => b.weight - a.weight)[0] ?? []
    const [last, least] = [...this.#held].sort(([, a], [, b]) => a.weight - b.weight)[0] ?? []
    if (name === undefined || busiest === undefined || last === undefined || least === undefined) return false
    if (busiest.weight <= least.weight * OVERTAKES) return false
    this.#others ??= new Series()
    this.#others.absorb(least.series)
    this.#held.delete(last)
    this.#candidates.delete(name)
    this.#held.set(name, { ...busiest, series: least.series })
    if (least.weight >= FORGOTTEN) this.#candidates.set(last, { weight: least.weight, fresh: 0 })
    return true
  }
}
