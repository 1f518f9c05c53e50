import { randomUUID } from 'node:crypto'
import t, { type Test } from 'tap'
import { COUNTED_BYTES_MIN, STORAGE_QUOTA_BYTES_DEFAULT } from '../../../../src/schemas/files/file-limits.ts'
import { LONG_READS_WAITING_OF_ONE_MAX, longReadsOf } from '../../../../src/server/store/base/long-reads.ts'
import { openFiles } from '../../../../src/server/store/files/files.ts'
import { FACTS, storedFile } from '../../../support/files/files.ts'
import { openInternsFront, type InternsFront } from '../../../support/workspaces/interns-front.ts'
import { plantMany } from '../../../support/stores/postgres.ts'
import {
  ADMIN_FILE_TYPES_MAX,
  ADMIN_FILES_COUNTED_MAX,
} from '../../../../src/schemas/operator/admin-port-limits.ts'
import { keepSweep, lastSweep } from '../../../../src/server/store/operator/storage.ts'

const SWEEP = {
  uploads: 0,
  objects: 2,
  staging_files: 0,
  containers: 1,
  container_files: 3,
  recounted: 0,
  idempotency: 4,
}

interface Stand extends InternsFront {
  put(workspaceId: string, sizeBytes: number): Promise<string>
}

async function stand(t: Test): Promise<Stand> {
  const front = await openInternsFront(t)
  const files = openFiles({
    store: front.store,
    now: () => performance.now(),
    random: Math.random,
    quotaWaitMs: 0,
    idempotencyWaitMs: 0,
  })
  t.teardown(async () => files.close())
  return { ...front, put: (workspaceId, sizeBytes) => storedFile(files, workspaceId, { sizeBytes }) }
}

/** A file that a sandbox has put, as a node writes its row: made empty, then filled. */
async function contained(
  { store: { sql } }: Stand,
  workspaceId: string,
  sizeBytes: number,
  path: string = randomUUID(),
): Promise<void> {
  await sql`
    INSERT INTO container_files (workspace_id, container_id, path, size_bytes, claim_id)
    VALUES (${workspaceId}, 'box', ${path}, 0, ${randomUUID()})`
  await sql`UPDATE container_files SET size_bytes = ${sizeBytes} WHERE workspace_id = ${workspaceId} AND path = ${path}`
  await sql`UPDATE workspace_storage SET used_bytes = used_bytes + ${sizeBytes} WHERE workspace_id = ${workspaceId}`
}

t.test(
  'admin.get_storage 200: returns the files, container files and quota of each workspace, in pages',
  async (t) => {
    const front = await stand(t)
    const { call, workspace, other, store } = front
    await front.put(workspace.id, 100)
    await front.put(workspace.id, 20)
    await contained(front, workspace.id, 7)
    await store.sql`UPDATE workspaces SET storage_quota_bytes = 5000 WHERE id = ${other.id}`
    const { status, body } = await call('GET', '/admin/storage')
    t.equal(status, 200)
    t.same(body, {
      data: {
        workspaces: [
          {
            workspace_id: workspace.id,
            slug: 'default',
            name: 'Default',
            files: 2,
            bytes: 2 * COUNTED_BYTES_MIN,
            containers_bytes: 2 * COUNTED_BYTES_MIN,
            quota_bytes: STORAGE_QUOTA_BYTES_DEFAULT,
          },
          {
            workspace_id: other.id,
            slug: 'other',
            name: 'Other',
            files: 0,
            bytes: 0,
            containers_bytes: 0,
            quota_bytes: 5_000,
          },
        ],
        sweep: null,
      },
      total_count: 2,
    })
    t.match((await call('GET', '/admin/storage?limit=1&offset=1')).body, {
      data: { workspaces: [{ slug: 'other' }] },
      total_count: 2,
    })
  },
)

t.test('only the operating organization gets the last complete sweep report of any runner', async (t) => {
  const {
    call,
    store: { sql },
    foreignKey,
  } = await stand(t)
  await keepSweep(sql, { node: 'a', slot: 0 }, { ...SWEEP, objects: 9 })
  await keepSweep(sql, { node: 'b', slot: 1 }, { ...SWEEP, objects: 8 })
  await keepSweep(sql, { node: 'a', slot: 0 }, SWEEP)
  t.match((await call('GET', '/admin/storage')).body, {
    data: { sweep: { ended_at: /^\d{4}-.*Z$/, report: SWEEP } },
  })
  const foreign = (await call('GET', '/admin/storage', { key: foreignKey })).body
  t.match(foreign, { data: { workspaces: [{ slug: 'default' }], sweep: null }, total_count: 1 })
  t.equal((await sql`SELECT 1 FROM sweep_reports`).count, 2, 'one for each runner')
  t.match(await lastSweep(sql), { report: SWEEP })
})

t.test('admin.get_storage 503: too many long reads of the organization are waiting', async (t) => {
  const { call, store, foreignKey } = await stand(t)
  const turns = longReadsOf(store)
  const [{ id: tenant }] = await store.sql<[{ id: string }]>`SELECT id FROM organizations ORDER BY id LIMIT 1`
  const all = Array.from({ length: 1 + LONG_READS_WAITING_OF_ONE_MAX }, () => turns.enter({ tenant }))
  const { status, type, headers } = await call('GET', '/admin/storage')
  t.same([status, type, headers.get('retry-after')], [503, 'busy', '1'])
  t.match(await call('GET', '/admin/requests'), { status: 503, type: 'busy' }, 'searches have the same turns')
  t.equal((await call('GET', '/admin/storage', { key: foreignKey })).status, 200)
  for (const leave of all) (await leave)?.()
  t.equal((await call('GET', '/admin/storage')).status, 200)
})

t.test('admin.get_storage 400: invalid pages', async (t) => {
  const { call } = await stand(t)
  for (const query of ['limit=0', 'limit=101', 'offset=-1']) {
    t.match(await call('GET', `/admin/storage?${query}`), { status: 400, type: 'query_invalid' }, query)
  }
})

t.test('updates the totals of container files with each change, and sums none on request', async (t) => {
  const front = await stand(t)
  const {
    call,
    store: { sql },
    workspace: { id },
  } = front
  const bytes = async () =>
    (
      (await call('GET', '/admin/storage?limit=1')).body as {
        data: { workspaces: [{ containers_bytes: number }] }
      }
    ).data.workspaces[0].containers_bytes
  await front.put(id, 1)
  await contained(front, id, 70_000, 'a')
  await contained(front, id, 100_000, 'b')
  t.equal(await bytes(), 170_000 + COUNTED_BYTES_MIN, 'with the folder of the container')
  await sql`UPDATE container_files SET size_bytes = 40000 WHERE path = 'b'`
  await sql`UPDATE container_files SET writing_until = now()`
  t.equal(await bytes(), 110_000 + COUNTED_BYTES_MIN)
  await sql`DELETE FROM container_files WHERE path = 'a'`
  t.equal(await bytes(), 40_000 + COUNTED_BYTES_MIN)
})

t.test('the count of files ends at ADMIN_FILES_COUNTED_MAX', async (t) => {
  const { call, store, workspace } = await stand(t)
  await plantMany(
    store,
    (tx) => tx`
    INSERT INTO files (id, workspace_id, state, lease_until, filename, mime_type, size_bytes, sha256, data_key_id, is_downloadable, ready_at)
    SELECT 'file_' || n, ${workspace.id}, 'ready', now(), 'a', 'text/plain', 0, ${FACTS.sha256}, ${FACTS.dataKeyId}, false, now()
    FROM generate_series(1, ${ADMIN_FILES_COUNTED_MAX + 1}::int) n`,
  )
  t.match((await call('GET', '/admin/storage?limit=1')).body, {
    data: { workspaces: [{ files: ADMIN_FILES_COUNTED_MAX }] },
  })
})

t.test('a request for one workspace returns only its files by type, the largest type first', async (t) => {
  const front = await stand(t)
  const { call, workspace, other, store, foreignKey } = front
  for (const [size, type] of [
    [10, 'text/plain'],
    [30, 'text/plain'],
    [500, 'image/png'],
  ] as const) {
    const id = await front.put(workspace.id, size)
    await store.sql`UPDATE files SET mime_type = ${type} WHERE id = ${id}`
  }
  const gone = await front.put(workspace.id, 9_000)
  await store.sql`UPDATE files SET state = 'deleted' WHERE id = ${gone}`
  await front.put(other.id, 7)
  const types = [
    { mime_type: 'image/png', files: 1, bytes: 500 },
    { mime_type: 'text/plain', files: 2, bytes: 40 },
  ]
  for (const reference of [workspace.id, 'default']) {
    const { body } = await call('GET', `/admin/storage?workspace_id=${reference}`)
    t.match(body, { data: { workspaces: [{ slug: 'default', types }], sweep: null }, total_count: 1 })
    t.equal((body as { data: { workspaces: unknown[] } }).data.workspaces.length, 1)
  }
  const nothing = { data: { workspaces: [], sweep: null }, total_count: 0 }
  for (const reference of ['nobody', randomUUID()])
    t.same((await call('GET', `/admin/storage?workspace_id=${reference}`)).body, nothing)
  t.same(
    (await call('GET', `/admin/storage?workspace_id=${workspace.id}`, { key: foreignKey })).body,
    nothing,
  )
})

t.test('lists a limited number of file types, and omits the smallest', async (t) => {
  const { call, store, workspace } = await stand(t)
  await store.sql`
    INSERT INTO files (id, workspace_id, state, lease_until, filename, mime_type, size_bytes, sha256, data_key_id, is_downloadable, ready_at)
    SELECT 'file_' || n, ${workspace.id}, 'ready', now(), 'a', 'x/' || n, n, ${FACTS.sha256}, ${FACTS.dataKeyId}, false, now()
    FROM generate_series(1, ${ADMIN_FILE_TYPES_MAX + 1}::int) n`
  const { body } = await call('GET', '/admin/storage?workspace_id=default')
  const [{ types }] = (body as { data: { workspaces: [{ types: { mime_type: string }[] }] } }).data.workspaces
  t.equal(types.length, ADMIN_FILE_TYPES_MAX)
  t.equal(types.at(-1)?.mime_type, 'x/2')
})
