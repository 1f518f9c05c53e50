import { h, type ComponentChild, type ComponentChildren } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { PageContext } from '../page.ts'
import { SearchField } from './filters.tsx'
import { Awaited, type Loaded } from './loaded.tsx'

export interface Column<Row> {
  readonly title: string
  cell(row: Row): ComponentChildren
  /** Makes the column sortable. */
  sortBy?(row: Row): number | string
  /** Right-aligned figures. */
  readonly isNumber?: boolean
  /** True for the column that names the row (`th`), the first of a table. */
  readonly isName?: boolean
  /** May break into lines. */
  readonly isText?: boolean
  /** Name of the column in the style sheet, which sets its width. */
  readonly kind?: string
}

export interface TableProps<Row> {
  /** Content of the table, for screen readers; others see its heading above. */
  readonly caption: string
  readonly columns: readonly Column<Row>[]
  readonly rows: readonly Row[]
  keyOf(row: Row): string
  /** Shown when there are no rows. */
  readonly empty: ComponentChildren
  /** True if the style sheet sets the widths of the columns, so that long texts are cut. */
  readonly isFixed?: boolean
  /** True for a row to highlight, such as the open one. */
  isMarked?(row: Row): boolean
}

interface Order {
  readonly title: string
  readonly isDown: boolean
}

/** A table that is sorted by its headers, and becomes a list of cards on narrow screens. */
export function DataTable<Row>({
  caption,
  columns,
  rows,
  keyOf,
  empty,
  isFixed = false,
  isMarked,
}: TableProps<Row>): ComponentChild {
  const [order, setOrder] = useState<Order | null>(null)
  const { box, isWide } = useWide(rows.length > 0)
  if (rows.length === 0) return <p class="empty">{empty}</p>
  const turn = ({ title, isNumber = false }: Column<Row>): void =>
    setOrder((last) =>
      last?.title === title ? { title, isDown: !last.isDown } : { title, isDown: isNumber },
    )
  // Roles are set explicitly: a table laid out as cards loses its own.
  return (
    <div ref={box} class="scroll" {...(isWide && { tabIndex: 0, role: 'region', 'aria-label': caption })}>
      <table role="table" class={isFixed ? 'data fixed' : 'data'}>
        <caption class="unseen">{caption}</caption>
        <thead role="rowgroup">
          <tr role="row">{columns.map((column) => header(column, order, () => turn(column)))}</tr>
        </thead>
        <tbody role="rowgroup">
          {sorted(rows, columns, order).map((row) => (
            <tr
              key={keyOf(row)}
              role="row"
              class={isMarked?.(row) === true ? 'marked' : undefined}
              onClick={openRow}
            >
              {columns.map((column) => cell(column, row))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

/** A click on a row, outside its links and buttons, acts like the link or button of its name. */
function openRow({ target, currentTarget }: Event): void {
  const isOwn = target instanceof Element && target.closest('a, button, input, select, label') !== null
  // Selecting text to copy it must not open the row.
  if (isOwn || getSelection()?.isCollapsed === false) return
  ;(currentTarget as Element).querySelector<HTMLElement>('th a, th button')?.click()
}

/** A table wider than its container must also scroll with the keyboard, and needs the focus for that. */
function useWide(hasRows: boolean): {
  readonly box: { current: HTMLDivElement | null }
  readonly isWide: boolean
} {
  const box = useRef<HTMLDivElement | null>(null)
  const [isWide, setWide] = useState(false)
  useLayoutEffect(() => {
    const element = box.current
    if (element === null) return undefined
    const observer = new ResizeObserver(() => setWide(element.scrollWidth > element.clientWidth))
    for (const one of [element, ...element.children]) observer.observe(one)
    return () => observer.disconnect()
  }, [hasRows])
  return { box, isWide }
}

export interface LoadedTableProps<Row> extends Omit<TableProps<Row>, 'rows'> {
  readonly loaded: Loaded<readonly Row[]>
  /** Set for a list that no operation can search: a field above its rows then filters them by words. */
  readonly found?: PageContext
}

export function LoadedTable<Row>({ loaded, found, ...props }: LoadedTableProps<Row>): ComponentChild {
  const { value, problem, isLoading } = loaded
  const words = found?.query.get('find') ?? ''
  const rows = words === '' ? value : value?.filter((row) => hasWords(row, words))
  return (
    <div aria-busy={isLoading} class={isLoading ? 'stack busy' : 'stack'}>
      <Awaited {...loaded} />
      {found !== undefined && (words !== '' || (value?.length ?? 0) > 0) && (
        <div class="filters">
          <SearchField
            label="Find in this list"
            value={words}
            onSearch={(find) => found.setQuery({ find })}
          />
        </div>
      )}
      {rows !== undefined && problem === null && (
        <DataTable<Row> {...props} rows={rows} {...(words !== '' && { empty: 'No rows match.' })} />
      )}
    </div>
  )
}

/** True if each word occurs somewhere in a row: in its names, ids and states as the node sent them. */
export function hasWords(row: unknown, words: string): boolean {
  const text = JSON.stringify(row).toLowerCase()
  return words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word))
}

function header<Row>(column: Column<Row>, order: Order | null, turn: () => void): ComponentChild {
  const { title, sortBy } = column
  const isOrdered = order?.title === title
  const direction = order?.isDown === true ? 'descending' : 'ascending'
  return (
    <th
      key={title}
      scope="col"
      role="columnheader"
      class={classOf(column)}
      aria-sort={isOrdered ? direction : undefined}
    >
      {sortBy === undefined ? (
        title
      ) : (
        <button type="button" class="sort" onClick={turn}>
          {title}
        </button>
      )}
    </th>
  )
}

/** CSS class of the cells of a column. */
export function classOf<Row>({ isNumber, isText, kind }: Column<Row>): string | undefined {
  const names = [isNumber === true && 'n', isText === true && 'text', kind !== undefined && `c-${kind}`]
  return names.filter(Boolean).join(' ') || undefined
}

function cell<Row>(column: Column<Row>, row: Row): ComponentChild {
  const { title, isName, cell } = column
  const props = { key: title, 'data-title': title, class: classOf(column) }
  // Wrapped in one element, since on a card the title of the column is next to it.
  return isName === true ? (
    <th {...props} scope="row" role="rowheader">
      {cell(row)}
    </th>
  ) : (
    <td {...props} role="cell">
      <div>{cell(row)}</div>
    </td>
  )
}

function sorted<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  order: Order | null,
): readonly Row[] {
  const by = columns.find(({ title }) => title === order?.title)?.sortBy
  if (by === undefined) return rows
  const sign = order?.isDown === true ? -1 : 1
  const compare = (a: number | string, b: number | string): number =>
    typeof a === 'number' && typeof b === 'number' ? a - b : String(a).localeCompare(String(b))
  return rows.toSorted((a, b) => sign * compare(by(a), by(b)))
}
