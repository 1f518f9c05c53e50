import { randomBytes } from 'node:crypto'
import t from 'tap'
import { ok } from '../../../src/schemas/failures.ts'
import { Secret } from '../../../src/schemas/vault/secret.ts'
import type { DataKeys, WrappedDataKey } from '../../../src/server/ports/vault/key-ring.ts'
import { openDataKeys } from '../../../src/server/store/vault/data-keys.ts'
import { DATA_KEYS_CACHED_MAX, openKeyRing } from '../../../src/server/vault/key-ring.ts'
import { openRootKeys, type RootKeys } from '../../../src/server/vault/root-keys.ts'
import { openFileStand } from '../../support/files/files.ts'
import { must, present } from '../../support/must.ts'

const [ROOT, OLD] = [randomBytes(32).toString('hex'), randomBytes(32).toString('hex')]

function rootKeys(text: string = ROOT): RootKeys {
  return openRootKeys({ setting: new Secret(text), file: null, dataDir: '/nowhere' })
}

/** Counts the looks at the store. */
function counted(rows: DataKeys): DataKeys & { count: number } {
  const counting = {
    count: 0,
    current: (...args: Parameters<DataKeys['current']>) => (counting.count++, rows.current(...args)),
    byId: (...args: Parameters<DataKeys['byId']>) => (counting.count++, rows.byId(...args)),
    addFirst: (row: Parameters<DataKeys['addFirst']>[0]) => rows.addFirst(row),
  }
  return counting
}

t.test('a workspace always gets the same key, and no other workspace has it', async (t) => {
  const { store, workspaceId, otherWorkspaceId } = await openFileStand(t)
  const ring = openKeyRing({ rootKeys: rootKeys(), rows: openDataKeys(store) })
  const files = must(await ring.current(workspaceId, 'files'))
  t.equal(files.key.length, 32)
  t.same(
    must(
      await openKeyRing({ rootKeys: rootKeys(), rows: openDataKeys(store) }).current(workspaceId, 'files'),
    ),
    files,
  )
  t.same(must(await ring.byId(workspaceId, 'files', files.id)), files)
  t.not(Buffer.from(files.key).compare(must(await ring.current(otherWorkspaceId, 'files')).key), 0)
})

t.test('many processes that make the first key all get the same', async (t) => {
  const { store, workspaceId } = await openFileStand(t)
  const keys = await Promise.all(
    Array.from({ length: 20 }, () =>
      openKeyRing({ rootKeys: rootKeys(), rows: openDataKeys(store) }).current(workspaceId, 'files'),
    ),
  )
  t.equal(new Set(keys.map((key) => Buffer.from(must(key).key).toString('hex'))).size, 1)
  t.equal((await store.sql`SELECT 1 FROM data_keys`).length, 1)
})

t.test('the store is asked once for all callers, and a caller may clear its copy', async (t) => {
  const { store, workspaceId } = await openFileStand(t)
  const rows = counted(openDataKeys(store))
  const ring = openKeyRing({ rootKeys: rootKeys(), rows })
  const keys = await Promise.all(Array.from({ length: 50 }, () => ring.current(workspaceId, 'files')))
  const first = Buffer.from(must(present(keys[0])).key)
  for (const key of keys) must(key).key.fill(0)
  t.ok(first.equals(must(await ring.current(workspaceId, 'files')).key))
  t.equal(rows.count, 1)
})

t.test('keys evicted from the cache are loaded again', async (t) => {
  const { store, workspaceId, otherWorkspaceId } = await openFileStand(t)
  const ring = openKeyRing({ rootKeys: rootKeys(), rows: openDataKeys(store), cachedMax: 1 })
  const first = must(await ring.current(workspaceId, 'files'))
  must(await ring.current(otherWorkspaceId, 'files'))
  t.same(must(await ring.byId(workspaceId, 'files', first.id)), first)
})

t.test('an older root key opens the keys it wrapped, and the current one wraps new ones', async (t) => {
  const { store, workspaceId, otherWorkspaceId } = await openFileStand(t)
  const rows = openDataKeys(store)
  const before = must(await openKeyRing({ rootKeys: rootKeys(OLD), rows }).current(workspaceId, 'files'))
  const both = openKeyRing({ rootKeys: rootKeys(`${ROOT},${OLD}`), rows })
  t.same(must(await both.current(workspaceId, 'files')), before)
  must(await both.current(otherWorkspaceId, 'files'))
  t.ok((await openKeyRing({ rootKeys: rootKeys(), rows }).current(otherWorkspaceId, 'files')).ok)
})

t.test('a key without its root key is unavailable, and no second one is made', async (t) => {
  const { store, workspaceId } = await openFileStand(t)
  const rows = openDataKeys(store)
  const { id } = must(await openKeyRing({ rootKeys: rootKeys(OLD), rows }).current(workspaceId, 'files'))
  const ring = openKeyRing({ rootKeys: rootKeys(), rows })
  for (const key of [await ring.current(workspaceId, 'files'), await ring.byId(workspaceId, 'files', id)]) {
    t.match(key, { failure: { name: 'data_key_unavailable' } })
  }
  t.equal((await store.sql`SELECT 1 FROM data_keys`).length, 1)
})

t.test('a wrapped key that was changed or moved to another workspace or id does not decrypt', async (t) => {
  const changes = [
    `workspace_id = (SELECT id FROM workspaces WHERE slug = 'other')`,
    `id = gen_random_uuid()`,
    `wrapped = set_byte(wrapped, 20, get_byte(wrapped, 20) # 1)`,
    `wrapped = substring(wrapped FOR 59)`,
  ]
  for (const change of changes) {
    const { store, workspaceId } = await openFileStand(t)
    must(await openKeyRing({ rootKeys: rootKeys(), rows: openDataKeys(store) }).current(workspaceId, 'files'))
    const [moved] = await store.sql.unsafe(
      `UPDATE data_keys SET ${change} RETURNING id, workspace_id, purpose`,
    )
    const ring = openKeyRing({ rootKeys: rootKeys(), rows: openDataKeys(store) })
    t.match(
      await ring.byId(moved?.['workspace_id'], moved?.['purpose'], moved?.['id']),
      { failure: { name: 'data_key_unavailable' } },
      change,
    )
  }
})

t.test('a key of another workspace is not given out by its id', async (t) => {
  const { store, workspaceId, otherWorkspaceId } = await openFileStand(t)
  const ring = openKeyRing({ rootKeys: rootKeys(), rows: openDataKeys(store) })
  const { id } = must(await ring.current(workspaceId, 'files'))
  t.match(await ring.byId(otherWorkspaceId, 'files', id), { failure: { name: 'data_key_unavailable' } })
})

t.test('caches at most DATA_KEYS_CACHED_MAX keys, and evicts the least recently used one', async (t) => {
  const kept = new Map<string, WrappedDataKey>()
  const rows = counted({
    current: (workspaceId) => Promise.resolve(ok(kept.get(workspaceId) ?? null)),
    byId: (workspaceId) => Promise.resolve(ok(kept.get(workspaceId) ?? null)),
    addFirst: (row) => Promise.resolve(ok((kept.set(row.workspaceId, row), row))),
  })
  const ring = openKeyRing({ rootKeys: rootKeys(), rows })
  const ids: { workspaceId: string; id: string }[] = []
  for (let nth = 0; nth <= DATA_KEYS_CACHED_MAX; nth++) {
    ids.push({ workspaceId: `w${nth}`, id: must(await ring.current(`w${nth}`, 'files')).id })
  }
  const looked = rows.count
  for (const { workspaceId, id } of ids.slice(1)) must(await ring.byId(workspaceId, 'files', id))
  t.equal(rows.count, looked)
  must(await ring.byId('w0', 'files', present(ids[0]).id))
  t.equal(rows.count, looked + 1)
})
