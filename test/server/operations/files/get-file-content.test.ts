import { randomBytes } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { openFilesFront, type FilesFront } from '../../../support/files/files-front.ts'
import { storedFile } from '../../../support/files/files.ts'
import { openDisk } from '../../../support/files/storage.ts'

const BYTES = randomBytes(300_000)

interface Promoted extends FilesFront {
  readonly id: string
  readonly path: string
  /** The sealed object, as it lies on the disk. */
  readonly object: string
}

async function promoted(t: Test, bytes: Buffer = BYTES): Promise<Promoted> {
  const { storage, folder } = await openDisk(t)
  const front = await openFilesFront(t, { storage })
  const source = await front.write('out/ü.bin', bytes)
  const answer = await front.call(`${source}/promote`, { method: 'POST' })
  t.equal(answer.status, 200)
  const { id } = (await answer.json()) as { id: string }
  const objects = join(folder, 'objects')
  const [name = ''] = readdirSync(objects, { recursive: true })
    .map(String)
    .filter((path) => path.endsWith(id))
  return { ...front, id, path: `/files/${id}/content`, object: join(objects, name) }
}

const bytesOf = async (answer: Response): Promise<Buffer> => Buffer.from(await answer.arrayBuffer())

t.test('files.content 200: returns a promoted file unchanged, named by the end of its path', async (t) => {
  const front = await promoted(t)
  const answer = await front.call(front.path)
  t.equal(answer.status, 200)
  t.equal(
    answer.headers.get('content-disposition'),
    `attachment; filename="_.bin"; filename*=UTF-8''%C3%BC.bin`,
  )
  t.ok((await bytesOf(answer)).equals(BYTES))
})

t.test('files.content 200: ranges across segments, HEAD, and 304 for a known version', async (t) => {
  const front = await promoted(t)
  for (const [from, to] of [
    [0, 1],
    [65_535, 65_537],
    [131_072, 131_073],
    [1, 299_999],
    [299_999, 300_000],
  ] as const) {
    const answer = await front.call(front.path, { headers: { range: `bytes=${from}-${to - 1}` } })
    t.equal(answer.status, 206)
    t.ok((await bytesOf(answer)).equals(BYTES.subarray(from, to)), `${from} to ${to}`)
  }
  const head = await front.call(front.path, { method: 'HEAD' })
  t.equal(head.headers.get('content-length'), '300000')
  const etag = head.headers.get('etag') ?? ''
  t.equal((await front.call(front.path, { headers: { 'if-none-match': etag } })).status, 304)
  t.equal((await front.call(front.path, { headers: { range: 'bytes=300000-' } })).status, 416)
})

t.test('files.content 400: an upload cannot be downloaded', async (t) => {
  const front = await openFilesFront(t)
  const id = await storedFile(front.files, front.workspaceId)
  const answer = await front.call(`/files/${id}/content`)
  t.equal(answer.status, 400)
  t.match(await answer.json(), { error: { metadata: { error_type: 'file_not_downloadable' } } })
})

t.test('files.content 404: a foreign file and an unknown one', async (t) => {
  const front = await openFilesFront(t)
  const foreign = await storedFile(front.files, front.otherWorkspaceId, { isDownloadable: true })
  for (const id of [foreign, 'file_unknown']) t.equal((await front.call(`/files/${id}/content`)).status, 404)
})

t.test('files.content 503: storage is unavailable', async (t) => {
  const { storage } = await openDisk(t)
  const front = await openFilesFront(t, {
    storage: {
      ...storage,
      open: () => Promise.resolve({ ok: false, failure: { name: 'storage_unavailable' } }),
    },
  })
  const id = await storedFile(front.files, front.workspaceId, { isDownloadable: true })
  t.equal((await front.call(`/files/${id}/content`)).status, 503)
})

t.test(
  'files.content 500: sends no bytes of a file whose object is missing or cannot be decrypted',
  async (t) => {
    const front = await promoted(t)
    const sealed = await readFile(front.object)
    for (const at of [0, 40, 70, 130, 60_000]) {
      const flipped = Buffer.from(sealed)
      flipped[at] = (flipped[at] ?? 0) ^ 1
      await writeFile(front.object, flipped)
      const answer = await front.call(front.path)
      t.equal(answer.status, 500, `byte ${at}`)
      t.match(await answer.json(), { error: { metadata: { error_type: 'content_damaged' } } })
    }
    await writeFile(front.object, sealed.subarray(0, -1))
    t.equal((await front.call(front.path)).status, 500)
  },
)

t.test(
  'a damaged segment after intact ones cuts the connection before any of its bytes are sent',
  async (t) => {
    const bytes = randomBytes(8 * 1024 * 1024)
    const front = await promoted(t, bytes)
    const sealed = await readFile(front.object)
    const at = sealed.length - 100_000
    sealed[at] = (sealed[at] ?? 0) ^ 1
    await writeFile(front.object, sealed)
    const answer = await front.call(front.path)
    t.equal(answer.status, 200)
    const received: Buffer[] = []
    const reader = answer.body?.getReader()
    await t.rejects(
      (async () => {
        for (;;) {
          const piece = await reader?.read()
          if (piece === undefined || piece.done) return
          received.push(Buffer.from(piece.value as Uint8Array))
        }
      })(),
    )
    const got = Buffer.concat(received)
    t.ok(got.length < bytes.length - 65_536 && got.equals(bytes.subarray(0, got.length)))
  },
)
