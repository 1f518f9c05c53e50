import { h, type ComponentChild } from 'preact'
import type { AdminFileTypeShape, AdminStorageShape } from '../../../../../schemas/operator/admin.ts'
import type { PageContext } from '../../page.ts'
import { Meter } from '../../parts/badge.tsx'
import { DataTable, type Column } from '../../parts/data-table.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { bytes, count, share } from '../../parts/figures.tsx'
import { Awaited, useLoaded } from '../../parts/loaded.tsx'

interface FileTypesProps {
  readonly context: PageContext
  readonly workspace: string
  onClose(): void
}

/** What a workspace stores, by the type of its files: of what there is the most, and what takes the room. */
export function FileTypesDialog({ context: { api }, workspace, onClose }: FileTypesProps): ComponentChild {
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
            columns={columnsOf(value.types ?? [])}
            rows={value.types ?? []}
            keyOf={({ mime_type: type }) => type}
            empty="No files."
          />
        )}
      </div>
    </Dialog>
  )
}

function columnsOf(types: readonly AdminFileTypeShape[]): readonly Column<AdminFileTypeShape>[] {
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
