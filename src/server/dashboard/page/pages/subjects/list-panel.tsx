import { h, type ComponentChild, type ComponentChildren } from 'preact'
import type { Path, Query } from '../../api.ts'
import type { PageContext } from '../../page.ts'
import { LoadedTable, type Column } from '../../parts/data-table.tsx'
import { rowsOf } from '../../parts/lists.tsx'
import { useLoaded } from '../../parts/loaded.tsx'

export interface ListPanelProps<Row> {
  readonly context: PageContext
  readonly title: string
  /** Of the list, below `/api/v1`. */
  readonly path: Path
  readonly query?: Query
  readonly columns: readonly Column<Row>[]
  keyOf(row: Row): string
  readonly empty: ComponentChildren
  /** Address of the page with the whole list. */
  readonly all?: string
  /** Beside the heading. */
  readonly children?: ComponentChildren
}

/** The first page of a list of the API, in a panel of its own; it says when there is more. */
export function ListPanel<Row>(props: ListPanelProps<Row>): ComponentChild {
  const { context, title, path, query = {}, columns, keyOf, empty, all, children } = props
  const { api } = context
  const loaded = useLoaded(
    (signal) => api.get<{ data: readonly Row[]; has_more: boolean }>(path, query, signal),
    [api, path.join(), JSON.stringify(query)],
  )
  return (
    <section class="panel" aria-label={title}>
      <div class="head">
        <h2>{title}</h2>
        <div class="actions">
          {children}
          {all !== undefined && <a href={all}>View all</a>}
        </div>
      </div>
      <LoadedTable<Row>
        caption={title}
        columns={columns}
        loaded={rowsOf(loaded)}
        keyOf={keyOf}
        empty={empty}
      />
      {loaded.value?.has_more === true && <p class="hint">Only the first rows are shown.</p>}
    </section>
  )
}
