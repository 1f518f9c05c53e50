import t, { type Test } from 'tap'
import { groupRemoved } from '../../../../src/server/store/scim/grants.ts'
import { openGroupMappings } from '../../../../src/server/store/scim/mappings.ts'
import {
  SYNC_ATTEMPTS_MAX,
  SYNC_JOBS_KEPT_MS,
  openSyncWork,
} from '../../../../src/server/store/scim/sync-work.ts'
import { createOrganization } from '../../../../src/server/store/workspaces/organizations.ts'
import { createWorkspace } from '../../../../src/server/store/workspaces/workspaces.ts'
import { CLI } from '../../../support/audit/audit.ts'
import {
  grantsIn,
  plantGroup,
  plantMapping,
  plantMembers,
  plantUsers,
} from '../../../support/scim/directory.ts'
import { must, present } from '../../../support/must.ts'
import { openTestStore } from '../../../support/stores/postgres.ts'
import { SYNC_LEASE_MS } from '../../../../src/server/runner/scim/syncs.ts'
import { GRANTED_AT_ONCE } from '../../../../src/schemas/scim/scim-limits.ts'
import type { SyncClaim, SyncPlace } from '../../../../src/server/ports/scim/directory.ts'

t.test(
  'a sync adds missing grants, removes wrong ones and corrects roles, and writes nothing else',
  async (t) => {
    const {
      store,
      workspace,
      other,
      users: [ann, bob, cat, dan],
      mapped,
      syncAll,
    } = await openDirectory(t, ['ann', 'bob', 'cat', 'dan'])
    const [group, mapping] = await mapped('admin', [ann, bob, cat])
    await store.sql`UPDATE users SET is_active = false WHERE id = ${cat}`
    const plant = (workspaceId: string, userId: string, role: string) => store.sql`
    INSERT INTO member_grants (workspace_id, user_id, source, mapping_id, role) VALUES (${workspaceId}, ${userId}, 'mapping', ${mapping}, ${role})`
    await plant(workspace.id, bob, 'member')
    await plant(workspace.id, cat, 'admin')
    await plant(workspace.id, dan, 'admin')
    await plant(other.id, ann, 'admin')
    await store.sql`INSERT INTO member_grants (workspace_id, user_id, source, role) VALUES (${workspace.id}, ${dan}, 'manual', 'member')`
    t.match(await syncAll(), { status: 'succeeded', syncedGroups: 1, deletedGroups: 0, errorMessage: null })
    const right = [`ann admin ${mapping}`, `bob admin ${mapping}`, 'dan member manual']
    t.same([await grantsIn(store, workspace.id), await grantsIn(store, other.id)], [right, []])
    const versions = () => store.sql`SELECT xmin::text FROM member_grants ORDER BY user_id`
    const before = await versions()
    t.match(await syncAll(), { status: 'succeeded' })
    t.same(await versions(), before)
    await plantMembers(store, group, [dan])
    await syncAll()
    t.same(await grantsIn(store, workspace.id), [
      ...right.slice(0, 2),
      `dan admin ${mapping}`,
      'dan member manual',
    ])
  },
)

t.test(
  'a sync counts and removes deleted groups once, and also counts groups without a mapping',
  async (t) => {
    const {
      store,
      organizationId,
      users: [ann],
      mapped,
      syncAll,
      workspace,
    } = await openDirectory(t, ['ann'])
    const [gone] = await mapped('member', [ann])
    await plantGroup(store, organizationId, 'idle')
    await mapped('admin', [ann])
    await plantGroup(store, organizationId, 'idle too')
    await store.sql.begin((tx) => groupRemoved(tx, gone))
    t.match(await syncAll(), { syncedGroups: 3, deletedGroups: 1 })
    t.equal((await store.sql`SELECT 1 FROM scim_groups WHERE id = ${gone}`).length, 0)
    t.match(await syncAll(), { syncedGroups: 3, deletedGroups: 0 })
    t.equal((await grantsIn(store, workspace.id)).length, 1)
  },
)

t.test('a sync does not change other organizations', async (t) => {
  const {
    store,
    users: [ann],
    mapped,
    syncAll,
  } = await openDirectory(t, ['ann'])
  await mapped('member', [ann])
  const {
    organization: { id: organizationId },
    workspace,
  } = must(await createOrganization(store, { name: 'foreign' }))
  const groupId = await plantGroup(
    store,
    organizationId,
    'theirs',
    await plantUsers(store, organizationId, ['bob']),
  )
  await plantMapping(store, { organizationId, groupId, workspaceId: workspace.id, role: 'member' })
  await store.sql.begin(async (tx) => groupRemoved(tx, await plantGroup(store, organizationId, 'gone')))
  t.match(await syncAll(), { status: 'succeeded', syncedGroups: 1, deletedGroups: 0 })
  t.same(await grantsIn(store, workspace.id), [])
  t.equal((await store.sql`SELECT 1 FROM scim_groups WHERE organization_id = ${organizationId}`).length, 2)
})

t.test(
  'a runner that dies in the middle of a group is followed by another, and can no longer write',
  async (t) => {
    const { store, workspace, organizationId, mapped, work, mappings, by, steps } = await openDirectory(t, [])
    const many = await plantUsers(
      store,
      organizationId,
      Array.from({ length: GRANTED_AT_ONCE + 10 }, (_, n) => `u${n}`),
    )
    await mapped('member', many.slice(0, 10))
    await mapped('member', many)
    const { id } = must(await mappings.startSync(by))
    const first = present(must(await work.claimNext(SYNC_LEASE_MS)))
    const { startedAt } = must(await mappings.syncJob(organizationId, id))
    const place = await steps(first, 2)
    t.ok(place, 'within the second group')
    t.equal((await grantsIn(store, workspace.id)).length, 10 + GRANTED_AT_ONCE)
    t.equal(must(await work.claimNext(SYNC_LEASE_MS)), null, 'nobody takes it while the lease lasts')
    await store.sql`UPDATE scim_sync_jobs SET lease_until = clock_timestamp() - interval '1 s'`
    const second = present(must(await work.claimNext(SYNC_LEASE_MS)))
    t.same(must(await work.step(first, place, SYNC_LEASE_MS)), { kind: 'lost' })
    must(await work.fail(first, 'too late'))
    t.same(must(await mappings.syncJob(organizationId, id)).startedAt, startedAt)
    t.match(must(await mappings.syncJob(organizationId, id)), {
      status: 'running',
      syncedGroups: 1,
      errorMessage: null,
    })
    await steps(second)
    t.match(must(await mappings.syncJob(organizationId, id)), { status: 'succeeded', syncedGroups: 2 })
    t.equal((await grantsIn(store, workspace.id)).length, 20 + GRANTED_AT_ONCE)
  },
)

t.test('a change between two steps of a sync stays', async (t) => {
  const { store, workspace, organizationId, mapped, work, mappings, by, steps } = await openDirectory(t, [])
  const many = await plantUsers(
    store,
    organizationId,
    Array.from({ length: GRANTED_AT_ONCE + 10 }, (_, n) => `u${n}`),
  )
  const [, mapping] = await mapped('member', many)
  must(await mappings.startSync(by))
  const claim = present(must(await work.claimNext(SYNC_LEASE_MS)))
  const place = await steps(claim, 1)
  must(await mappings.remove(mapping, true, by))
  t.equal(await steps(claim, undefined, place), null)
  t.equal(
    (await store.sql`SELECT 1 FROM member_grants WHERE workspace_id = ${workspace.id} AND source = 'manual'`)
      .length,
    GRANTED_AT_ONCE,
  )
  t.equal((await store.sql`SELECT 1 FROM member_grants WHERE source = 'mapping'`).length, 0)
})

t.test(
  'when a mapping is deleted while it is synced, the next one begins with the first member',
  async (t) => {
    const { store, organizationId, other, mapped, work, mappings, by, steps } = await openDirectory(t, [])
    const many = await plantUsers(
      store,
      organizationId,
      Array.from({ length: GRANTED_AT_ONCE + 10 }, (_, n) => `u${n}`),
    )
    const [groupId, first] = await mapped('member', many)
    await plantMapping(store, { organizationId, groupId, workspaceId: other.id, role: 'member' })
    must(await mappings.startSync(by))
    const claim = present(must(await work.claimNext(SYNC_LEASE_MS)))
    const place = await steps(claim, 1)
    t.equal(place?.mappingId, first)
    must(await mappings.remove(first, false, by))
    t.equal(await steps(claim, undefined, place), null)
    t.equal((await grantsIn(store, other.id)).length, many.length)
  },
)

t.test('a sync whose runners keep dying fails in the end, with a message', async (t) => {
  const { store, work, mappings, by, organizationId } = await openDirectory(t, [])
  const { id } = must(await mappings.startSync(by))
  for (let attempt = 0; attempt < SYNC_ATTEMPTS_MAX; attempt++) {
    t.ok(must(await work.claimNext(SYNC_LEASE_MS)))
    await store.sql`UPDATE scim_sync_jobs SET lease_until = clock_timestamp() - interval '1 s'`
  }
  t.equal(must(await work.claimNext(SYNC_LEASE_MS)), null)
  const job = must(await mappings.syncJob(organizationId, id))
  t.match(job, { status: 'failed', errorMessage: /started 10 times/ })
  t.ok(job.finishedAt)
})

t.test('a released sync is due at once, and an ended one is deleted after its retention time', async (t) => {
  const { store, work, mappings, by, organizationId, steps } = await openDirectory(t, [])
  const { id } = must(await mappings.startSync(by))
  must(await work.release(present(must(await work.claimNext(SYNC_LEASE_MS)))))
  await steps(present(must(await work.claimNext(SYNC_LEASE_MS))))
  const ended = (ms: number) =>
    store.sql`UPDATE scim_sync_jobs SET finished_at = clock_timestamp() - ${ms} * interval '1 ms'`
  await ended(SYNC_JOBS_KEPT_MS - 60_000)
  t.equal(await work.prune(), 0)
  await ended(SYNC_JOBS_KEPT_MS + 1)
  t.equal(await work.prune(), 1)
  t.match(await mappings.syncJob(organizationId, id), { failure: { name: 'sync_job_unknown' } })
})

async function openDirectory<const N extends readonly string[]>(t: Test, names: N) {
  const store = await openTestStore(t)
  const {
    organization: { id: organizationId },
    workspace,
  } = must(await createOrganization(store, { name: 'o' }))
  const other = must(await createWorkspace(store, { organizationId, name: 'other', slug: 'other' }))
  const users = (await plantUsers(store, organizationId, names)) as { readonly [K in keyof N]: string }
  const [work, mappings, by] = [
    openSyncWork(store),
    openGroupMappings(store),
    { ...CLI, operation: 'test.sync', organizationId },
  ]
  /** @returns where the next would go on; null after the last */
  const steps = async (
    claim: SyncClaim,
    countMax = Infinity,
    from: SyncPlace | null = null,
  ): Promise<SyncPlace | null> => {
    let place = from
    for (let count = 0; count < countMax; count++) {
      const stepped = must(await work.step(claim, place, SYNC_LEASE_MS))
      if (stepped.kind !== 'on') return null
      ;({ place } = stepped)
    }
    return place
  }
  let groups = 0
  return {
    store,
    organizationId,
    workspace,
    other,
    users,
    work,
    mappings,
    by,
    steps,
    /** A new group with a mapping to the workspace, and without grants. */
    async mapped(role: 'admin' | 'member', userIds: readonly string[]): Promise<readonly [string, string]> {
      const groupId = await plantGroup(store, organizationId, `group ${++groups}`, userIds)
      return [
        groupId,
        await plantMapping(store, { organizationId, groupId, workspaceId: workspace.id, role }),
      ]
    },
    async syncAll() {
      const { id } = must(await mappings.startSync(by))
      await steps(present(must(await work.claimNext(SYNC_LEASE_MS))))
      return must(await mappings.syncJob(organizationId, id))
    },
  }
}
