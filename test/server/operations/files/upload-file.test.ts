import OpenAI, { toFile } from 'openai'
import t from 'tap'
import { fail, ok } from '../../../../src/schemas/failures.ts'
import {
  FILE_BYTES_MAX,
  FORM_EXTRA_BYTES_MAX,
  PURPOSE_CHARS_MAX,
} from '../../../../src/schemas/files/file-limits.ts'
import { IDEMPOTENCY_KEY_CHARS_MAX } from '../../../../src/schemas/limits/idempotency-limits.ts'
import type { FileHost } from '../../../../src/server/ports/files/file-hosts.ts'
import { openFilesFront, type FilesFront } from '../../../support/files/files-front.ts'
import { KEY } from '../../../support/front.ts'
import { rawClient } from '../../../support/wire/raw-http.ts'
import { text } from '../../../support/files/sessions.ts'
import {
  answerOf,
  beginUpload,
  fieldPart,
  filePart,
  form,
  sendForm,
  type SendOptions,
} from '../../../support/files/upload-echo.ts'
import { until } from '../../../support/wait.ts'

function upload(
  { front }: FilesFront,
  content: string | Buffer = 'hello\n',
  more: SendOptions & { readonly purpose?: string } = {},
) {
  const parts = [
    ...(more.purpose === undefined ? [] : [fieldPart('purpose', more.purpose)]),
    filePart(content, 'notes/a.txt'),
  ]
  return sendForm(front.port, form(parts), { path: '/files', ...more })
}

t.test('files.upload 200: returns the file in the shape of its caller', async (t) => {
  const stand = await openFilesFront(t)
  const own = {
    type: 'file',
    filename: 'notes/a.txt',
    mime_type: 'text/plain',
    size_bytes: 6,
    downloadable: false,
    id: /^file_/,
    created_at: /^\d{4}-.*Z$/,
  }
  t.match(await upload(stand), { status: 200, body: { _shape: 'openrouter', ...own } })
  const anthropic = { 'anthropic-version': '2023-06-01', 'x-stainless-os': 'Linux' }
  t.match(await upload(stand, undefined, { headers: anthropic }), { body: { _shape: 'anthropic', ...own } })
  for (const headers of [{ 'x-stainless-retry-count': '0' }, { 'user-agent': 'OpenAI/Python 2.0' }]) {
    t.match((await upload(stand, undefined, { headers, purpose: 'batch' })).body, {
      _shape: 'openai',
      object: 'file',
      bytes: 6,
      filename: 'notes/a.txt',
      purpose: 'batch',
      status: 'processed',
      id: /^file_/,
      created_at: Number,
    })
  }
})

t.test("files.upload 200: OpenAI's client creates, retrieves, lists and deletes a file", async (t) => {
  const { url } = await openFilesFront(t)
  const client = new OpenAI({ baseURL: url, apiKey: KEY, maxRetries: 0 })
  const created = await client.files.create({
    file: await toFile(text(300_000), 'über.txt'),
    purpose: 'assistants',
  })
  t.match(created, {
    object: 'file',
    bytes: 300_000,
    filename: 'über.txt',
    purpose: 'assistants',
    status: 'processed',
  })
  t.match(await client.files.retrieve(created.id), { id: created.id, bytes: 300_000 })
  t.same(
    (await client.files.list()).data.map(({ id }) => id),
    [created.id],
  )
  t.match(await client.files.delete(created.id), { deleted: true })
  t.same((await client.files.list()).data, [])
})

t.test('files.upload 200: detects the type from the content and ignores the declared type', async (t) => {
  const stand = await openFilesFront(t)
  t.match(await upload(stand, '{"a": [1]}\n'), { body: { mime_type: 'application/json' } })
  t.match(await upload(stand, 'a,b\n1,2\n'), { body: { mime_type: 'text/csv' } })
})

t.test('files.upload 200, 400: stores a valid purpose unchanged, and refuses others', async (t) => {
  const stand = await openFilesFront(t)
  const headers = { 'user-agent': 'OpenAI/JS' }
  t.match(await upload(stand, 'a', { headers, purpose: 'p'.repeat(PURPOSE_CHARS_MAX) }), {
    body: { purpose: 'p'.repeat(PURPOSE_CHARS_MAX) },
  })
  for (const purpose of ['p'.repeat(PURPOSE_CHARS_MAX + 1), 'p'.repeat(2_000), 'a\nb', 'a\0b']) {
    t.match(await upload(stand, 'a', { headers, purpose }), {
      status: 400,
      type: 'form_invalid',
      message: /\/purpose is not valid/,
    })
  }
})

t.test('files.upload 200: a repeated Idempotency-Key gets the first answer, marked as replay', async (t) => {
  const { call } = await openFilesFront(t)
  const send = async (content: string): Promise<Response> => {
    const body = new FormData()
    body.set('file', new Blob([content]), 'a.txt')
    return call('/files', {
      method: 'POST',
      body,
      headers: { 'idempotency-key': 'x'.repeat(IDEMPOTENCY_KEY_CHARS_MAX) },
    })
  }
  const [first, again, other] = [await send('one'), await send('one'), await send('two')]
  t.same([first.status, again.status, other.status], [200, 200, 400])
  t.same(
    [first, again].map(({ headers }) => headers.get('idempotent-replayed')),
    [null, 'true'],
  )
  t.same(await again.json(), await first.json())
  t.match(await other.json(), { error: { metadata: { error_type: 'idempotency_mismatch' } } })
})

t.test('files.upload 400: refuses an empty file, and names the type of unsupported content', async (t) => {
  const stand = await openFilesFront(t)
  t.match(await upload(stand, ''), { status: 400, type: 'file_empty' })
  const { status, type, message } = await upload(
    stand,
    Buffer.from('\x7fELF\x02\x01\x01' + '\0'.repeat(100), 'latin1'),
  )
  t.match({ status, type, message }, { status: 400, type: 'content_unsupported', message: /PDF/ })
})

t.test('files.upload 400: an Idempotency-Key that is empty or too long', async (t) => {
  const stand = await openFilesFront(t)
  for (const key of ['', 'x'.repeat(IDEMPOTENCY_KEY_CHARS_MAX + 1)]) {
    t.match(await upload(stand, 'a', { headers: { 'idempotency-key': key } }), {
      status: 400,
      type: 'header_invalid',
      message: /idempotency-key/,
    })
  }
})

t.test('files.upload 400: an unknown provider, and one for which the workspace has no key', async (t) => {
  const stand = await openFilesFront(t, {
    providerFiles: {
      of: (_workspaceId, provider) =>
        Promise.resolve(fail('provider_key_missing', { fields: { provider, slug: provider } })),
    },
  })
  t.match(await upload(stand, 'a', { path: '/files?provider=mistral' }), {
    status: 400,
    type: 'query_invalid',
  })
  t.match(await upload(stand, 'a', { path: '/files?provider=openai' }), {
    status: 400,
    type: 'provider_key_missing',
    message: /openai/,
  })
})

t.test(
  "files.upload 403: refuses another workspace than the key's before its body is read, and accepts its own in any letter case",
  async (t) => {
    const stand = await openFilesFront(t)
    const client = beginUpload(stand.front.port, 1_000, {
      path: `/files?workspace_id=${stand.otherWorkspaceId}`,
    })
    t.match(await answerOf(client), { status: 403, type: 'workspace_forbidden' })
    t.equal(
      (await upload(stand, 'a', { path: `/files?workspace_id=${stand.workspaceId.toUpperCase()}` })).status,
      200,
    )
  },
)

t.test('files.upload 403: the quota of the workspace is exceeded', async (t) => {
  const stand = await openFilesFront(t, { files: { quotaBytes: 100 } })
  t.match(await upload(stand, text(101)), { status: 403, type: 'quota_exceeded' })
})

t.test('files.upload 413: refuses by the declared length alone, and by the bytes that arrived', async (t) => {
  const { front } = await openFilesFront(t)
  const announced = beginUpload(front.port, FILE_BYTES_MAX + FORM_EXTRA_BYTES_MAX + 1, { path: '/files' })
  t.match(await answerOf(announced), { status: 413, type: 'file_too_large' })
  const sent = await sendForm(front.port, form([filePart(text(FILE_BYTES_MAX + 1))]), { path: '/files' })
  t.match(sent, { status: 413, type: 'file_too_large', message: /100 MiB/ })
})

t.test('files.upload 502: a provider that fails', async (t) => {
  const host = { store: () => Promise.resolve(fail('upstream_failed')) } as unknown as FileHost
  const stand = await openFilesFront(t, { providerFiles: { of: () => Promise.resolve(ok(host)) } })
  t.match(await upload(stand, 'a', { path: '/files?provider=anthropic' }), {
    status: 502,
    type: 'upstream_failed',
  })
})

t.test('files.upload 503: too many uploads, with Retry-After', async (t) => {
  const { call } = await openFilesFront(t, {
    wrap: (parts) => ({ ...parts, intake: { open: () => fail('busy', { retryAfterS: 1 }) } }),
  })
  const body = new FormData()
  body.set('file', new Blob(['a']), 'a.txt')
  const answer = await call('/files', { method: 'POST', body })
  t.same([answer.status, answer.headers.get('retry-after')], [503, '1'])
})

t.test('an upload whose client disconnects is not listed, and the next upload succeeds', async (t) => {
  const stand = await openFilesFront(t)
  const client = beginUpload(stand.front.port, 1_000_000, { path: '/files' })
  client.send(form([filePart(text(900_000))]).subarray(0, 800_000))
  await until(() => stand.sessions.load.intakes !== 0)
  client.socket.resetAndDestroy()
  await stand.front.untilSettled(1)
  t.match(await (await stand.call('/files')).json(), { data: [] })
  t.equal((await upload(stand)).status, 200)
})

t.test('accepts an upload whose caller waits for 100-continue', async (t) => {
  const { front } = await openFilesFront(t)
  const body = form([filePart('hello')])
  const client = beginUpload(front.port, body.length, { path: '/files', headers: { expect: '100-continue' } })
  await client.until(/100 Continue/)
  client.send(body)
  t.match(await client.until(/200 OK[^]*"size_bytes":5/), /file_/)
  client.destroy()
})

t.test('an upload without a valid key stores nothing, whatever it sends', async (t) => {
  const stand = await openFilesFront(t)
  const client = rawClient(stand.front.port)
  client.send(
    'POST /api/v1/files HTTP/1.1\r\nhost: a\r\nauthorization: Bearer nobody\r\ncontent-length: 50000000\r\n\r\n',
  )
  client.send(Buffer.alloc(1_000_000))
  t.match(await client.until(/401/), /key_unknown/)
  await client.closed()
  t.match(await stand.census(), { pending: 0, ready: 0, objects: 0 })
})
