import { fail, ok, type Outcome } from '../../../schemas/failures.ts'
import type { DirectoryActor, SyncJob } from '../../ports/scim/directory.ts'
import { appendAudit } from '../base/append-audit.ts'
import { guardedRows } from '../base/guarded-row.ts'
import { isId, newId } from '../base/ids.ts'
import type { Queryable, Transaction } from '../base/open.ts'

export interface SyncJobRow {
  readonly id: string
  readonly organization_id: string
  readonly state: SyncJob['status']
  readonly created_at: Date
  readonly started_at: Date | null
  readonly finished_at: Date | null
  readonly synced_groups: number | null
  readonly deleted_groups: number | null
  readonly error_message: string | null
  readonly attempt: number
  readonly done_group: string | null
}

export const syncJobRows = guardedRows<SyncJob['status']>({
  table: 'scim_sync_jobs',
  claimable: ['queued', 'running'],
})

/** Requests a sync; a sync that is still queued will include the present state as well. */
export async function startSync(tx: Transaction, by: DirectoryActor): Promise<Outcome<SyncJob>> {
  const id = newId()
  // The statement writes an existing row too, so that the row is returned and the sync cannot begin before
  // the commit.
  const [row] = await tx<SyncJobRow[]>`
    INSERT INTO scim_sync_jobs (id, organization_id) VALUES (${id}, ${by.organizationId})
    ON CONFLICT (organization_id) WHERE state = 'queued' DO UPDATE SET state = 'queued' RETURNING *`
  if (row === undefined) throw new Error('the insert returned nothing')
  if (row.id === id) {
    await appendAudit(tx, {
      ...by,
      workspaceId: null,
      outcome: 'changed',
      objectKind: 'sync_job',
      objectId: id,
      before: null,
      after: { status: 'queued' },
    })
  }
  return ok(syncJobOf(row))
}

/** Failure: sync_job_unknown, also for a job of another organization. */
export async function findSyncJob(
  sql: Queryable,
  organizationId: string,
  id: string,
): Promise<Outcome<SyncJob>> {
  if (!isId(id)) return fail('sync_job_unknown')
  const [row] = await sql<
    SyncJobRow[]
  >`SELECT * FROM scim_sync_jobs WHERE id = ${id} AND organization_id = ${organizationId}`
  return row === undefined ? fail('sync_job_unknown') : ok(syncJobOf(row))
}

function syncJobOf(row: SyncJobRow): SyncJob {
  return {
    id: row.id,
    status: row.state,
    createdAt: row.created_at,
    startedAt: row.started_at,
    finishedAt: row.finished_at,
    syncedGroups: row.synced_groups,
    deletedGroups: row.deleted_groups,
    errorMessage: row.error_message,
  }
}
