import { h, type ComponentChild } from 'preact'
import type { AdminStorageShape, AdminFileTypeShape } from '../../../../schemas/operator/admin.ts'
import type { Page, PageContext } from '../page.ts'
import { Meter } from '../parts/badge.tsx'
import { LoadedTable, type Column, DataTable } from '../parts/data-table.tsx'
import { bytes, count, Time, share } from '../parts/figures.tsx'
import { linkWith, LIST_PAGE, ListPager, Reload } from '../parts/lists.tsx'
import { useLoaded, Awaited } from '../parts/loaded.tsx'
import { offsetOf } from '../parts/pager.tsx'
import type { ADMIN_FILES_COUNTED_MAX } from '../../../../schemas/operator/admin-port-limits.ts'
import { Dialog } from '../parts/dialog.tsx'

export const filesPage: Page = {
  path: 'files',
  title: 'Files',
  letter: 'f',
  view: (context) => <Files {...context} />,
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

const columnsOf = (query: URLSearchParams): readonly Column<AdminStorageShape>[] => [
  {
    title: 'Workspace',
    isName: true,
    cell: ({ name, slug, workspace_id: id }) => [
      <a key="name" href={linkWith('files', query, { of: id })} title="Files by type">
        {name}
      </a>,
      <small key="slug" class="hint line">
        {slug}
      </small>,
    ],
    sortBy: ({ name }) => name,
  },
  {
    title: 'Files',
    isNumber: true,
    sortBy: ({ files }) => files,
    cell: ({ files }) => (files >= FILES_COUNTED_MAX ? `${count(files)} or more` : count(files)),
  },
  { title: 'File size', isNumber: true, cell: (row) => bytes(row.bytes), sortBy: (row) => row.bytes },
  {
    title: 'Containers',
    isNumber: true,
    cell: (row) => bytes(row.containers_bytes),
    sortBy: (row) => row.containers_bytes,
  },
  {
    title: 'Quota',
    sortBy: (row) => used(row) / Math.max(1, row.quota_bytes),
    cell: (row) => (
      <Meter
        label={`Quota of ${row.name}`}
        value={used(row)}
        max={row.quota_bytes}
        text={`${bytes(used(row))} of ${bytes(row.quota_bytes)}`}
      />
    ),
  },
]

/** Stored files by workspace, and the files that were swept. */
function Files(context: PageContext): ComponentChild {
  const { api, query, setQuery } = context
  const looked = query.get('of')
  const offset = offsetOf(query)
  const loaded = useLoaded(
    (signal) => api.get<StorageList>(['admin', 'storage'], { limit: LIST_PAGE, offset }, signal),
    [api, offset],
  )
  const { value } = loaded
  const listed =
    value === undefined ? undefined : { data: value.data.workspaces, total_count: value.total_count }
  return (
    <div>
      {value !== undefined && <LastSweep sweep={value.data.sweep} />}
      <section class="panel">
        <div class="head">
          <h2>Workspaces</h2>
          <Reload loaded={loaded} />
        </div>
        <LoadedTable<AdminStorageShape>
          caption="Storage by workspace"
          columns={columnsOf(query)}
          loaded={{ ...loaded, value: listed?.data }}
          keyOf={(row) => row.workspace_id}
          isMarked={(row) => row.workspace_id === looked}
          found={context}
          empty="No workspaces."
        />
        <ListPager context={context} loaded={{ ...loaded, value: listed }} />
      </section>
      {looked !== null && (
        <FileTypesDialog
          key={looked}
          context={context}
          workspace={looked}
          onClose={() => setQuery({ of: null })}
        />
      )}
    </div>
  )
}

function used({ bytes, containers_bytes: containers }: AdminStorageShape): number {
  return bytes + containers
}

function LastSweep({ sweep }: { readonly sweep: Sweep | null }): ComponentChild {
  return (
    <section class="panel">
      <h2>Last sweep</h2>
      {sweep === null ? (
        <p class="hint">No sweep has finished yet. A runner deletes expired and orphaned objects.</p>
      ) : (
        <p>
          {'Finished '}
          <Time at={sweep.ended_at} />
          {'. '}
          {sentenceOf(sweep.report)}
        </p>
      )}
    </section>
  )
}

/** The things that a sweep counts, in singular and plural. */
const SWEPT_WORDS: Readonly<Record<string, readonly [one: string, many: string]>> = {
  uploads: ['abandoned upload', 'abandoned uploads'],
  expired: ['expired file', 'expired files'],
  objects: ['orphaned object', 'orphaned objects'],
  staging_files: ['temporary file', 'temporary files'],
  containers: ['unused container', 'unused containers'],
  container_files: ['container file', 'container files'],
  idempotency: ['idempotency record', 'idempotency records'],
}

/** A sweep's report as a sentence or two. */
function sentenceOf({ recounted = 0, ...removed }: Readonly<Record<string, number>>): string {
  const phrases = Object.entries(removed)
    .filter(([, number]) => number > 0)
    .map(([kind, number]) => {
      const [one, many] = SWEPT_WORDS[kind] ?? [kind.replaceAll('_', ' '), kind.replaceAll('_', ' ')]
      return `${count(number)} ${number === 1 ? one : many}`
    })
  const last = phrases.pop()
  const first =
    last === undefined
      ? 'There was nothing to delete.'
      : `Deleted ${phrases.length === 0 ? last : `${phrases.join(', ')} and ${last}`}.`
  return recounted === 0
    ? first
    : `${first} Corrected the size of ${count(recounted)} container ${recounted === 1 ? 'file' : 'files'}.`
}

interface FileTypesProps {
  readonly context: PageContext
  readonly workspace: string
  onClose(): void
}

/** The files of a workspace by type: the number of each, and their size. */
function FileTypesDialog({ context: { api }, workspace, onClose }: FileTypesProps): ComponentChild {
  const loaded = useLoaded(
    async (signal) => {
      const query = { workspace_id: workspace }
      const { data } = await api.get<{ data: { workspaces: readonly AdminStorageShape[] } }>(
        ['admin', 'storage'],
        query,
        signal,
      )
      return data.workspaces[0] ?? null
    },
    [api, workspace],
  )
  const { value } = loaded
  return (
    <Dialog title={`Files of ${value?.name ?? 'a workspace'}`} onClose={onClose}>
      <div class="body">
        <Awaited {...loaded} />
        {value === null && <p class="notice warn">Workspace not found.</p>}
        {value !== undefined && value !== null && (
          <DataTable<AdminFileTypeShape>
            caption="Files by type, largest first"
            columns={typeColumns(value.types ?? [])}
            rows={value.types ?? []}
            keyOf={({ mime_type: type }) => type}
            empty="No files."
          />
        )}
      </div>
    </Dialog>
  )
}

function typeColumns(types: readonly AdminFileTypeShape[]): readonly Column<AdminFileTypeShape>[] {
  const all = types.reduce((sum, { bytes: size }) => sum + size, 0)
  return [
    { title: 'Type', isName: true, cell: (row) => row.mime_type, sortBy: (row) => row.mime_type },
    { title: 'Files', isNumber: true, cell: (row) => count(row.files), sortBy: (row) => row.files },
    {
      title: 'Size',
      sortBy: (row) => row.bytes,
      cell: (row) => (
        <Meter
          label={`Share of ${row.mime_type}`}
          value={row.bytes}
          max={all}
          isShare
          text={`${bytes(row.bytes)}, ${share(all === 0 ? 0 : row.bytes / all)}`}
        />
      ),
    },
  ]
}
