import { ok } from '../../../schemas/failures.ts'
import type { Store, Transaction } from '../base/open.ts'
import { reach } from '../base/translate.ts'
import { groupRemoved } from './grants.ts'
import { BEFORE_ALL, settleSome, type Settled } from './settle.ts'
import { syncJobRows, type SyncJobRow } from './sync-jobs.ts'
import type { SyncClaim, SyncPlace, SyncStep, SyncWork } from '../../ports/scim/directory.ts'
import { lockDirectory } from './one-at-a-time.ts'

/** Attempts at a sync; after these the sync has failed. Decision. */
export const SYNC_ATTEMPTS_MAX = 10
/** Milliseconds that an ended sync can be read: 30 days. Decision. */
export const SYNC_JOBS_KEPT_MS = 30 * 86_400_000

export function openSyncWork(store: Store): SyncWork {
  return {
    claimNext: (leaseMs) =>
      reach(async () => {
        const [id] = await syncJobRows.due(store.sql, 1)
        return ok(id === undefined ? null : await store.sql.begin((tx) => claim(tx, id, leaseMs)))
      }),
    step: (held, place, leaseMs) =>
      reach(async () => ok(await store.sql.begin((tx) => step(tx, { held, place, leaseMs })))),
    fail: (held, message) => reach(async () => ok(await failed(store.sql, held, message))),
    release: (held) =>
      reach(async () => {
        await syncJobRows.release(store.sql, { ...held, state: 'running' }, 0)
        return ok(null)
      }),
    async prune() {
      const { count } = await store.sql`
        DELETE FROM scim_sync_jobs WHERE finished_at < clock_timestamp() - ${SYNC_JOBS_KEPT_MS} * interval '1 ms'`
      return count
    },
  }
}

async function claim(tx: Transaction, id: string, leaseMs: number): Promise<SyncClaim | null> {
  const held = await syncJobRows.claim(tx, id, leaseMs)
  if (held === null) return null
  const row = await syncJobRows.step<SyncJobRow>(
    tx,
    held,
    'running',
    tx`
    started_at = coalesce(started_at, clock_timestamp()), synced_groups = coalesce(synced_groups, 0), deleted_groups = coalesce(deleted_groups, 0)`,
  )
  if (row === null) throw new Error('a claimed sync job no longer exists')
  const { organization_id: organizationId, attempt } = row
  if (attempt <= SYNC_ATTEMPTS_MAX) return { id, organizationId, attempt }
  await failed(
    tx,
    { id, organizationId, attempt },
    `The sync was started ${SYNC_ATTEMPTS_MAX} times and never finished.`,
  )
  return null
}

async function failed(
  sql: Store['sql'] | Transaction,
  { id, attempt }: SyncClaim,
  message: string,
): Promise<null> {
  await syncJobRows.step(
    sql,
    { id, attempt, state: 'running' },
    'failed',
    sql`
    finished_at = clock_timestamp(), error_message = ${message}`,
  )
  return null
}

interface Stepping {
  readonly held: SyncClaim
  readonly place: SyncPlace | null
  readonly leaseMs: number
}

async function step(tx: Transaction, { held, place, leaseMs }: Stepping): Promise<SyncStep> {
  await lockDirectory(tx, held.organizationId)
  const claimed = { ...held, state: 'running' } as const
  // Until the commit no other process can take the sync over.
  if (!(await syncJobRows.renew(tx, claimed, leaseMs))) return { kind: 'lost' }
  const group = await nextGroup(tx, held)
  if (group === null) {
    const done = await syncJobRows.step(
      tx,
      claimed,
      'succeeded',
      tx`
      finished_at = clock_timestamp(), synced_groups = synced_groups + ${await passed(tx, held, null)}`,
    )
    return { kind: done === null ? 'lost' : 'done' }
  }
  const next = group.isDeleted ? null : await settle(tx, group.id, place)
  if (next !== null) return { kind: 'on', place: next }
  const count = await passed(tx, held, group.id)
  if (group.isDeleted) await purge(tx, group.id)
  await tx`
    UPDATE scim_sync_jobs SET done_group = ${group.id}, synced_groups = synced_groups + ${count},
      deleted_groups = deleted_groups + ${group.isDeleted ? 1 : 0}
    WHERE id = ${held.id}`
  return { kind: 'on', place: null }
}

interface NextGroup {
  readonly id: string
  readonly isDeleted: boolean
}

/**
 * The next group with grants to compute or rows to purge. Groups that were created after the start of the sync are
 * skipped: their grants were right from the beginning.
 */
async function nextGroup(tx: Transaction, { id, organizationId }: SyncClaim): Promise<NextGroup | null> {
  const [row] = await tx<{ id: string; is_deleted: boolean }[]>`
    SELECT g.id, g.deleted_at IS NOT NULL AS is_deleted FROM scim_groups g JOIN scim_sync_jobs j ON j.id = ${id}
    WHERE g.organization_id = ${organizationId} AND g.id > coalesce(j.done_group, ${BEFORE_ALL}) AND g.created_at <= j.started_at
      AND (g.deleted_at IS NOT NULL OR EXISTS (SELECT 1 FROM scim_mappings m WHERE m.group_id = g.id))
    ORDER BY g.id LIMIT 1`
  return row === undefined ? null : { id: row.id, isDeleted: row.is_deleted }
}

/** Number of groups after the last one up to this one, including this one if it exists; null = all following groups. */
async function passed(
  tx: Transaction,
  { id, organizationId }: SyncClaim,
  groupId: string | null,
): Promise<number> {
  const [row] = await tx<{ count: number }[]>`
    SELECT count(*)::int AS count FROM scim_groups g JOIN scim_sync_jobs j ON j.id = ${id}
    WHERE g.organization_id = ${organizationId} AND g.id > coalesce(j.done_group, ${BEFORE_ALL}) AND g.created_at <= j.started_at
      AND g.deleted_at IS NULL ${groupId === null ? tx`` : tx`AND g.id <= ${groupId}`}`
  return row?.count ?? 0
}

/** @returns the place to continue from; null when the group is done */
async function settle(tx: Transaction, groupId: string, place: SyncPlace | null): Promise<SyncPlace | null> {
  const mappings = await tx<
    Settled[]
  >`SELECT id, group_id, workspace_id, role FROM scim_mappings WHERE group_id = ${groupId} ORDER BY id`
  // A mapping that was removed meanwhile was removed with its grants.
  const from = mappings.find(({ id }) => place === null || id >= place.mappingId)
  if (from === undefined) return null
  const after = await settleSome(tx, from, place?.mappingId === from.id ? place.afterUserId : BEFORE_ALL)
  if (after !== null) return { mappingId: from.id, afterUserId: after }
  const following = mappings.find(({ id }) => id > from.id)
  return following === undefined ? null : { mappingId: following.id, afterUserId: BEFORE_ALL }
}

async function purge(tx: Transaction, groupId: string): Promise<void> {
  await groupRemoved(tx, groupId)
  await tx`DELETE FROM scim_groups WHERE id = ${groupId}`
}
