/** The official client, changed in its base URL and key only. */
import { createHash } from 'node:crypto'
import OpenAI, { toFile } from 'openai'
import t, { type Test } from 'tap'
import {
  FILE_EXPIRES_S_MAX,
  FILE_EXPIRES_S_MIN,
  FILES_PAGE_DEFAULT,
} from '../../../../src/schemas/files/file-limits.ts'
import { storedFile } from '../../../support/files/files.ts'
import {
  openFilesFront,
  type FilesFront,
  type FilesFrontOptions,
} from '../../../support/files/files-front.ts'
import { KEY } from '../../../support/front.ts'
import { text } from '../../../support/files/sessions.ts'
import { openS3 } from '../../../support/files/storage.ts'

t.setTimeout(600_000)

type Connected = FilesFront & { readonly client: OpenAI }

async function connected(t: Test, options: FilesFrontOptions = {}): Promise<Connected> {
  const front = await openFilesFront(t, options)
  return { ...front, client: new OpenAI({ baseURL: front.url, apiKey: KEY, maxRetries: 0 }) }
}

async function failureOf(call: Promise<unknown>): Promise<InstanceType<typeof OpenAI.APIError>> {
  const error = await call.then(
    () => null,
    (reason: unknown) => reason,
  )
  if (error instanceof OpenAI.APIError) return error
  throw new Error('no API error', { cause: error })
}

/** A file that the client reads as a stream, so that it cannot know its length. */
async function* pieces(content: Buffer): AsyncGenerator<Buffer> {
  for (let at = 0; at < content.length; at += 100_000) yield content.subarray(at, at + 100_000)
}

for (const driver of ['disk', 'S3'] as const) {
  const optionsOf = async (t: Test): Promise<FilesFrontOptions> =>
    driver === 'S3' ? { storage: (await openS3(t)).storage } : {}

  t.test(`${driver}: a file is created, read, listed and deleted`, async (t) => {
    const { client, census } = await connected(t, await optionsOf(t))
    const made = await client.files.create({
      file: await toFile(Buffer.from('one,two\n1,2\n'), 'täble.csv'),
      purpose: 'assistants',
    })
    t.match(made, {
      object: 'file',
      bytes: 12,
      filename: 'täble.csv',
      purpose: 'assistants',
      status: 'processed',
      created_at: Number,
    })
    t.same(await client.files.retrieve(made.id), made)
    t.same((await client.files.list()).data, [made])
    t.match(await client.files.delete(made.id), { id: made.id, object: 'file', deleted: true })
    t.same((await client.files.list()).data, [])
    t.match(await census(), { ready: 0, objects: 0, usedBytes: 0, reservedBytes: 0 })
  })

  t.test(`${driver}: a stream of 20 MB arrives whole`, async (t) => {
    const front = await connected(t, await optionsOf(t))
    const content = text(20_000_000)
    const file = await toFile(pieces(content), 'long.txt')
    const made = await front.client.files.create({ file, purpose: 'user_data' })
    t.equal(made.bytes, content.length)
    const [row] = await front.store.sql<{ sha256: string }[]>`SELECT sha256 FROM files WHERE id = ${made.id}`
    t.equal(row?.sha256, createHash('sha256').update(content).digest('hex'))
  })

  t.test(`${driver}: container files are listed, read and fetched`, async (t) => {
    const front = await connected(t, await optionsOf(t))
    const { client } = front
    const paths = ['a.txt', 'out/b.bin', 'out/ü c.txt']
    for (const path of paths) await front.write(path, `content of ${path}`)
    const listed = []
    for await (const file of client.containers.files.list('sess_abc', { limit: 2 })) listed.push(file)
    t.same(
      listed.map(({ path }) => path),
      paths,
    )
    for (const file of listed) {
      t.same(await client.containers.files.retrieve(file.id, { container_id: 'sess_abc' }), file)
      const answer = await client.containers.files.content.retrieve(file.id, { container_id: 'sess_abc' })
      t.equal(await answer.text(), `content of ${file.path}`)
      t.equal(file.bytes, Buffer.byteLength(`content of ${file.path}`))
    }
  })
}

t.test('the client pages through the whole list', async (t) => {
  const { client, files, workspaceId } = await connected(t)
  const ids: string[] = []
  for (let nth = 0; nth < 7; nth++) ids.push(await storedFile(files, workspaceId))
  const seen: string[] = []
  for await (const { id } of client.files.list({ limit: 3 })) seen.push(id)
  t.same(seen, ids)
})

t.test('files.list 200: without `limit` a page has FILES_PAGE_DEFAULT files', async (t) => {
  const { client, files, workspaceId, call } = await connected(t)
  for (let nth = 0; nth <= FILES_PAGE_DEFAULT; nth++) await storedFile(files, workspaceId)
  t.equal((await client.files.list()).data.length, FILES_PAGE_DEFAULT)
  t.match(await (await call('/files')).json(), { has_more: true })
})

t.test('a promoted file can be downloaded, and the download of an uploaded file is refused', async (t) => {
  const front = await connected(t)
  const path = await front.write('report.txt', 'a report')
  const promoted = (await (await front.call(`${path}/promote`, { method: 'POST' })).json()) as { id: string }
  t.equal(await (await front.client.files.content(promoted.id)).text(), 'a report')
  const made = await front.client.files.create({
    file: await toFile(Buffer.from('text'), 'a.txt'),
    purpose: 'user_data',
  })
  t.match(await failureOf(front.client.files.content(made.id)), { status: 400, code: 400 })
})

t.test('failures reach the client with status, code, message and request id', async (t) => {
  const { client } = await connected(t, { files: { quotaBytes: 5_000 } })
  const failures: readonly (readonly [number, () => Promise<unknown>])[] = [
    [404, () => client.files.retrieve('file_unknown')],
    [404, () => client.files.delete('file_019a5b0c4e21b1c2d3e4f5a6b7c8d9e0')],
    [404, () => client.containers.files.retrieve('cfile_YQ', { container_id: 'sess_abc' })],
    [400, () => client.containers.files.list('a.b')],
    [400, () => client.files.list({ order: 'desc' })],
    [
      400,
      async () =>
        client.files.create({ file: await toFile(Buffer.alloc(0), 'a.txt'), purpose: 'assistants' }),
    ],
    [
      403,
      async () => client.files.create({ file: await toFile(text(10_000), 'a.txt'), purpose: 'assistants' }),
    ],
  ]
  for (const [status, call] of failures)
    t.match(await failureOf(call()), { status, code: status, message: /./, requestID: /./ })
})

t.test('an upload with `expires_after` returns its expiry; values out of range are refused', async (t) => {
  const { client } = await connected(t)
  const make = async (seconds: number) =>
    client.files.create({
      file: await toFile(Buffer.from('one,two\n1,2\n'), 'a.csv'),
      purpose: 'assistants',
      expires_after: { anchor: 'created_at', seconds },
    })
  for (const seconds of [FILE_EXPIRES_S_MIN, FILE_EXPIRES_S_MAX]) {
    const made = await make(seconds)
    t.equal((made.expires_at ?? 0) - made.created_at, seconds)
    t.same(await client.files.retrieve(made.id), made)
  }
  for (const seconds of [FILE_EXPIRES_S_MIN - 1, FILE_EXPIRES_S_MAX + 1, 3_600.5])
    t.equal((await failureOf(make(seconds))).status, 400, String(seconds))
})
