import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { fail } from '../../../../src/schemas/failures.ts'
import { openFilesFront } from '../../../support/files/files-front.ts'
import { openDisk, staged } from '../../../support/files/storage.ts'
import { failing } from '../../../support/files/transfers.ts'
import { until } from '../../../support/wait.ts'

interface Listed {
  readonly data: readonly { readonly id: string; readonly path: string }[]
  readonly has_more: boolean
  readonly last_id: string | null
}

const idOf = (path: string): string => `cfile_${Buffer.from(path).toString('base64url')}`

t.test('containers.list_files 200: in the order of their paths, page by page', async (t) => {
  const front = await openFilesFront(t)
  const paths = ['a.txt', 'b/1', 'b/2', 'c', 'é']
  for (const path of paths) await front.write(path, path)
  const seen: string[] = []
  for (let after = ''; ;) {
    const page = (await (await front.call(`/containers/sess_abc/files?limit=2${after}`)).json()) as Listed
    seen.push(...page.data.map(({ path }) => path))
    if (!page.has_more) break
    after = `&after=${page.last_id ?? ''}`
  }
  t.same(seen, paths)
})

t.test('containers.list_files 200: a container without files is empty', async (t) => {
  const front = await openFilesFront(t)
  t.same(await (await front.call('/containers/gen_none/files')).json(), {
    object: 'list',
    data: [],
    first_id: null,
    last_id: null,
    has_more: false,
  })
  t.same(await front.store.sql`SELECT * FROM container_uses`, [], 'and leaves no row')
})

t.test('containers.list_files 400: an invalid container id, cursor or limit', async (t) => {
  const front = await openFilesFront(t)
  for (const path of [
    `/containers/${'a'.repeat(41)}/files`,
    '/containers/a.b/files',
    '/containers/sess_a/files?after=x',
    '/containers/sess_a/files?limit=0',
  ]) {
    t.equal((await front.call(path)).status, 400, path)
  }
  t.equal((await front.call(`/containers/sess_${'a'.repeat(64)}/files`)).status, 200)
})

t.test('containers.list_files 503: storage is unavailable', async (t) => {
  const { storage } = await openDisk(t)
  const containers = failing(storage.containers, 'list', { name: 'storage_unavailable' })
  const front = await openFilesFront(t, { storage: { ...storage, containers } })
  t.equal((await front.call('/containers/sess_abc/files')).status, 503)
})

t.test(
  'containers.list_files 400 and 503: a container too large to list, and too many listings; a disconnect aborts its listing',
  async (t) => {
    const signals: unknown[] = []
    let name: 'container_too_large' | 'busy' = 'container_too_large'
    const front = await openFilesFront(t, {
      ports: (ports) => ({
        ...ports,
        containers: {
          ...ports.containers,
          list: (_container, _after, _countMax, signal) => {
            signals.push(signal)
            return Promise.resolve(fail(name))
          },
        },
      }),
    })
    t.match(await (await front.call('/containers/sess_abc/files')).json(), {
      error: { code: 400, metadata: { error_type: name } },
    })
    name = 'busy'
    t.match(await (await front.call('/containers/sess_abc/files')).json(), {
      error: { code: 503, metadata: { error_type: name } },
    })
    t.ok(signals.every((signal) => signal instanceof AbortSignal))
  },
)

t.test(
  "containers.get_file 200: the members that OpenAI's clients expect; the read keeps the container alive",
  async (t) => {
    const front = await openFilesFront(t)
    const path = await front.write('out/report.csv', 'a,b\n')
    t.match(await (await front.call(path)).json(), {
      id: 'cfile_b3V0L3JlcG9ydC5jc3Y',
      object: 'container.file',
      container_id: 'sess_abc',
      bytes: 4,
      created_at: Number,
      path: 'out/report.csv',
      source: 'assistant',
    })
    let rows: readonly unknown[] = []
    // Recorded after the answer, which does not wait for it.
    await until('the use is noted', async () => {
      rows = await front.store.sql`SELECT container_id FROM container_uses`
      return rows.length > 0
    })
    t.match(rows, [{ container_id: 'sess_abc' }])
  },
)

t.test('containers.get_file 400, 404: an invalid container id; ids without a readable file', async (t) => {
  const front = await openFilesFront(t)
  await front.write('a', 'a')
  t.equal((await front.call('/containers/a.b/files/cfile_YQ')).status, 400)
  const ids = [
    idOf('b'),
    idOf('../a'),
    idOf('/etc/passwd'),
    idOf('a/../a'),
    idOf('a\0'),
    idOf('./a'),
    idOf('a/'),
    'cfile_',
    'cfile_YQ==',
    'YQ',
    'cfile_!!',
  ]
  const texts = []
  for (const id of ids) {
    const answer = await front.call(`/containers/sess_abc/files/${encodeURIComponent(id)}`, {
      headers: { 'x-request-id': 'r' },
    })
    t.equal(answer.status, 404, id)
    texts.push(await answer.text())
  }
  t.equal(new Set(texts).size, 1)
})

t.test('containers.get_file 503: storage is unavailable', async (t) => {
  const { storage } = await openDisk(t)
  const containers = failing(storage.containers, 'stat', { name: 'storage_unavailable' })
  const front = await openFilesFront(t, { storage: { ...storage, containers } })
  t.equal((await front.call('/containers/sess_abc/files/cfile_YQ')).status, 503)
})

t.test('containers.file_content 200: the bytes, whatever they are, also by range', async (t) => {
  const front = await openFilesFront(t)
  const path = `${await front.write('out/a.html', '<p>hello</p>')}/content`
  const whole = await front.call(path)
  t.equal(whole.headers.get('content-type'), 'application/octet-stream')
  t.equal(await whole.text(), '<p>hello</p>')
  const part = await front.call(path, { headers: { range: 'bytes=3-7' } })
  t.equal(part.status, 206)
  t.equal(await part.text(), 'hello')
})

t.test('containers.file_content 200: an empty file', async (t) => {
  const front = await openFilesFront(t)
  const answer = await front.call(`${await front.write('empty', '')}/content`)
  t.equal(answer.status, 200)
  t.equal(answer.headers.get('content-length'), '0')
})

t.test('a container file that changed gets a new version', async (t) => {
  const front = await openFilesFront(t)
  const path = `${await front.write('a', 'one')}/content`
  const etag = (await front.call(path)).headers.get('etag') ?? ''
  await front.write('a', 'two')
  const headers = { range: 'bytes=0-1', 'if-range': etag, 'if-none-match': etag }
  const answer = await front.call(path, { headers })
  t.equal(answer.status, 200)
  t.equal(await answer.text(), 'two')
})

t.test(
  'containers.file_content 400, 404: invalid ids and paths, missing files, folders, and links to files outside',
  async (t) => {
    const { storage, folder } = await openDisk(t)
    const front = await openFilesFront(t, { storage })
    await front.write('sub/a', 'a')
    const place = join(folder, 'containers', front.workspaceId, 'sess_abc')
    await writeFile(join(folder, 'secret'), 'secret')
    await symlink(join(folder, 'secret'), join(place, 'link'))
    await symlink(folder, join(place, 'out'))
    await mkdir(join(place, 'empty'))
    t.equal((await front.call('/containers/a.b/files/cfile_YQ/content')).status, 400)
    for (const path of [
      'link',
      'out/secret',
      'empty',
      'sub',
      '../secret',
      '/etc/hostname',
      'sub/../sub/a',
      'none',
    ]) {
      const answer = await front.call(`/containers/sess_abc/files/${idOf(path)}/content`)
      t.equal(answer.status, 404, path)
      t.notMatch(await answer.text(), 'secret\n')
    }
  },
)

t.test('a container of the same id in another workspace is a different container', async (t) => {
  const front = await openFilesFront(t)
  const { storage, otherWorkspaceId } = front
  await storage.containers.publish(
    { workspaceId: otherWorkspaceId, containerId: 'sess_abc' },
    'a',
    await staged(storage, Buffer.from('other')),
  )
  t.equal((await front.call('/containers/sess_abc/files/cfile_YQ/content')).status, 404)
})

t.test('containers.file_content 503: storage is unavailable', async (t) => {
  const { storage } = await openDisk(t)
  const containers = failing(storage.containers, 'open', { name: 'storage_unavailable' })
  const front = await openFilesFront(t, { storage: { ...storage, containers } })
  t.equal((await front.call('/containers/sess_abc/files/cfile_YQ/content')).status, 503)
})
