import { h, type ComponentChild } from 'preact'
import type { ADMIN_FILES_COUNTED_MAX } from '../../../../schemas/operator/admin-limits.ts'
import type { AdminStorageShape } from '../../../../schemas/operator/admin.ts'
import type { Page, PageContext } from '../page.ts'
import { Meter } from '../parts/badge.ts'
import { LoadedTable, type Column } from '../parts/data-table.ts'
import { bytes, count, Time } from '../parts/figures.ts'
import { LIST_PAGE, ListPager, Reload } from '../parts/lists.ts'
import { useLoaded } from '../parts/loaded.ts'
import { offsetOf } from '../parts/pager.ts'
import { sentenceOf } from './sweep-words.ts'

export const filesPage: Page = {
  path: 'files',
  title: 'Files',
  letter: 'f',
  view: (context) => h(Files, context),
}

interface Sweep {
  readonly ended_at: string
  readonly report: Readonly<Record<string, number>>
}

interface StorageList {
  readonly data: { readonly workspaces: readonly AdminStorageShape[]; readonly sweep: Sweep | null }
  readonly total_count: number
}

const FILES_COUNTED_MAX: typeof ADMIN_FILES_COUNTED_MAX = 100_000

const COLUMNS: readonly Column<AdminStorageShape>[] = [
  {
    title: 'Workspace',
    isName: true,
    cell: ({ name, slug }) => [name, h('small', { key: 'slug', class: 'hint line' }, slug)],
    sortBy: ({ name }) => name,
  },
  {
    title: 'Files',
    isNumber: true,
    sortBy: ({ files }) => files,
    cell: ({ files }) => (files >= FILES_COUNTED_MAX ? `${count(files)} or more` : count(files)),
  },
  { title: 'Their bytes', isNumber: true, cell: (row) => bytes(row.bytes), sortBy: (row) => row.bytes },
  {
    title: 'In containers',
    isNumber: true,
    cell: (row) => bytes(row.containers_bytes),
    sortBy: (row) => row.containers_bytes,
  },
  {
    title: 'Quota',
    sortBy: (row) => used(row) / Math.max(1, row.quota_bytes),
    cell: (row) =>
      h(Meter, {
        label: `Quota of ${row.name}`,
        value: used(row),
        max: row.quota_bytes,
        text: `${bytes(used(row))} of ${bytes(row.quota_bytes)}`,
      }),
  },
]

/** What is stored, by workspace, and what was swept away. */
function Files(context: PageContext): ComponentChild {
  const { api, query } = context
  const offset = offsetOf(query)
  const loaded = useLoaded(
    (signal) => api.get<StorageList>(['admin', 'storage'], { limit: LIST_PAGE, offset }, signal),
    [api, offset],
  )
  const { value } = loaded
  const listed =
    value === undefined ? undefined : { data: value.data.workspaces, total_count: value.total_count }
  return h(
    'div',
    null,
    value !== undefined && h(LastSweep, { sweep: value.data.sweep }),
    h(
      'section',
      { class: 'panel' },
      h('div', { class: 'head' }, h('h2', null, 'Workspaces'), h(Reload, { loaded })),
      h(LoadedTable<AdminStorageShape>, {
        caption: 'What workspaces store',
        columns: COLUMNS,
        loaded: { ...loaded, value: listed?.data },
        keyOf: (row) => row.workspace_id,
        empty: 'There is no workspace.',
      }),
      h(ListPager, { context, loaded: { ...loaded, value: listed } }),
    ),
  )
}

function used({ bytes, containers_bytes: containers }: AdminStorageShape): number {
  return bytes + containers
}

function LastSweep({ sweep }: { readonly sweep: Sweep | null }): ComponentChild {
  return h(
    'section',
    { class: 'panel' },
    h('h2', null, 'Last sweep'),
    sweep === null
      ? h(
          'p',
          { class: 'hint' },
          'None has ended yet. A runner looks for what nobody will come back for, and removes it.',
        )
      : h('p', null, 'It ended ', h(Time, { at: sweep.ended_at }), '. ', sentenceOf(sweep.report)),
  )
}
