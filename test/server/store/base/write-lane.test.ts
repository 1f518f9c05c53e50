import t, { type Test } from 'tap'
import type { Files } from '../../../../src/server/ports/files/files.ts'
import { openStore, type Store } from '../../../../src/server/store/base/open.ts'
import { openWriteLane } from '../../../../src/server/store/base/write-lane.ts'
import { insertOrganization } from '../../../../src/server/store/workspaces/organizations.ts'
import { FILE_POOL_MAX, FRONT_POOL_MAX } from '../../../../src/server/supervisor/fleet/shares.ts'
import { begun, FACTS, openFileStand, storedFile } from '../../../support/files/files.ts'
import { gate } from '../../../support/gate.ts'
import { must, present } from '../../../support/must.ts'
import { lockWaiters, untilWaiting } from '../../../support/stores/lock-waiters.ts'
import { until } from '../../../support/wait.ts'
import { openRelay } from '../../../support/wire/relay.ts'

const FLOOD = 12

/** Files with the connections of a front, and a workspace of another organization. */
async function openFront(t: Test) {
  const stand = await openFileStand(t, {}, FRONT_POOL_MAX)
  const { store } = stand
  const [connections, beside] = [FILE_POOL_MAX, 2].map((poolMax) => {
    const opened = openStore({ ...store.options, poolMax })
    t.teardown(() => opened.close())
    return opened
  })
  const files = stand.open({ lane: openWriteLane(store, connections) })
  const { workspace } = await store.sql.begin((tx) => insertOrganization(tx, 'Neighbour'))
  for (const workspaceId of [stand.workspaceId, stand.otherWorkspaceId, workspace.id])
    await storedFile(files, workspaceId)
  return { ...stand, files, beside: present(beside), neighbourId: workspace.id }
}

/** Holds the row that all writes of a workspace change. @returns lets it go */
async function holdStorage({ sql }: Store, workspaceIds: readonly string[]): Promise<() => Promise<void>> {
  const [held, over] = [gate(), gate()]
  const holding = sql.begin(async (tx) => {
    await tx`SELECT FROM workspace_storage WHERE workspace_id IN ${tx([...workspaceIds])} FOR UPDATE`
    held.open()
    await over.opened
  })
  await held.opened
  return async () => {
    over.open()
    await holding
  }
}

function flood(files: Files, workspaceIds: readonly string[]) {
  const inTurn = Array.from({ length: FLOOD }, (_, nth) => present(workspaceIds[nth % workspaceIds.length]))
  return Promise.all(inTurn.map((workspaceId) => begun(files, workspaceId, 100)))
}

t.test(
  'writes that wait for a row of their workspace do not hold up reads and writes of other organizations',
  async (t) => {
    const { files, store, beside, workspaceId, neighbourId } = await openFront(t)
    const letGo = await holdStorage(beside, [workspaceId])
    const flooded = flood(files, [workspaceId])
    await untilWaiting(beside.sql, 2)
    const upload = await begun(files, neighbourId, 100)
    const { id } = must(await files.commit(upload, FACTS))
    t.equal(must(await files.get(neighbourId, id)).id, id)
    must(await files.remove(neighbourId, id))
    t.equal(await lockWaiters(store.sql), 2, 'an organization has half of the lane, and no more')
    await letGo()
    t.equal(new Set((await flooded).map((one) => one.id)).size, FLOOD)
  },
)

t.test('the share of an organization in the write lane covers all of its workspaces together', async (t) => {
  const { files, beside, workspaceId, otherWorkspaceId, neighbourId } = await openFront(t)
  const letGo = await holdStorage(beside, [workspaceId, otherWorkspaceId])
  const flooded = flood(files, [workspaceId, otherWorkspaceId])
  await untilWaiting(beside.sql, 2)
  must(await files.commit(await begun(files, neighbourId, 100), FACTS))
  await letGo()
  t.equal((await flooded).length, FLOOD)
})

t.test('a failed write frees its place in the lane', async (t) => {
  const { store, workspaceId } = await openFileStand(t, {}, 1)
  const lane = openWriteLane(store)
  await t.rejects(lane.within(workspaceId, (sql) => sql`SELECT 1 / 0`))
  t.equal((await lane.within(workspaceId, (sql) => sql`SELECT 1`)).length, 1)
})

t.test('writes fail when the connections of the lane stop answering, and later writes succeed', async (t) => {
  const { store, workspaceId, otherWorkspaceId, open } = await openFileStand(t)
  const at = new URL(store.options.url)
  const relay = await openRelay(t, { host: at.hostname, port: Number(at.port) })
  at.port = String(relay.port)
  const bounds = { silenceMsMax: 400, connectSMax: 1 }
  const connections = openStore({ ...store.options, url: at.href, poolMax: FILE_POOL_MAX, ...bounds })
  t.teardown(() => connections.close())
  await connections.warm()
  const files = open({ lane: openWriteLane(store, connections) })
  await storedFile(files, workspaceId)
  relay.freeze()
  const writes = [workspaceId, otherWorkspaceId, workspaceId].map((id) =>
    files.begin({ workspaceId: id, reserveBytes: 1, idempotency: null }),
  )
  for (const write of writes) t.match(await write, { ok: false, failure: { name: 'store_unavailable' } })
  await relay.restore()
  await until(
    'a write is taken',
    async () => (await files.begin({ workspaceId, reserveBytes: 1, idempotency: null })).ok,
  )
})
