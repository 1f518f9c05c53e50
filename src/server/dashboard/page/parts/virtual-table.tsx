import { h, type ComponentChild } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { classOf, type Column } from './data-table.tsx'

/** Height of a row and of a card in pixels, as in the style sheet, and the width up to which rows are cards. */
const ROW_PX = 34
const CARD_PX = 104
const CARDS = '(max-width: 46rem)'
/** Rows that are drawn beyond the upper and the lower edge. */
const BEYOND = 8

export interface VirtualTableProps<Row> {
  readonly caption: string
  readonly columns: readonly Column<Row>[]
  readonly rows: readonly Row[]
  keyOf(row: Row): string
  isMarked?(row: Row): boolean
  /** Called for a click anywhere in a row; for the keyboard, the first cell is a link. */
  onChoose(row: Row): void
  /** Called when the last rows are nearly in view. */
  onEnd(): void
}

/** A table in a box of its own, of which only the visible rows are drawn, so that any number of rows scrolls smoothly. */
export function VirtualTable<Row>({
  caption,
  columns,
  rows,
  keyOf,
  isMarked,
  onChoose,
  onEnd,
}: VirtualTableProps<Row>): ComponentChild {
  const { box, view } = useView()
  const rowPx = useRowPx()
  const first = Math.max(0, Math.floor(view.top / rowPx) - BEYOND)
  const last = Math.min(rows.length, Math.ceil((view.top + view.height) / rowPx) + BEYOND)
  // With each drawing: a request in progress may have kept an earlier call from loading more rows.
  useLayoutEffect(() => {
    if (view.height > 0 && last >= rows.length - BEYOND) onEnd()
  })
  return (
    <div ref={box} class="log" tabIndex={0} role="region" aria-label={caption}>
      {/* Roles are set explicitly: rows laid out as cards lose their own. */}
      <table role="table" aria-rowcount={rows.length + 1}>
        <caption class="unseen">{caption}</caption>
        <thead role="rowgroup">
          <tr role="row">
            {columns.map((column) => (
              <th key={column.title} scope="col" role="columnheader" class={classOf(column)}>
                {column.title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {first > 0 && <tr aria-hidden="true" style={{ height: `${first * rowPx}px` }} />}
          {rows.slice(first, last).map((row, nth) => (
            <tr
              key={keyOf(row)}
              role="row"
              aria-rowindex={first + nth + 2}
              class={isMarked?.(row) === true ? 'marked' : undefined}
              onClick={() => onChoose(row)}
            >
              {columns.map((column) =>
                column.isName === true ? (
                  <th key={column.title} scope="row" role="rowheader" class={classOf(column)}>
                    {column.cell(row)}
                  </th>
                ) : (
                  <td key={column.title} role="cell" class={classOf(column)}>
                    {column.cell(row)}
                  </td>
                ),
              )}
            </tr>
          ))}
          {last < rows.length && (
            <tr aria-hidden="true" style={{ height: `${(rows.length - last) * rowPx}px` }} />
          )}
        </tbody>
      </table>
    </div>
  )
}

/** The visible part of a box, in pixels. */
function useView(): {
  readonly box: { current: HTMLDivElement | null }
  readonly view: { readonly top: number; readonly height: number }
} {
  const box = useRef<HTMLDivElement | null>(null)
  const [view, setView] = useState({ top: 0, height: 0 })
  useLayoutEffect(() => {
    const element = box.current
    if (element === null) return undefined
    const look = (): void => setView({ top: element.scrollTop, height: element.clientHeight })
    const resize = new ResizeObserver(look)
    resize.observe(element)
    element.addEventListener('scroll', look, { passive: true })
    return () => {
      resize.disconnect()
      element.removeEventListener('scroll', look)
    }
  }, [])
  return { box, view }
}

/** Pixels of a row in a window of this width. */
function useRowPx(): number {
  const [isCards, setCards] = useState(() => matchMedia(CARDS).matches)
  useLayoutEffect(() => {
    const list = matchMedia(CARDS)
    const look = (): void => setCards(list.matches)
    look()
    list.addEventListener('change', look)
    return () => list.removeEventListener('change', look)
  }, [])
  return isCards ? CARD_PX : ROW_PX
}
