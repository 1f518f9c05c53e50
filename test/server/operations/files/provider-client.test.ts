/** Files at a provider through a front, with the official client and by hand. C8, B1.7, B2.7. */
import OpenAI, { toFile } from 'openai'
import t, { type Test } from 'tap'
import { OPERATIONS } from '../../../../src/server/operations/index.ts'
import type { Ports } from '../../../../src/server/ports/ports.ts'
import { AUTHORIZATION, KEY, openFront, type TestFront } from '../../../support/front.ts'
import { NO_FILES } from '../../../support/files/no-files.ts'
import { openFilesStand, PROVIDER_KEY, send, type FilesStand } from '../../../support/files/provider-files.ts'
import { text } from '../../../support/files/sessions.ts'

interface Served extends FilesStand, TestFront {
  readonly client: OpenAI
  ask(path: string, init?: RequestInit): Promise<Response>
}

async function served(t: Test, key: string | null = PROVIDER_KEY): Promise<Served> {
  const stand = await openFilesStand(t, { key })
  const operations = OPERATIONS.filter(({ tag }) => tag === 'files')
  const ports = { ...NO_FILES, providerFiles: stand.providerFiles } as Ports
  const front = await openFront(t, operations, { ports })
  const client = new OpenAI({
    baseURL: `${front.url}/api/v1`,
    apiKey: KEY,
    maxRetries: 0,
    defaultQuery: { provider: 'openai' },
  })
  const ask = (path: string, init: RequestInit = {}): Promise<Response> =>
    fetch(`${front.url}/api/v1${path}`, {
      ...init,
      headers: { authorization: AUTHORIZATION, ...init.headers },
    })
  return { ...stand, ...front, client, ask }
}

function formOf(content: Uint8Array, name = 'a.txt'): FormData {
  const form = new FormData()
  form.set('file', new File([content], name))
  return form
}

t.test(
  'the official client creates, lists, reads, downloads and deletes a file at its provider',
  async (t) => {
    const { client, provider, rest } = await served(t)
    const content = text(1_000_000)
    const file = await client.files.create({ file: await toFile(content, 'lines.txt'), purpose: 'batch' })
    t.match(file, {
      id: 'file-1',
      object: 'file',
      bytes: content.length,
      filename: 'lines.txt',
      purpose: 'batch',
      _shape: 'openai',
    })
    await client.files.create({ file: await toFile(Buffer.from('x'), 'x.txt'), purpose: 'user_data' })
    const listed: string[] = []
    for await (const { id } of client.files.list({ limit: 1 })) listed.push(id)
    t.same(listed, ['file-1', 'file-2'])
    t.match(await client.files.retrieve('file-1'), { id: 'file-1', bytes: content.length })
    t.ok(Buffer.from(await (await client.files.content('file-1')).arrayBuffer()).equals(content))
    t.match(await client.files.delete('file-1'), { id: 'file-1', object: 'file', deleted: true })
    t.same([...provider.files.keys()], ['file-2'])
    await rest()
  },
)

t.test('a file at a provider is returned in every response shape, like a file in own storage', async (t) => {
  const { ask } = await served(t)
  const own = await ask('/files?provider=anthropic', {
    method: 'POST',
    body: formOf(Buffer.from('%PDF-'), 'a.txt'),
  })
  t.match(await own.json(), { _shape: 'openrouter', id: 'file-1', mime_type: 'text/plain', size_bytes: 5 })
  const theirs = await ask('/files/file-1?provider=anthropic', {
    headers: { 'anthropic-version': '2023-06-01' },
  })
  t.match(await theirs.json(), {
    _shape: 'anthropic',
    id: 'file-1',
    created_at: '2025-04-15T18:37:24.100Z',
    downloadable: false,
  })
  t.match(await (await ask('/files/file-1?provider=anthropic', { method: 'DELETE' })).json(), {
    type: 'file_deleted',
    id: 'file-1',
  })
})

t.test('without a provider key in the workspace every operation gets 400', async (t) => {
  const { ask, provider } = await served(t, null)
  const calls: readonly (readonly [string, RequestInit])[] = [
    ['/files?provider=openai', { method: 'POST', body: formOf(Buffer.from('x')) }],
    ['/files?provider=openai', {}],
    ['/files/file-1?provider=openai', {}],
    ['/files/file-1/content?provider=openai', {}],
    ['/files/file-1?provider=openai', { method: 'DELETE' }],
  ]
  for (const [path, init] of calls) {
    const answer = await ask(path, init)
    t.equal(answer.status, 400)
    t.match(await answer.json(), { error: { metadata: { error_type: 'provider_key_missing' } } })
  }
  t.same(provider.calls, [])
})

t.test('ranges, ETags and HEAD work for a file at a provider', async (t) => {
  const { ask, provider } = await served(t)
  await ask('/files?provider=openai', { method: 'POST', body: formOf(text(1_000)) })
  const path = '/files/file-1/content?provider=openai'
  const part = await ask(path, { headers: { range: 'bytes=10-19' } })
  t.equal(part.status, 206)
  t.equal(part.headers.get('content-range'), 'bytes 10-19/1000')
  t.equal(await part.text(), text(1_000).subarray(10, 20).toString())
  const before = provider.calls.length
  const etag = part.headers.get('etag') ?? ''
  t.equal((await ask(path, { headers: { 'if-none-match': etag } })).status, 304)
  t.equal((await ask(path, { method: 'HEAD' })).headers.get('content-length'), '1000')
  t.same(provider.calls.slice(before), ['GET /v1/files/file-1', 'GET /v1/files/file-1'])
})

t.test('a download that breaks off at the provider is cut off, not ended as if complete', async (t) => {
  const { ask, provider, lines, rest } = await served(t)
  await ask('/files?provider=openai', { method: 'POST', body: formOf(text(2_000_000)) })
  provider.behave(({ req, res, honest }) => {
    if (req.url?.endsWith('/content') !== true) return honest()
    res.writeHead(200, { 'content-length': 2_000_000 })
    res.write(text(500_000), () => res.socket?.destroy())
  })
  const answer = await ask('/files/file-1/content?provider=openai')
  t.equal(answer.status, 200)
  await t.rejects(answer.arrayBuffer())
  await rest()
  t.notMatch(lines.join(''), PROVIDER_KEY)
})

t.test('files.upload 502: the error names the failed provider, and does not contain its key', async (t) => {
  const answer = await failing(t, '/files?provider=openai', { method: 'POST', body: formOf(text(100)) })
  t.match(answer, { status: 502, error_type: 'upstream_failed', provider_name: 'OpenAI' })
})

t.test('files.list 502: the error names the failed provider, and does not contain its key', async (t) => {
  const answer = await failing(t, '/files?provider=openai', {})
  t.match(answer, { status: 502, error_type: 'upstream_failed', provider_name: 'OpenAI' })
  t.equal(answer['message'], 'The provider OpenAI failed. The provider answered 500.')
})

t.test('files.get 502: the error names the failed provider, and does not contain its key', async (t) => {
  const answer = await failing(t, '/files/file-1?provider=openai', {})
  t.match(answer, { status: 502, error_type: 'upstream_failed', provider_name: 'OpenAI' })
})

t.test('files.content 502: the error names the failed provider, and does not contain its key', async (t) => {
  const answer = await failing(t, '/files/file-1/content?provider=openai', {})
  t.match(answer, { status: 502, error_type: 'upstream_failed', provider_name: 'OpenAI' })
})

t.test('files.delete 502: the error names the failed provider, and does not contain its key', async (t) => {
  const answer = await failing(t, '/files/file-1?provider=openai', { method: 'DELETE' })
  t.match(answer, { status: 502, error_type: 'upstream_failed', provider_name: 'OpenAI' })
})

t.test('when a provider is overloaded, each operation gets 503 with the Retry-After it sent', async (t) => {
  const { ask, provider } = await served(t)
  provider.behave(({ res }) => void res.writeHead(429, { 'retry-after': '7' }).end())
  const answer = await ask('/files?provider=openai')
  t.same([answer.status, answer.headers.get('retry-after')], [503, '7'])
})

/** Answer of an operation whose provider fails with a body that reveals too much. */
async function failing(t: Test, path: string, init: RequestInit): Promise<Readonly<Record<string, unknown>>> {
  const { ask, provider, lines } = await served(t)
  provider.behave(
    ({ req, res }) => void req.resume().on('end', () => send(res, 500, { error: { message: PROVIDER_KEY } })),
  )
  const answer = await ask(path, init)
  const body = await answer.text()
  t.notMatch(body + lines.join(''), PROVIDER_KEY)
  const { error } = JSON.parse(body) as {
    readonly error: { readonly message: string; readonly metadata: Readonly<Record<string, unknown>> }
  }
  return { status: answer.status, message: error.message, ...error.metadata }
}
