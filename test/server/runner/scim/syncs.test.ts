import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { ok } from '../../../../src/schemas/failures.ts'
import type { SyncJob, SyncWork } from '../../../../src/server/ports/scim/directory.ts'
import {
  SYNC_LEASE_MS,
  SYNC_POLL_MS,
  SYNC_RETRY_MS,
  startSyncs,
} from '../../../../src/server/runner/scim/syncs.ts'
import { openGroupMappings } from '../../../../src/server/store/scim/mappings.ts'
import { openSyncWork } from '../../../../src/server/store/scim/sync-work.ts'
import { createOrganization } from '../../../../src/server/store/workspaces/organizations.ts'
import { CLI } from '../../../support/audit/audit.ts'
import {
  grantsIn,
  plantGroup,
  plantMapping,
  plantMembers,
  plantUsers,
} from '../../../support/scim/directory.ts'
import { SILENT } from '../../../support/log.ts'
import { must } from '../../../support/must.ts'
import { openTestStore } from '../../../support/stores/postgres.ts'
import { spawnServer } from '../../../support/nodes/spawned.ts'
import { until } from '../../../support/wait.ts'
import { untilWaiting } from '../../../support/stores/lock-waiters.ts'
import { GRANTED_AT_ONCE } from '../../../../src/schemas/scim/scim-limits.ts'

t.test('a runner finds a sync without a wake-up, and two runners complete each sync once', async (t) => {
  const { store, workspace, work, startSync, ended } = await openDirectory(t)
  t.ok(SYNC_POLL_MS + SYNC_RETRY_MS < SYNC_LEASE_MS)
  for (let runner = 0; runner < 2; runner++) start(t, work)
  const [first, second] = [await startSync(), await startSync()]
  t.match(await ended(first), { status: 'succeeded', syncedGroups: 1 })
  t.match(await ended(second), { status: 'succeeded', syncedGroups: 1 })
  t.equal((await grantsIn(store, workspace.id)).length, 1)
})

t.test('a sync continues after an outage of the store', async (t) => {
  const { work, startSync, ended } = await openDirectory(t)
  const left = { claims: 2, steps: 2 }
  const away = { ok: false, failure: { name: 'store_unavailable' } } as const
  start(t, {
    ...work,
    claimNext: (leaseMs) => (left.claims-- > 0 ? Promise.resolve(away) : work.claimNext(leaseMs)),
    step: (...step) => (left.steps-- > 0 ? Promise.resolve(away) : work.step(...step)),
  })
  t.match(await ended(await startSync()), { status: 'succeeded', syncedGroups: 1 })
})

t.test(
  'an internal error ends the sync with a message without details, and the runner continues',
  async (t) => {
    const { work, startSync, ended } = await openDirectory(t)
    let isBroken = true
    start(t, {
      ...work,
      step(...step) {
        if (!isBroken) return work.step(...step)
        isBroken = false
        throw new Error('SELECT secret')
      },
    })
    const job = await ended(await startSync())
    t.match(job, { status: 'failed', errorMessage: /^The sync stopped with an internal error/ })
    t.notMatch(job.errorMessage, /SELECT/)
    t.match(await ended(await startSync()), { status: 'succeeded' })
  },
)

t.test('an ending runner releases its sync, and waits for the running step', async (t) => {
  const { work, startSync, ended } = await openDirectory(t)
  const id = await startSync()
  const stop = await new Promise<() => Promise<void>>((resolve) => {
    const step: SyncWork['step'] = () => {
      resolve(stopping)
      return Promise.resolve(ok({ kind: 'on', place: null } as const))
    }
    const stopping = startSyncs({ ...QUICK, leaseMs: 3_600_000, work: { ...work, step } })
  })
  await stop()
  start(t, work)
  t.match(await ended(id), { status: 'succeeded' }, 'long before the lease runs out')
})

t.test('a sync whose runner is killed in a transaction is completed by another runner', async (t) => {
  const { store, workspace, work, groupId, organizationId, startSync, ended } = await openDirectory(t)
  const many = await plantUsers(
    store,
    organizationId,
    Array.from({ length: GRANTED_AT_ONCE + 9 }, (_, n) => `u${n}`),
  )
  await plantMembers(store, groupId, many)
  const held = await store.sql.reserve()
  await held`BEGIN`
  await held`SELECT 1 FROM users ORDER BY id DESC LIMIT 1 FOR UPDATE`
  const id = await startSync()
  const { child } = spawnServer(process.execPath, [PROCESS, store.options.url, '300'])
  t.teardown(() => child.kill('SIGKILL'))
  await untilWaiting(held)
  t.equal((await grantsIn(store, workspace.id)).length, GRANTED_AT_ONCE, 'the first portion')
  const gone = once(child, 'exit')
  child.kill('SIGKILL')
  await gone
  await held`COMMIT`
  held.release()
  start(t, work)
  t.match(await ended(id), { status: 'succeeded', syncedGroups: 1 })
  t.equal((await grantsIn(store, workspace.id)).length, many.length + 1)
})

const PROCESS = fileURLToPath(new URL('../../../support/scim/sync-process.js', import.meta.url))

const QUICK = { log: SILENT, pollMs: 5, retryMs: 5 }

function start(t: Test, work: SyncWork): void {
  const stop = startSyncs({ ...QUICK, work })
  t.teardown(stop)
}

async function openDirectory(t: Test) {
  const store = await openTestStore(t)
  const {
    organization: { id: organizationId },
    workspace,
  } = must(await createOrganization(store, { name: 'o' }))
  const groupId = await plantGroup(
    store,
    organizationId,
    'all',
    await plantUsers(store, organizationId, ['ann']),
  )
  await plantMapping(store, { organizationId, groupId, workspaceId: workspace.id, role: 'admin' })
  const mappings = openGroupMappings(store)
  return {
    store,
    workspace,
    organizationId,
    groupId,
    work: openSyncWork(store),
    startSync: async () =>
      must(await mappings.startSync({ ...CLI, operation: 'test.sync', organizationId })).id,
    async ended(id: string): Promise<SyncJob> {
      const read = async () => must(await mappings.syncJob(organizationId, id))
      await until(async () => (await read()).finishedAt !== null)
      return read()
    },
  }
}
