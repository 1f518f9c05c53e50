import type { HistoryData } from '../../../schemas/operator/history.ts'
import type { HistoryInput } from '../../../schemas/operator/history-range.ts'
import type { HourDimension, HoursRead } from '../../ports/operator/history.ts'
import { COLUMN, COLUMNS_OF } from './columns.ts'
import { largest, linesOf, pointsOf, statusTables, type NamedCells } from './lines.ts'

/** The part of the stored hours that is read for lines. */
export interface HourColumns {
  readonly dimension: HourDimension
  /** The first column, and the one after the last. */
  readonly columns: readonly [from: number, to: number]
}

export function hourColumns({ by, metric }: HistoryInput): HourColumns {
  if (by === 'status') return { dimension: 'all', columns: [COLUMN.calls, COLUMN.failed + 1] }
  return { dimension: by, columns: COLUMNS_OF[metric] }
}

/** The data with lines read from stored hours instead of the series of one node. */
export function withHours(
  data: HistoryData,
  input: HistoryInput,
  { known, named, events }: HoursRead,
): HistoryData {
  const { by, metric, grainS, sinceS } = input
  const { columns } = hourColumns(input)
  const width = columns[1] - columns[0]
  const tables = named.map(({ name, sums }): NamedCells => {
    const cells = new Float64Array(pointsOf(input) * width)
    for (const [hourS, place, sum] of sums) cells[((hourS - sinceS) / grainS) * width + place - 1] = sum
    return { name, isOthers: by !== 'all' && name === '', cells }
  })
  const secondsAt = new Map(known.map(({ hourS, seconds }) => [hourS, Math.min(grainS, seconds)]))
  return {
    ...data,
    scope: 'installation',
    events: [...events],
    lines: [
      ...linesOf(metric, shown(input, tables, width), (point) => secondsAt.get(sinceS + point * grainS) ?? 0),
    ],
  }
}

/** The tables that are shown. The line of everything is present even without figures. */
function shown(input: HistoryInput, tables: readonly NamedCells[], width: number): readonly NamedCells[] {
  if (input.by !== 'all' && input.by !== 'status') return largest(tables)
  const cells = tables[0]?.cells ?? new Float64Array(pointsOf(input) * width)
  return input.by === 'all' ? [{ name: 'all', isOthers: false, cells }] : statusTables(cells, width)
}
