import t from 'tap'
import { FILE_BYTES_MAX } from '../../../../src/schemas/files/file-limits.ts'
import { openFilesFront } from '../../../support/files/files-front.ts'

const POST = { method: 'POST' }

t.test('containers.promote 200: the file outlives its container and can be downloaded', async (t) => {
  const stand = await openFilesFront(t)
  const path = await stand.write('out/data.bin', '\0\x01binary')
  const answer = await stand.call(`${path}/promote`, POST)
  t.equal(answer.status, 200)
  const file = (await answer.json()) as { readonly id: string }
  t.match(file, {
    _shape: 'openrouter',
    type: 'file',
    filename: 'out/data.bin',
    mime_type: 'application/octet-stream',
    size_bytes: 8,
    downloadable: true,
    id: /^file_/,
  })
  await stand.storage.containers.removeContainer(stand.container)
  t.equal(await (await stand.call(`/files/${file.id}/content`)).text(), '\0\x01binary')
})

t.test('containers.promote 200: answers in the format of the client, also on a repetition', async (t) => {
  const stand = await openFilesFront(t)
  const path = await stand.write('a.csv', 'a,b\n1,2\n')
  const promote = (): Promise<Response> =>
    stand.call(`${path}/promote`, {
      ...POST,
      headers: { 'idempotency-key': 'k', 'user-agent': 'OpenAI/JS 7.55.0' },
    })
  const [first, again] = [await promote(), await promote()]
  t.same(
    [first, again].map(({ headers }) => headers.get('idempotent-replayed')),
    [null, 'true'],
  )
  const file = await first.json()
  t.match(file, { _shape: 'openai', object: 'file', filename: 'a.csv', bytes: 8 })
  t.same(await again.json(), file)
})

t.test(
  'containers.promote 400: an empty file, an invalid container id, and a key that is too long',
  async (t) => {
    const stand = await openFilesFront(t)
    const empty = await stand.write('empty', '')
    const typeOf = async (answer: Response): Promise<unknown> => [
      answer.status,
      ((await answer.json()) as { error: { metadata: { error_type: string } } }).error.metadata.error_type,
    ]
    t.same(await typeOf(await stand.call(`${empty}/promote`, POST)), [400, 'file_empty'])
    t.same(await typeOf(await stand.call('/containers/a.b/files/cfile_YQ/promote', POST)), [
      400,
      'params_invalid',
    ])
    const headers = { 'idempotency-key': 'x'.repeat(256) }
    t.same(await typeOf(await stand.call(`${empty}/promote`, { ...POST, headers })), [400, 'header_invalid'])
  },
)

t.test('containers.promote 404: a path that does not exist, and invalid file ids', async (t) => {
  const { call } = await openFilesFront(t)
  const ids = ['missing', '../a', '/etc/passwd', 'a//b'].map(
    (path) => `cfile_${Buffer.from(path).toString('base64url')}`,
  )
  for (const id of [...ids, 'cfile_', 'nothing']) {
    const answer = await call(`/containers/sess_abc/files/${id}/promote`, POST)
    t.match(
      [answer.status, await answer.json()],
      [404, { error: { metadata: { error_type: 'container_file_unknown' } } }],
      id,
    )
  }
})

t.test('containers.promote 413: a container file above the limit', async (t) => {
  const stand = await openFilesFront(t)
  const path = await stand.write('large', Buffer.alloc(FILE_BYTES_MAX + 1))
  t.equal((await stand.call(`${path}/promote`, POST)).status, 413)
})

t.test('containers.promote 503: unavailable storage, and nothing is left', async (t) => {
  const stand = await openFilesFront(t, {
    wrap: (parts) => ({
      ...parts,
      storage: {
        ...parts.storage,
        publish: async () => ({ ok: false, failure: { name: 'storage_unavailable' } }),
      },
    }),
  })
  const path = await stand.write('a', 'content')
  t.equal((await stand.call(`${path}/promote`, POST)).status, 503)
  t.match(await stand.census(), { ready: 0, pending: 0, objects: 0, usedBytes: 0, reservedBytes: 0 })
})
