import { h, type ComponentChild } from 'preact'
import { useState } from 'preact/hooks'
import type { SyncJobShape } from '../../../../../schemas/scim/group-mappings.ts'
import type { PageContext } from '../../page.ts'
import { Confirm } from '../../parts/dialog.tsx'
import { count } from '../../parts/figures.tsx'
import { useLoaded } from '../../parts/loaded.tsx'
import { useRefresh } from '../../parts/refresh.ts'

const REFRESH_MS = 1_000

/** Has all grants computed again, and tells how far that is. */
export function Sync({ context: { api } }: { readonly context: PageContext }): ComponentChild {
  const [isAsking, setAsking] = useState(false)
  const [id, setId] = useState<string | null>(null)
  const loaded = useLoaded(
    async (signal) =>
      id === null
        ? null
        : (await api.get<{ data: SyncJobShape }>(['scim', 'sync-jobs', id], {}, signal)).data,
    [api, id],
  )
  const job = loaded.value ?? null
  useRefresh(job !== null && job.finished_at === null, loaded, REFRESH_MS)
  const run = async (): Promise<void> =>
    setId((await api.send<{ data: SyncJobShape }>('POST', ['scim', 'sync-jobs'])).data.id)
  return (
    <span class="actions">
      {job !== null && (
        <span class="hint" role="status">
          {saidOf(job)}
        </span>
      )}
      <button type="button" class="quiet" onClick={() => setAsking(true)}>
        Sync
      </button>
      {isAsking && (
        <Confirm
          title="Recompute all grants?"
          text="Recomputes grants from the stored groups. Grants that are already correct are not changed."
          action="Sync"
          run={run}
          onClose={() => setAsking(false)}
        />
      )}
    </span>
  )
}

function saidOf({ status, synced_groups: groups, error_message: error }: SyncJobShape): string {
  if (status === 'failed') return `Sync failed: ${error ?? 'unknown reason'}`
  return `Sync ${status}, ${count(groups ?? 0)} groups`
}
