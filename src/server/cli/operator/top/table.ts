import type { Tone } from '../../parts/colour.ts'
import { fitted, piece, widthOf, type Line } from './text.ts'

export interface Column<Row> {
  readonly title: string
  /** Figures are aligned to the right. */
  readonly side: 'left' | 'right'
  /** On a narrow terminal the columns with the highest rank are left out first; 0 stays. */
  readonly rank: number
  cell(row: Row): string
  tone?(row: Row): Tone
}

/** Columns that the first column keeps before another one is left out. */
const FIRST_COLUMNS_MIN = 12
/** Columns between two columns of the table. */
const GAP = 2

/**
 * A head and a line for each row, no wider than the terminal: columns are left out by rank, then the first
 * one is cut.
 */
export function tableLines<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  width: number,
): readonly Line[] {
  const widths = new Map(
    columns.map((column) => [
      column,
      Math.max(widthOf(column.title), ...rows.map((row) => widthOf(column.cell(row)))),
    ]),
  )
  const kept = keptOf(columns, widths, width)
  const [first] = kept
  const others = kept.slice(1).reduce((sum, column) => sum + GAP + (widths.get(column) ?? 0), 0)
  const widthIn = (column: Column<Row>): number =>
    column === first
      ? Math.min(widths.get(column) ?? 0, Math.max(1, width - others))
      : (widths.get(column) ?? 0)
  const lineOf = (read: (column: Column<Row>) => { text: string; tone: Tone }): Line =>
    kept.flatMap((column, nth) => {
      const { text, tone } = read(column)
      return [
        ...(nth === 0 ? [] : [piece(' '.repeat(GAP))]),
        piece(fitted(text, widthIn(column), column.side), tone),
      ]
    })
  return [
    lineOf(({ title }) => ({ text: title, tone: 'faint' })),
    ...rows.map((row) =>
      lineOf((column) => ({ text: column.cell(row), tone: column.tone?.(row) ?? 'plain' })),
    ),
  ]
}

function keptOf<Row>(
  columns: readonly Column<Row>[],
  widths: ReadonlyMap<Column<Row>, number>,
  width: number,
): readonly Column<Row>[] {
  let kept = columns
  const needed = (): number =>
    kept.reduce(
      (sum, column, nth) =>
        sum +
        (nth === 0 ? Math.min(FIRST_COLUMNS_MIN, widths.get(column) ?? 0) : GAP + (widths.get(column) ?? 0)),
      0,
    )
  while (needed() > width) {
    const rank = Math.max(...kept.map((column) => column.rank))
    if (rank === 0) break
    kept = kept.filter((column) => column.rank !== rank)
  }
  return kept
}
