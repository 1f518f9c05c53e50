import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { FILES_PAGE_DEFAULT, FILES_PAGE_MAX } from '../../../../src/schemas/files/file-limits.ts'
import { storedFile } from '../../../support/files/files.ts'
import { openFilesFront } from '../../../support/files/files-front.ts'
import { openDisk } from '../../../support/files/storage.ts'

interface Page {
  readonly data: readonly unknown[]
  readonly has_more: boolean
}

const BOUNDS = [
  ['', FILES_PAGE_DEFAULT],
  [`?limit=${FILES_PAGE_MAX}`, FILES_PAGE_MAX],
  ['?limit=1', 1],
] as const

t.test('files.list 200, 400: FILES_PAGE_DEFAULT files by default, at most FILES_PAGE_MAX', async (t) => {
  const { call, store, files, workspaceId } = await openFilesFront(t)
  const id = await storedFile(files, workspaceId)
  await store.sql`
    INSERT INTO files (id, workspace_id, state, attempt, lease_until, reserved_bytes, filename, mime_type, size_bytes,
      sha256, data_key_id, is_downloadable, ready_at)
    SELECT 'file_' || lpad(to_hex(n), 32, '0'), workspace_id, state, attempt, lease_until, reserved_bytes, filename, mime_type, size_bytes, sha256,
      data_key_id, is_downloadable, ready_at FROM files, generate_series(1, ${FILES_PAGE_MAX}::int) n WHERE id = ${id}`
  for (const [query, count] of BOUNDS) {
    const page = (await (await call(`/files${query}`)).json()) as Page
    t.same([page.data.length, page.has_more], [count, true])
  }
  t.equal((await call(`/files?limit=${FILES_PAGE_MAX + 1}`)).status, 400)
})

t.test(
  'containers.list_files 200, 400: a page has FILES_PAGE_DEFAULT files without `limit`, and FILES_PAGE_MAX at most',
  async (t) => {
    const { storage, folder } = await openDisk(t)
    const { call, workspaceId } = await openFilesFront(t, { storage })
    const place = join(folder, 'containers', workspaceId, 'sess_abc')
    await mkdir(place, { recursive: true })
    for (let nth = 0; nth <= FILES_PAGE_MAX; nth++) await writeFile(join(place, String(nth)), '')
    for (const [query, count] of BOUNDS) {
      const page = (await (await call(`/containers/sess_abc/files${query}`)).json()) as Page
      t.same([page.data.length, page.has_more], [count, true])
    }
    t.equal((await call(`/containers/sess_abc/files?limit=${FILES_PAGE_MAX + 1}`)).status, 400)
  },
)
