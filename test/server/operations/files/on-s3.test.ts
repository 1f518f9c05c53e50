import t, { type Test } from 'tap'
import { Secret } from '../../../../src/schemas/vault/secret.ts'
import { openFilesFront, type FilesFront } from '../../../support/files/files-front.ts'
import { AUTHORIZATION, type TestFront } from '../../../support/front.ts'
import type { FakeS3, S3Call } from '../../../support/files/s3.ts'
import { must } from '../../../support/must.ts'
import { text } from '../../../support/files/sessions.ts'
import { openS3 } from '../../../support/files/storage.ts'

t.setTimeout(600_000)

const WRONG_SECRET = 'wrong-canary-secret-access-key'

async function frontOn(
  t: Test,
  more: Parameters<typeof openS3>[1] = {},
): Promise<FilesFront & { readonly s3: FakeS3 }> {
  const { storage, s3 } = await openS3(t, more)
  return { ...(await openFilesFront(t, { storage })), s3 }
}

function upload({ call }: FilesFront, content: Buffer): Promise<Response> {
  const form = new FormData()
  form.append('file', new Blob([content]), 'a.txt')
  return call('/files', { method: 'POST', body: form })
}

async function promoted(
  front: FilesFront,
  content: Buffer,
): Promise<{ readonly path: string; readonly id: string }> {
  const path = await front.write('out/report.txt', content)
  const answer = await front.call(`${path}/promote`, { method: 'POST' })
  return { path, id: ((await answer.json()) as { id: string }).id }
}

t.test('files.upload 200: a file is sealed in the bucket, listed, read and deleted', async (t) => {
  const front = await frontOn(t)
  const content = text(700_000)
  const made = (await (await upload(front, content)).json()) as { id: string }
  t.match(made, { filename: 'a.txt', size_bytes: content.length, downloadable: false })
  const object = front.s3.objects.get(`node/objects/${made.id}`)
  t.ok(
    object !== undefined &&
      object.body.length > content.length &&
      !object.body.includes(content.subarray(0, 40)),
  )
  t.match(await (await front.call('/files')).json(), { data: [{ id: made.id }], has_more: false })
  t.match(await (await front.call(`/files/${made.id}`)).json(), made)
  t.equal((await front.call(`/files/${made.id}/content`)).status, 400)
  t.equal((await front.call(`/files/${made.id}`, { method: 'DELETE' })).status, 200)
  t.equal(front.s3.objects.size, 0)
})

t.test('containers.promote 200: the copy in the bucket can be read whole and by range', async (t) => {
  const front = await frontOn(t)
  const content = text(600_000)
  const { id } = await promoted(front, content)
  t.ok(content.equals(Buffer.from(await (await front.call(`/files/${id}/content`)).arrayBuffer())))
  for (const [range, from, to] of [
    ['bytes=0-0', 0, 1],
    ['bytes=65530-65540', 65_530, 65_541],
    ['bytes=-7', 599_993, 600_000],
  ] as const) {
    const part = await front.call(`/files/${id}/content`, { headers: { range } })
    t.equal(part.status, 206)
    t.ok(content.subarray(from, to).equals(Buffer.from(await part.arrayBuffer())), range)
  }
  t.equal((await front.call(`/files/${id}/content`, { headers: { range: 'bytes=600000-' } })).status, 416)
})

t.test('containers.write_file 200: a written file can be listed, and read whole and by range', async (t) => {
  const front = await frontOn(t)
  const content = text(300_000)
  const written = await front.call('/containers/sess_abc/files/out/a%20b.txt', {
    method: 'PUT',
    body: content,
  })
  const file = (await written.json()) as { id: string }
  t.match(file, { path: 'out/a b.txt', bytes: content.length, container_id: 'sess_abc' })
  t.match(await (await front.call('/containers/sess_abc/files')).json(), { data: [file], has_more: false })
  const path = `/containers/sess_abc/files/${file.id}/content`
  t.ok(content.equals(Buffer.from(await (await front.call(path)).arrayBuffer())))
  const part = await front.call(path, { headers: { range: 'bytes=1000-1999' } })
  t.ok(content.subarray(1_000, 2_000).equals(Buffer.from(await part.arrayBuffer())))
  await front.call('/containers/sess_abc/files/out/a%20b.txt', { method: 'PUT', body: Buffer.from('new') })
  t.equal(await (await front.call(path)).text(), 'new')
})

t.test('files.upload 503: the bucket refuses a wrong secret, and no response shows it', async (t) => {
  const front = await frontOn(t, { secretAccessKey: new Secret(WRONG_SECRET) })
  const file = await row(front)
  const answers = [
    await upload(front, text(1_000)),
    await front.call('/containers/sess_abc/files'),
    await front.call('/containers/sess_abc/files/cfile_YQ'),
    await front.call('/containers/sess_abc/files/cfile_YQ/content'),
    await front.call('/containers/sess_abc/files/cfile_YQ/promote', { method: 'POST' }),
    await front.call('/containers/sess_abc/files/a', { method: 'PUT', body: 'a' }),
    await front.call(`/files/${file.id}/content`),
  ]
  for (const answer of answers) {
    const body = await answer.text()
    t.equal(answer.status, 503, answer.url)
    t.match(body, /storage_unavailable/)
    t.ok(answer.headers.get('retry-after'))
    t.notMatch(body, /canary|TESTACCESSKEY|SignatureDoesNotMatch|127\.0\.0\.1/)
  }
  t.notMatch(reportedBy(front.front), /canary/)
  t.equal(front.s3.objects.size, 0)
  t.equal(must(await front.files.usage(front.workspaceId)).reservedBytes, 0)
  await front.store.sql`DELETE FROM files WHERE id = ${file.id}`
})

/** A file that may be downloaded, as far as the store knows. */
async function row({ store, workspaceId }: FilesFront): Promise<{ readonly id: string }> {
  const id = 'file_019a5b0c4e21b1c2d3e4f5a6b7c8d9e0'
  await store.sql`
    INSERT INTO files (id, workspace_id, state, lease_until, reserved_bytes, filename, mime_type, size_bytes, sha256, data_key_id, is_downloadable, ready_at)
    VALUES (${id}, ${workspaceId}, 'ready', now(), 0, 'a', 'text/plain', 1, ${'a'.repeat(64)}, ${workspaceId}, true, now())`
  return { id }
}

function reportedBy(front: TestFront): string {
  return [...front.lines, ...front.settled.map((call) => JSON.stringify(call))].join('\n')
}

const calls: readonly (readonly [S3Call, (front: FilesFront) => Promise<Response>])[] = [
  ['put', (front) => upload(front, text(1_000))],
  ['put', (front) => front.call('/containers/sess_abc/files/b', { method: 'PUT', body: 'b' })],
  ['list', (front) => front.call('/containers/sess_abc/files')],
  ['head', (front) => front.call('/containers/sess_abc/files/cfile_YQ')],
]
for (const [call, ask] of calls) {
  t.test(
    `a bucket that fails at ${call} briefly is retried, and one that keeps failing is a 503 that leaves no object`,
    async (t) => {
      const front = await frontOn(t)
      await front.write('a', 'a')
      const warned = t.capture(console, 'warn')
      front.s3.failNext(call, 'error', 'reset')
      t.equal((await ask(front)).status, 200)
      const before = front.s3.objects.size
      front.s3.failNext(call, 'error', 'error', 'error', 'error')
      t.equal((await ask(front)).status, 503)
      t.equal(front.s3.objects.size, before)
      t.match(await front.census(), { pending: 0, reservedBytes: 0 })
      t.equal((await ask(front)).status, 200, 'and the next one works')
      t.same(warned(), [], 'and the client library prints nothing of its own')
    },
  )
}

t.test('an object missing from the bucket is a 500, and a different one counts as damage', async (t) => {
  const front = await frontOn(t)
  const { id } = await promoted(front, text(200_000))
  const key = `node/objects/${id}`
  const body = Buffer.from(front.s3.objects.get(key)?.body ?? [])
  body[100] = (body[100] ?? 0) ^ 1
  front.s3.put(key, body)
  const damaged = await fetch(`${front.url}/files/${id}/content`, {
    headers: { authorization: AUTHORIZATION },
  }).then(
    async (answer) => (await answer.arrayBuffer(), answer.status),
    () => 'cut',
  )
  t.ok(damaged === 500 || damaged === 'cut', String(damaged))
  front.s3.objects.delete(key)
  const missing = await front.call(`/files/${id}/content`)
  t.equal(missing.status, 500)
  t.match(await missing.json(), { error: { metadata: { error_type: 'content_missing' } } })
})
