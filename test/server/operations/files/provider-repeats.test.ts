/** An `Idempotency-Key` on uploads to a provider, through a front. C16. */
import t, { type Test } from 'tap'
import { OPERATIONS } from '../../../../src/server/operations/index.ts'
import type { Ports } from '../../../../src/server/ports/ports.ts'
import { openIdempotency } from '../../../../src/server/store/base/idempotency.ts'
import { keepUploads } from '../../../../src/server/files/kept-uploads.ts'
import { AUTHORIZATION, openFront } from '../../../support/front.ts'
import { NO_FILES } from '../../../support/files/no-files.ts'
import { openTestStore } from '../../../support/stores/postgres.ts'
import { openFilesStand, send, type FilesStand } from '../../../support/files/provider-files.ts'

interface Stand extends FilesStand {
  upload(content: string, more?: UploadMore): Promise<Answer>
}

interface UploadMore {
  readonly provider?: string
  readonly headers?: Record<string, string>
  readonly fields?: Record<string, string>
}

interface Answer {
  readonly status: number
  readonly replayed: string | null
  readonly body: Record<string, unknown>
  readonly type: string | undefined
}

async function openStand(t: Test): Promise<Stand> {
  const stand = await openFilesStand(t)
  const store = await openTestStore(t)
  const idempotency = openIdempotency({ store, now: () => performance.now(), random: Math.random })
  t.teardown(async () => idempotency.close())
  const providerFiles = keepUploads(stand.providerFiles, { idempotency, intake: stand.sessions.intake })
  const operations = OPERATIONS.filter(({ tag }) => tag === 'files')
  const front = await openFront(t, operations, {
    ports: { ...NO_FILES, providerFiles, idempotency } as unknown as Ports,
  })
  return {
    ...stand,
    async upload(content, { provider = 'openai', headers = {}, fields = {} } = {}) {
      const form = new FormData()
      for (const [name, value] of Object.entries(fields)) form.set(name, value)
      form.set('file', new File([content], 'a.txt'))
      const answer = await fetch(`${front.url}/api/v1/files?provider=${provider}`, {
        method: 'POST',
        body: form,
        headers: { authorization: AUTHORIZATION, 'idempotency-key': 'k', ...headers },
      })
      const body = (await answer.json()) as Record<string, unknown> & {
        readonly error?: { metadata: { error_type: string } }
      }
      const replayed = answer.headers.get('idempotent-replayed')
      return { status: answer.status, replayed, body, type: body.error?.metadata.error_type }
    },
  }
}

t.test(
  'the same file under one Idempotency-Key is sent once, and each caller gets the answer in its own shape',
  async (t) => {
    const { upload, provider, rest } = await openStand(t)
    const first = await upload('hello')
    t.match(first, { status: 200, replayed: null, body: { id: 'file-1', size_bytes: 5 } })
    t.same(await upload('hello'), { ...first, replayed: 'true' })
    t.match(await upload('hello', { headers: { 'x-stainless-os': 'Linux' } }), {
      replayed: 'true',
      body: { _shape: 'openai', id: 'file-1', bytes: 5 },
    })
    t.same(provider.calls, ['POST /v1/files'])
    await rest()
  },
)

t.test('a repetition has the expiry of the first answer', async (t) => {
  const { upload, provider } = await openStand(t)
  const expiry = { 'expires_after[anchor]': 'created_at', 'expires_after[seconds]': '3600' }
  const first = await upload('hello', { fields: expiry })
  t.match(first, {
    status: 200,
    body: { created_at: '2023-11-14T22:13:20.000Z', expires_at: '2023-11-14T23:13:20.000Z' },
  })
  t.same(await upload('hello', { fields: expiry }), { ...first, replayed: 'true' })
  t.match([...provider.files.values()][0]?.fields, expiry)
})

t.test('refuses another file or provider under the same key, and sends nothing', async (t) => {
  const { upload, provider } = await openStand(t)
  await upload('hello')
  t.match(await upload('hullo'), { status: 400, type: 'idempotency_mismatch' })
  t.match(await upload('hello', { provider: 'anthropic' }), { status: 400, type: 'idempotency_mismatch' })
  t.match(await upload('hello', { headers: { 'idempotency-key': 'l' } }), {
    status: 200,
    replayed: null,
    body: { id: 'file-2' },
  })
  t.equal(provider.files.size, 2)
})

t.test('of several racing uploads under one key one is sent, and all get its answer', async (t) => {
  const { upload, provider } = await openStand(t)
  const ends = await Promise.all(Array.from({ length: 5 }, () => upload('hello')))
  t.same(
    ends.map(({ body }) => body['id']),
    Array(5).fill('file-1'),
  )
  t.equal(ends.filter(({ replayed }) => replayed === null).length, 1)
  t.equal(provider.calls.length, 1)
})

t.test('the key can be used again after a failure of the provider or a refused content', async (t) => {
  const { upload, provider } = await openStand(t)
  provider.behave(({ req, res }) => {
    req.resume()
    send(res, 500, { error: { message: 'no' } })
  })
  t.match(await upload('hello'), { status: 502 })
  provider.behave(({ honest }) => honest())
  t.match(await upload('\x7fELF\x02\x01\x01\0\0\0'), { status: 400, type: 'content_unsupported' })
  t.match(await upload('hello'), { status: 200, replayed: null })
})

t.test('a repetition gets the first answer even if the file was deleted since', async (t) => {
  const { upload, provider } = await openStand(t)
  await upload('hello')
  provider.files.clear()
  t.match(await upload('hello'), { status: 200, replayed: 'true', body: { id: 'file-1' } })
  t.equal(provider.files.size, 0)
})
