import t from 'tap'
import { FILE_BYTES_MAX, PATH_SEGMENTS_MAX } from '../../../../src/schemas/files/file-limits.ts'
import { openFilesFront, type FilesFront } from '../../../support/files/files-front.ts'
import { AUTHORIZATION } from '../../../support/front.ts'
import { rawClient } from '../../../support/wire/raw-http.ts'
import { failing } from '../../../support/files/transfers.ts'
import { answerOf, beginUpload, type Answer } from '../../../support/files/upload-echo.ts'

const FOLDER = '/containers/sess_abc/files/'

interface Reported {
  readonly error: {
    readonly metadata: { readonly issues: readonly { readonly path: string; readonly message: string }[] }
  }
}

/** Paths as they are: no client of ours tidies them. */
async function write(
  { front }: FilesFront,
  path: string,
  content = 'hello',
  folder = FOLDER,
): Promise<Answer> {
  const client = beginUpload(front.port, content.length, { method: 'PUT', path: folder + path })
  client.send(content)
  return answerOf(client)
}

t.test('containers.write_file 200: a written file is listed, read and replaced', async (t) => {
  const stand = await openFilesFront(t)
  const id = `cfile_${Buffer.from('out/a b/ü.csv').toString('base64url')}`
  for (const content of ['one', 'another']) {
    t.match(await write(stand, 'out/a%20b/%C3%BC.csv', content), {
      status: 200,
      body: {
        id,
        object: 'container.file',
        container_id: 'sess_abc',
        bytes: content.length,
        path: 'out/a b/ü.csv',
        source: 'assistant',
      },
    })
    t.equal(await (await stand.call(`${FOLDER}${id}/content`)).text(), content)
  }
  t.match(await (await stand.call('/containers/sess_abc/files')).json(), { data: [{ id }] })
})

t.test(
  'containers.write_file 200: a path may end like another operation, contain encoded slashes, or be one segment',
  async (t) => {
    const stand = await openFilesFront(t)
    for (const [path, kept] of [
      ['a/content', 'a/content'],
      ['b/promote', 'b/promote'],
      ['c%2Fd', 'c/d'],
      ['e', 'e'],
      ['f/g/h/i', 'f/g/h/i'],
    ]) {
      t.match(await write(stand, path ?? ''), { status: 200, body: { path: kept } })
    }
  },
)

t.test(
  'containers.write_file 400: paths that lead outside the container or are malformed, and invalid container ids',
  async (t) => {
    const stand = await openFilesFront(t)
    for (const path of [
      '..',
      '../a',
      'a/../b',
      'a/./b',
      '%2e%2e/a',
      '..%2fa',
      'a//b',
      '/a',
      '%2Fa',
      'a/',
      'a%00b',
      'x'.repeat(256),
    ]) {
      t.match(await write(stand, path), { status: 400, type: 'container_path_invalid' }, path)
    }
    const reported = async (path: string): Promise<unknown> =>
      ((await write(stand, path)).body as unknown as Reported).error.metadata.issues.map(
        ({ path: at, message }) => [at, message],
      )
    t.same(await reported('a//b%00'), [
      ['/file_id', 'has an empty, `.` or `..` segment'],
      ['/file_id', 'contains a NUL'],
    ])
    t.match(await write(stand, 'x'.repeat(256)), {
      message: /has a segment that is too long, expected at most 255 bytes each/,
    })
    t.match(await write(stand, `${'x'.repeat(200)}/`.repeat(4) + 'a'), {
      message: /is too long, expected at most 768 bytes/,
    })
    t.match(await write(stand, `a${'/a'.repeat(PATH_SEGMENTS_MAX)}`), {
      message: `has too many segments, expected at most ${PATH_SEGMENTS_MAX}`,
    })
    t.match(await write(stand, 'a%ff'), { status: 400, type: 'params_invalid' })
    t.match(await write(stand, 'a', 'x', '/containers/a.b/files/'), { status: 400, type: 'params_invalid' })
    t.match(await (await stand.call('/containers/sess_abc/files')).json(), { data: [] })
  },
)

t.test('containers.write_file 400: refuses a partial or conditional write, keeps the file', async (t) => {
  const stand = await openFilesFront(t)
  t.match(await write(stand, 'a', 'hello world'), { status: 200 })
  const headers = [
    ['content-range', 'bytes 5-10/11'],
    ['if-match', '"a"'],
    ['if-none-match', '*'],
    ['if-unmodified-since', 'Thu, 01 Jan 1970 00:00:00 GMT'],
  ] as const
  for (const [name, value] of headers) {
    const client = beginUpload(stand.front.port, 6, {
      method: 'PUT',
      path: `${FOLDER}a`,
      headers: { [name]: value },
    })
    client.send(' other')
    t.match(await answerOf(client), {
      status: 400,
      type: 'header_invalid',
      body: { error: { metadata: { issues: [{ path: `/${name}` }] } } },
    })
  }
  t.equal(await (await stand.call(`${FOLDER}cfile_YQ/content`)).text(), 'hello world')
})

t.test('containers.write_file 400: refuses a path of a folder or below a file, with a reason', async (t) => {
  const stand = await openFilesFront(t)
  await write(stand, 'out/a.csv')
  t.match(await write(stand, 'out'), {
    status: 400,
    type: 'container_path_invalid',
    message: /\/file_id is the path of a folder/,
  })
  t.match(await write(stand, 'out/a.csv/b'), {
    status: 400,
    type: 'container_path_invalid',
    message: /file or a link instead of a folder/,
  })
})

t.test(
  'containers.write_file 403: a workspace whose quota is used up, by uploads and container files together',
  async (t) => {
    const stand = await openFilesFront(t, { files: { quotaBytes: 10_000 } })
    t.match(await write(stand, 'a', 'x'.repeat(5_905)), {
      status: 403,
      type: 'quota_exceeded',
      body: { error: { metadata: { limit_source: 'workspace_storage', limit: 10_000 } } },
    })
    t.match(await write(stand, 'a', 'x'.repeat(5_904)), { status: 200 }, 'beside the folder of the container')
    t.match(await (await stand.call(`${FOLDER}cfile_YQ/promote`, { method: 'POST' })).json(), {
      error: { code: 403 },
    })
    t.match(await write(stand, 'b', 'x'), { status: 403, type: 'quota_exceeded' })
  },
)

t.test('containers.write_file 500: a write that stalled until the sweep ended it', async (t) => {
  const stand = await openFilesFront(t, {
    wrap: (parts) => ({ ...parts, files: failing(parts.files, 'claimPath', { name: 'upload_lost' }) }),
  })
  t.match(await write(stand, 'a'), { status: 500, type: 'upload_lost' })
  t.match(await (await stand.call('/containers/sess_abc/files')).json(), { data: [] })
})

t.test('containers.write_file 413: a file that is too large by its announced length alone', async (t) => {
  const { front } = await openFilesFront(t)
  const client = beginUpload(front.port, FILE_BYTES_MAX + 1, { method: 'PUT', path: `${FOLDER}a` })
  t.match(await answerOf(client), { status: 413, type: 'file_too_large' })
})

t.test('containers.write_file 503: storage is unavailable', async (t) => {
  const stand = await openFilesFront(t, {
    wrap: (parts) => ({
      ...parts,
      storage: {
        ...parts.storage,
        stage: async () => ({ ok: false, failure: { name: 'storage_unavailable' } }),
      },
    }),
  })
  t.match(await write(stand, 'a'), { status: 503, type: 'storage_unavailable' })
})

t.test('a refused method on a path of several segments gets a list of the allowed methods', async (t) => {
  const { front } = await openFilesFront(t)
  for (const [path, allowed] of [
    ['a/b/c', 'PUT'],
    ['a', 'GET, HEAD, PUT'],
    ['a/content', 'GET, HEAD, PUT'],
  ]) {
    const client = rawClient(front.port)
    client.send(
      `PATCH /api/v1${FOLDER}${path} HTTP/1.1\r\nhost: a\r\nauthorization: ${AUTHORIZATION}\r\ncontent-length: 0\r\n\r\n`,
    )
    t.match(await client.until(/405[^]*\r\n\r\n/), new RegExp(`allow: ${allowed}\r`, 'i'))
    client.destroy()
  }
})
