import t, { type Test } from 'tap'
import { storedFile } from '../../../support/files/files.ts'
import { openFilesFront, type FilesFront } from '../../../support/files/files-front.ts'
import { INTERN_KEY, MANAGEMENT_KEY } from '../../../support/front.ts'
import { failing } from '../../../support/files/transfers.ts'
import { FILE_IDS_MAX } from '../../../../src/schemas/files/files.ts'

const ANTHROPIC = { 'anthropic-version': '2023-06-01', 'x-stainless-lang': 'js' }
const UNKNOWN = '/files/file_019a5b0c4e21b1c2d3e4f5a6b7c8d9e0'
const OPENAI = { 'user-agent': 'OpenAI/JS 7.55.0' }

async function frontWith(t: Test, count: number): Promise<FilesFront & { readonly ids: readonly string[] }> {
  const front = await openFilesFront(t)
  const ids: string[] = []
  for (let nth = 0; nth < count; nth++)
    ids.push(await storedFile(front.files, front.workspaceId, { filename: `${nth}.txt` }))
  return { ...front, ids }
}

async function page(front: FilesFront, query: string, headers: Record<string, string> = {}): Promise<Page> {
  return (await (await front.call(`/files${query}`, { headers })).json()) as Page
}
interface Page {
  readonly data: readonly { readonly id: string }[]
  readonly has_more: boolean
  readonly first_id: string | null
  readonly last_id: string | null
  readonly cursor?: string | null
  readonly _shape: string
}

t.test('files.list 200: an empty workspace has an empty page in each shape', async (t) => {
  const front = await frontWith(t, 0)
  const ends = { has_more: false, first_id: null, last_id: null }
  t.same(await page(front, ''), { _shape: 'openrouter', data: [], ...ends, cursor: null })
  t.same(await page(front, '', ANTHROPIC), { _shape: 'anthropic', data: [], ...ends, next_page: null })
  t.same(await page(front, '', OPENAI), { _shape: 'openai', object: 'list', data: [], ...ends })
})

t.test('an intern key can read the files of its workspace', async (t) => {
  const front = await frontWith(t, 1)
  const headers = { authorization: `Bearer ${INTERN_KEY}` }
  t.match(await page(front, '', headers), { data: [{ id: front.ids[0] }] })
  t.equal((await front.call(`/files/${front.ids[0] ?? ''}`, { method: 'DELETE', headers })).status, 200)
})

t.test('files.list 200: `cursor`, `after` and `after_id` page through all files, oldest first', async (t) => {
  const front = await frontWith(t, 5)
  const walks: readonly ((last: Page) => string)[] = [
    ({ cursor }) => `cursor=${cursor ?? ''}`,
    ({ last_id }) => `after=${last_id ?? ''}`,
    ({ last_id }) => `after_id=${last_id ?? ''}`,
  ]
  for (const next of walks) {
    const seen: string[] = []
    let now = await page(front, '?limit=2')
    for (;;) {
      seen.push(...now.data.map(({ id }) => id))
      t.same([now.first_id, now.last_id], [now.data[0]?.id, now.data.at(-1)?.id])
      if (!now.has_more) break
      now = await page(front, `?limit=2&${next(now)}`)
    }
    t.same(seen, front.ids)
    t.equal(now.cursor, null)
  }
})

t.test(
  'files.list 400: two cursors, a made-up cursor, and queries that own storage does not support',
  async (t) => {
    const front = await frontWith(t, 1)
    for (const query of [
      'cursor=a&after=b',
      'after=a&after_id=b',
      'cursor=bm8',
      'after=x',
      'after_id=file_%00',
      'before_id=a',
      'page=bm8',
      'page=a&cursor=b',
      'order=desc',
      'purpose=a%00',
      'limit=0',
      'limit=1001',
      'provider=google',
    ]) {
      const answer = await front.call(`/files?${query}`)
      t.equal(answer.status, 400, query)
      t.match(await answer.json(), { error: { metadata: { error_type: 'query_invalid', issues: [{}] } } })
    }
    t.equal((await front.call('/files?order=asc&limit=1000')).status, 200)
  },
)

t.test('files.list 400: names the parameter with an invalid id or cursor', async (t) => {
  const front = await frontWith(t, 0)
  for (const query of [
    'after=file_nope',
    'after_id=file_nope',
    'before_id=file_nope',
    'ids[]=file_nope',
    'cursor=bm8',
    'page=YWZ0ZXI6eA',
  ]) {
    const [name = ''] = query.split(/\[|=/)
    t.match(
      await (await front.call(`/files?${query}`)).json(),
      { error: { metadata: { issues: [{ path: new RegExp(`^/${name}(/0)?$`) }] } } },
      query,
    )
  }
})

t.test(
  'files.list 200: `ids` in either spelling selects files for one page, and ids of no file of the workspace are skipped',
  async (t) => {
    const front = await frontWith(t, 4)
    const [, second = '', third = '', fourth = ''] = front.ids
    const foreign = await storedFile(front.files, front.otherWorkspaceId)
    const answered = async (query: string) =>
      (await page(front, `?${query}`, ANTHROPIC)).data.map(({ id }) => id)
    t.same(
      await answered(
        `ids%5B%5D=${third}&ids[]=${second}&ids[]=${foreign}&ids[]=${UNKNOWN.slice('/files/'.length)}`,
      ),
      [second, third],
    )
    t.same(await answered(`ids=${fourth}`), [fourth])
    t.same(await answered(`ids=${fourth}&purpose=batch`), [])
    t.same(await answered(`ids=${foreign}`), [])
    t.match(await page(front, `?ids=${third}&ids=${second}`, ANTHROPIC), { has_more: false, next_page: null })
  },
)

t.test('files.list 400: too many ids, and ids with parameters that they exclude', async (t) => {
  const front = await frontWith(t, 1)
  const id = front.ids[0] ?? ''
  const many = (count: number) =>
    Array.from({ length: count }, (_, nth) => `ids[]=file_${String(nth).padStart(32, '0')}`).join('&')
  t.equal(
    (await front.call(`/files?${many(FILE_IDS_MAX)}&ids[]=file_${'0'.repeat(32)}`)).status,
    200,
    'one of them twice',
  )
  for (const query of [
    many(FILE_IDS_MAX + 1),
    'ids=',
    `ids=${id}&limit=5`,
    `ids=${id}&after=${id}`,
    `ids=${id}&page=a`,
  ]) {
    t.match(
      await (await front.call(`/files?${query}`)).json(),
      { error: { code: 400, metadata: { issues: [{ path: /^\/ids/ }] } } },
      query.slice(-60),
    )
  }
})

t.test('files.list 503: the store is unavailable', async (t) => {
  const front = await openFilesFront(t, {
    ports: (ports) => ({ ...ports, files: failing(ports.files, 'list', { name: 'store_unavailable' }) }),
  })
  const answer = await front.call('/files')
  t.equal(answer.status, 503)
  t.ok(answer.headers.get('retry-after'))
})

t.test('does not list files of another workspace, and refuses a request for that workspace', async (t) => {
  const front = await frontWith(t, 1)
  await storedFile(front.files, front.otherWorkspaceId)
  t.same(
    (await page(front, '')).data.map(({ id }) => id),
    front.ids,
  )
  t.same((await page(front, `?workspace_id=${front.workspaceId.toUpperCase()}`)).data.length, 1)
  const refused = await front.call(`/files?workspace_id=${front.otherWorkspaceId}`)
  t.equal(refused.status, 403)
  t.match(await refused.json(), { error: { metadata: { error_type: 'workspace_forbidden' } } })
})

t.test('files.get 200: a file in each shape', async (t) => {
  const front = await frontWith(t, 1)
  const path = `/files/${front.ids[0] ?? ''}`
  const read = async (headers: Record<string, string>) => (await front.call(path, { headers })).json()
  t.match(await read({}), {
    _shape: 'openrouter',
    id: front.ids[0],
    type: 'file',
    filename: '0.txt',
    mime_type: 'text/plain',
    size_bytes: 100,
    downloadable: false,
  })
  t.match(await read(ANTHROPIC), { _shape: 'anthropic', type: 'file', size_bytes: 100 })
  t.match(await read(OPENAI), {
    _shape: 'openai',
    object: 'file',
    bytes: 100,
    status: 'processed',
    created_at: Number,
  })
})

t.test('files.get 404: foreign and unknown ids get the same answer except for the request id', async (t) => {
  const front = await frontWith(t, 0)
  const foreign = await storedFile(front.files, front.otherWorkspaceId)
  const texts = []
  for (const id of [
    foreign,
    'file_019a5b0c4e21b1c2d3e4f5a6b7c8d9e0',
    'no-such-thing',
    '%00',
    '%F0%9F%92%A9',
  ]) {
    const answer = await front.call(`/files/${id}`, { headers: { 'x-request-id': 'r' } })
    t.equal(answer.status, 404, id)
    texts.push(await answer.text())
  }
  t.equal(new Set(texts).size, 1)
})

t.test('a management key is the wrong kind for every operation of files and containers', async (t) => {
  const front = await frontWith(t, 1)
  const calls: readonly (readonly [string, string])[] = [
    ['GET', '/files'],
    ['GET', `/files/${front.ids[0] ?? ''}`],
    ['GET', '/files/a/content'],
    ['DELETE', '/files/a'],
    ['POST', '/files'],
    ['GET', '/containers/sess_a/files'],
    ['GET', '/containers/sess_a/files/cfile_YQ'],
    ['GET', '/containers/sess_a/files/cfile_YQ/content'],
    ['POST', '/containers/sess_a/files/cfile_YQ/promote'],
    ['PUT', '/containers/sess_a/files/a'],
  ]
  for (const [method, path] of calls) {
    const answer = await front.call(path, { method, headers: { authorization: `Bearer ${MANAGEMENT_KEY}` } })
    t.equal(answer.status, 403, `${method} ${path}`)
    t.match(await answer.json(), {
      error: { message: /inference/, metadata: { error_type: 'wrong_key_kind' } },
    })
  }
})

t.test('files.get 503: the store is unavailable', async (t) => {
  const front = await openFilesFront(t, {
    ports: (ports) => ({ ...ports, files: failing(ports.files, 'get', { name: 'store_unavailable' }) }),
  })
  t.equal((await front.call(UNKNOWN)).status, 503)
})

t.test('files.delete 200: deletes the file and frees its quota, in each shape', async (t) => {
  const front = await frontWith(t, 3)
  const [first = '', second = '', third = ''] = front.ids
  const drop = async (id: string, headers: Record<string, string>) =>
    (await front.call(`/files/${id}`, { method: 'DELETE', headers })).json()
  t.same(await drop(first, {}), { _shape: 'openrouter', id: first, type: 'file_deleted' })
  t.same(await drop(second, ANTHROPIC), { _shape: 'anthropic', id: second, type: 'file_deleted' })
  t.same(await drop(third, OPENAI), { _shape: 'openai', id: third, object: 'file', deleted: true })
  t.match(await front.census(), { ready: 0, usedBytes: 0 })
  t.same((await page(front, '')).data, [])
})

t.test('files.delete 404: unknown, foreign and deleted files', async (t) => {
  const front = await frontWith(t, 1)
  const foreign = await storedFile(front.files, front.otherWorkspaceId)
  const [id = ''] = front.ids
  await front.call(`/files/${id}`, { method: 'DELETE' })
  for (const gone of [id, foreign, 'file_unknown']) {
    t.equal((await front.call(`/files/${gone}`, { method: 'DELETE' })).status, 404)
  }
  t.equal((await front.census()).ready, 1)
})

t.test('files.delete 503: the store is unavailable, and nothing is deleted', async (t) => {
  const front = await openFilesFront(t, {
    wrap: (parts) => ({ ...parts, files: failing(parts.files, 'remove', { name: 'store_unavailable' }) }),
  })
  const id = await storedFile(front.files, front.workspaceId)
  t.equal((await front.call(`/files/${id}`, { method: 'DELETE' })).status, 503)
  t.equal((await front.census()).ready, 1)
})

t.test('an id that cannot be decoded gets the answer for an unknown id', async (t) => {
  const front = await frontWith(t, 0)
  const reply = async (path: string): Promise<unknown> => {
    const answer = await front.call(path)
    const { error } = (await answer.json()) as { readonly error: { readonly message: string } }
    return [answer.status, error.message]
  }
  t.same(await reply('/files/%ff'), await reply(UNKNOWN))
  t.same(await reply('/files/%ff/content'), await reply(`${UNKNOWN}/content`))
  t.same(await reply('/containers/sess_abc/files/%ff'), await reply('/containers/sess_abc/files/cfile_YQ'))
  t.same(await reply('/containers/%ff/files/cfile_YQ'), await reply('/containers/a.b/files/cfile_YQ'))
})

t.test('files.list 200: filters by the exact purpose, on each page', async (t) => {
  const front = await openFilesFront(t)
  const of = async (purpose: string | null): Promise<string> =>
    storedFile(front.files, front.workspaceId, { purpose })
  const ids = [await of('batch'), await of(null), await of('batch'), await of('user_data')]
  const seen = async (query: string): Promise<readonly string[]> =>
    (await page(front, query)).data.map(({ id }) => id)
  t.same(await seen('?purpose=batch'), [ids[0], ids[2]])
  t.same(await seen(`?purpose=batch&after=${ids[0] ?? ''}`), [ids[2]])
  t.same(await seen('?purpose=user_data'), [ids[1], ids[3]])
  t.same(await seen('?purpose=bat'), [])
  t.match(await page(front, '?purpose=batch&limit=1'), { has_more: true })
})
