import t, { type Test } from 'tap'
import { COUNTED_BYTES_MIN } from '../../../../src/schemas/files/file-limits.ts'
import type { PathClaim } from '../../../../src/server/ports/containers/container-rows.ts'
import type { Outcome } from '../../../../src/schemas/failures.ts'
import { openContainerSizes } from '../../../../src/server/store/containers/container-sizes.ts'
import { openFiles, type FilesOptions } from '../../../../src/server/store/files/files.ts'
import { migrate, MIGRATIONS } from '../../../../src/server/store/migrations/migrate.ts'
import { openStore } from '../../../../src/server/store/base/open.ts'
import { begun, FACTS, openFileStand, storedFile, type FileStand } from '../../../support/files/files.ts'
import { keptLog } from '../../../support/log.ts'
import { must } from '../../../support/must.ts'
import { insertOldOwnerOnce } from '../../../support/stores/old-owner.ts'
import { openTestDatabase } from '../../../support/stores/postgres.ts'

const TEN_DEEP = 'a/b/c/d/e/f/g/h/i/j/file'
/** Of the container itself. */
const OWN_FOLDER = COUNTED_BYTES_MIN

interface Stand extends FileStand {
  claim(path: string, sizeBytes: number): Promise<Outcome<PathClaim>>
  put(path: string, sizeBytes: number): Promise<void>
  /** As a sweep that finds nothing there. */
  takeAway(path: string): Promise<void>
  used(): Promise<readonly [used: number, reserved: number]>
}

async function standOf(t: Test, options: Partial<FilesOptions> = {}): Promise<Stand> {
  const stand = await openFileStand(t, options)
  const { files, store, workspaceId } = stand
  const sizes = openContainerSizes(store)
  const claim = async (path: string, sizeBytes: number) => {
    const upload = await begun(files, workspaceId, sizeBytes, { folders: path.split('/').length })
    const claimed = await files.claimPath(upload, { containerId: 'sess_a', path, sizeBytes })
    if (!claimed.ok) must(await files.abandon(upload, false))
    return claimed
  }
  return {
    ...stand,
    claim,
    put: async (path, sizeBytes) =>
      void must(await sizes.release(must(await claim(path, sizeBytes)), sizeBytes)),
    async takeAway(path) {
      const due = must(await sizes.due({ ageMs: 0, after: null, countMax: 100 })).find(
        (row) => row.path === path,
      )
      if (due === undefined) throw new Error(`nothing is counted at ${path}`)
      t.equal(must(await sizes.recount(due, 'nothing')), true)
    },
    async used() {
      const { usedBytes, reservedBytes } = must(await files.usage(workspaceId))
      return [usedBytes, reservedBytes]
    },
  }
}

t.test(
  'a container file of 1 byte in ten nested new folders counts 44 KiB, and 4 KiB in existing folders',
  async (t) => {
    const { put, used } = await standOf(t)
    await put(TEN_DEEP, 1)
    t.same(await used(), [OWN_FOLDER + 44 * 1_024, 0])
    await put('a/b/c/d/e/f/g/h/i/j/other', 1)
    t.same(await used(), [OWN_FOLDER + 48 * 1_024, 0])
    await put('a/b/c/d/new/file', 5_000)
    t.same(await used(), [OWN_FOLDER + 52 * 1_024 + 5_000, 0])
  },
)

t.test('refuses a container file one byte above the quota, and leaves nothing of it', async (t) => {
  const fitting = OWN_FOLDER + 44 * 1_024
  const { claim, used, store } = await standOf(t, { quotaBytes: fitting - 1 })
  t.match(await claim(TEN_DEEP, 1), { failure: { name: 'quota_exceeded', metadata: { limit: fitting - 1 } } })
  t.match(await claim(TEN_DEEP, 0), { failure: { name: 'quota_exceeded' } }, 'an empty one counts as much')
  t.same(await used(), [0, 0])
  t.same(await store.sql`SELECT path FROM container_files`, [])
  const other = await standOf(t, { quotaBytes: fitting })
  await other.put(TEN_DEEP, 1)
  t.same(await other.used(), [fitting, 0])
})

t.test('the bytes of folders are freed with the last file below them, whichever file that is', async (t) => {
  const { put, takeAway, used } = await standOf(t)
  for (const path of ['a/b/one', 'a/b/two', 'a/three', 'a-b', 'a0']) await put(path, 1)
  t.same(await used(), [8 * COUNTED_BYTES_MIN, 0], 'five files, a, a/b and the container')
  await takeAway('a/b/one')
  t.same(await used(), [7 * COUNTED_BYTES_MIN, 0])
  await takeAway('a/b/two')
  t.same(await used(), [5 * COUNTED_BYTES_MIN, 0], 'with a/b')
  await takeAway('a/three')
  t.same(await used(), [3 * COUNTED_BYTES_MIN, 0], 'with a, though names beside it begin as it does')
  await takeAway('a-b')
  await takeAway('a0')
  t.same(await used(), [0, 0])
})

t.test('a new folder is counted once when several writes race into it', async (t) => {
  const { put, takeAway, used } = await standOf(t)
  const paths = Array.from({ length: 12 }, (_, nth) => `new/deep/${nth}`)
  await Promise.all(paths.map((path) => put(path, 1)))
  t.same(await used(), [15 * COUNTED_BYTES_MIN, 0])
  await Promise.all([...paths.map(takeAway), put('new/last', 1)])
  t.same(await used(), [3 * COUNTED_BYTES_MIN, 0])
})

t.test('a stored file counts at least 4 KiB, and its deletion frees the bytes that it counted', async (t) => {
  const { files, workspaceId, used } = await standOf(t, { quotaBytes: 3 * COUNTED_BYTES_MIN - 1 })
  const id = await storedFile(files, workspaceId, { sizeBytes: 1 })
  await storedFile(files, workspaceId, { sizeBytes: COUNTED_BYTES_MIN })
  t.same(await used(), [2 * COUNTED_BYTES_MIN, 0])
  t.match(await files.begin({ workspaceId, reserveBytes: 1, idempotency: null }), {
    failure: { name: 'quota_exceeded' },
  })
  const upload = await begun(files, workspaceId, 0)
  t.match(await files.extend(upload, 1), { failure: { name: 'quota_exceeded' } })
  t.match(await files.commit(upload, { ...FACTS, sizeBytes: 1 }), { failure: { name: 'quota_exceeded' } })
  must(await files.remove(workspaceId, id))
  t.same(await used(), [COUNTED_BYTES_MIN, 0])
})

t.test(
  'the upgrade counts files of an older version, and an older node that removes them frees all counted bytes',
  async (t) => {
    const { url } = await openTestDatabase(t, 'empty')
    const store = openStore({ url, poolMax: 2, applicationName: 'test' })
    t.teardown(() => store.close())
    const { sql } = store
    const before = MIGRATIONS.findIndex(({ name }) => name === 'counted_bytes')
    await migrate(url, keptLog(), { migrations: MIGRATIONS.slice(0, before) })
    const { workspaceId: id } = await insertOldOwnerOnce(sql)
    // As nodes of that version write them.
    await sql`INSERT INTO workspace_storage (workspace_id, used_bytes) VALUES (${id}, 5123)`
    await sql`
    INSERT INTO files (id, workspace_id, state, lease_until, filename, mime_type, size_bytes, sha256, data_key_id, is_downloadable, ready_at)
    VALUES ('file_old', ${id}, 'ready', now(), 'a', 'text/plain', 100, ${FACTS.sha256}, ${FACTS.dataKeyId}, false, now())`
    for (const [path, bytes] of [
      ['a/b/small', 23],
      ['a/large', 5_000],
    ] as const) {
      await sql`INSERT INTO container_files (workspace_id, container_id, path, size_bytes, claim_id) VALUES (${id}, 'c', ${path}, 0, gen_random_uuid())`
      await sql`UPDATE container_files SET size_bytes = ${bytes} WHERE path = ${path}`
    }
    await migrate(url, keptLog())
    const files = openFiles({ store, now: () => performance.now(), random: Math.random })
    t.teardown(() => files.close())
    t.match(must(await files.usage(id)), { usedBytes: 5 * COUNTED_BYTES_MIN + 5_000 })
    t.match(await sql`SELECT container_bytes FROM workspace_storage`, [
      { container_bytes: String(4 * COUNTED_BYTES_MIN + 5_000) },
    ])
    await sql`UPDATE files SET state = 'deleted' WHERE id = 'file_old'`
    await sql`DELETE FROM container_files`
    await sql`UPDATE workspace_storage SET used_bytes = used_bytes - 5123`
    t.match(await sql`SELECT used_bytes, container_bytes FROM workspace_storage`, [
      { used_bytes: '0', container_bytes: '0' },
    ])
  },
)
