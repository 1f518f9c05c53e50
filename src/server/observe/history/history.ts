import {
  HISTORY_EVENTS_MAX,
  HISTORY_KEYS_MAX,
  HISTORY_MODELS_MAX,
  HISTORY_OPERATIONS_MAX,
  HISTORY_PROVIDERS_MAX,
  HISTORY_QUANTILE_S,
} from '../../../schemas/operator/history-limits.ts'
import {
  HISTORY_DIMENSIONS,
  type HistoryData,
  type HistoryDimension,
  type HistoryEvent,
  type HistoryEventKind,
} from '../../../schemas/operator/history.ts'
import { HISTORY_HOUR_S, type HistoryInput } from '../../../schemas/operator/history-range.ts'
import type { HistoryHour, HourDimension, HourRow } from '../../ports/operator/history.ts'
import { COLUMN, COLUMNS, COLUMNS_OF, type Counts } from './columns.ts'
import { largest, linesOf, pointsOf, statusTables, unitOf, type NamedCells } from './lines.ts'
import { NamedSeries } from './named-series.ts'
import type { SavedHistory } from './saved-history.ts'
import { Series, SERIES_BYTES } from './series.ts'

const MINUTE_S = 60
/**
 * Seconds of a point that must be known: fronts tell once a second, so that a shorter part would have a rate
 * by chance. Decision.
 */
const KNOWN_S_MIN = 5
/** Calls, and the refused and failed ones among them. */
const STATUS_COLUMNS = COLUMN.failed + 1

/** Names of each dimension with series of their own. */
const NAMES_MAX: Readonly<Record<HistoryDimension, number>> = {
  operation: HISTORY_OPERATIONS_MAX,
  provider: HISTORY_PROVIDERS_MAX,
  model: HISTORY_MODELS_MAX,
  key: HISTORY_KEYS_MAX,
}
/** Bytes of a history with every series in use: one of all, and of each dimension its names and the others. */
export const HISTORY_BYTES = SERIES_BYTES * HISTORY_DIMENSIONS.reduce((sum, by) => sum + NAMES_MAX[by] + 1, 1)

/** An hour by the second and a day by the minute of what a node did, in bounded memory. */
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
  /** The minute in which the busiest names were last settled. */
  #minute: number

  /** @param startedS second since 1970 from which on all is known */
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
    // Each call, stream and cost is of one operation.
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
    // A name that was asked for has a line also where nothing came.
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

  /** Goes on from what was saved; for a new history. Throws for what was saved by another layout. */
  restore({ startedS, events, all, by }: SavedHistory): void {
    this.#all.restore(all)
    for (const one of HISTORY_DIMENSIONS) this.#by[one].restore(by[one])
    this.#events = events
    this.#startedS = startedS
  }

  /** All that is known of an hour, by name. @param hourS second in which it began */
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
