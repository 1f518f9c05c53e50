import { once } from 'node:events'
import { open, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import Type from 'typebox'
import t, { type Test } from 'tap'
import { ok, type Failure } from '../../../../src/schemas/failures.ts'
import type { Content } from '../../../../src/server/ports/byte-streams.ts'
import { storedFile } from '../../../../src/server/storage/stored-file.ts'
import { AUTHORIZATION, openFront, operation, type TestFront } from '../../../support/front.ts'
import { rawClient } from '../../../support/wire/raw-http.ts'
import { leftOpen, openFolder, openStoredFiles } from '../../../support/files/storage.ts'
import { pause, until } from '../../../support/wait.ts'
import { KEEPING_UP_BYTES } from '../../../../src/schemas/files/keeping-up.ts'

const PIECE = 64 * 1024
const BYTES = Buffer.from(Array.from({ length: 300_000 }, (_, index) => index % 251))

interface Answer {
  closedReaders: number
  closedContents: number
  reads: number
}

/** Serves `bytes` in pieces; `failAt`: the piece that cannot be read. */
function contentOf(
  bytes: Uint8Array,
  reported: Answer,
  more: { failAt?: number; failure?: Failure; openFailure?: Failure } = {},
): Content {
  return {
    sizeBytes: bytes.length,
    etag: 'v1',
    async read(from, to) {
      if (more.openFailure !== undefined) return { ok: false, failure: more.openFailure }
      let at = from
      let nth = 0
      return ok({
        async next() {
          reported.reads++
          await new Promise((resolve) => setImmediate(resolve))
          if (nth++ === more.failAt)
            return { ok: false, failure: more.failure ?? { name: 'content_damaged' } }
          const piece = bytes.subarray(at, Math.min(at + PIECE, to))
          at += piece.length
          return ok(piece.length === 0 ? null : piece)
        },
        close: () => void reported.closedReaders++,
      })
    },
    close: () => void reported.closedContents++,
  }
}

async function frontOf(
  t: Test,
  bytes: Uint8Array = BYTES,
  more: Parameters<typeof contentOf>[2] = {},
): Promise<TestFront & { reported: Answer }> {
  const reported: Answer = { closedReaders: 0, closedContents: 0, reads: 0 }
  const front = await openFront(t, [
    operation({
      id: 'test.download',
      method: 'get',
      path: '/download',
      input: {},
      success: { status: 200, body: Type.String(), content: 'application/octet-stream' },
      run: () =>
        ok({
          kind: 'content',
          content: contentOf(bytes, reported, more),
          contentType: 'application/octet-stream',
          filename: 'a/b.bin',
        }),
    }),
  ])
  return { ...front, reported }
}

const get = (front: TestFront, headers: Record<string, string> = {}, method = 'GET') =>
  fetch(`${front.url}/api/v1/download`, { method, headers: { authorization: AUTHORIZATION, ...headers } })
const bytesOf = async (response: Response): Promise<Buffer> => Buffer.from(await response.arrayBuffer())

t.test('a whole download has every byte, and headers for its name, caching and ranges', async (t) => {
  const front = await frontOf(t)
  const response = await get(front)
  t.ok((await bytesOf(response)).equals(BYTES))
  t.match(Object.fromEntries(response.headers), {
    'content-length': String(BYTES.length),
    'content-type': 'application/octet-stream',
    'content-disposition': 'attachment; filename="b.bin"',
    'x-content-type-options': 'nosniff',
    'accept-ranges': 'bytes',
    'cache-control': 'private',
    etag: '"v1"',
  })
  await front.untilSettled(1)
  t.match(front.reported, { closedReaders: 1, closedContents: 1 })
})

t.test('a download counts its own bytes, HEAD none, and a cut-off one the bytes written', async (t) => {
  const front = await frontOf(t)
  await bytesOf(await get(front))
  await bytesOf(await get(front, { range: 'bytes=-7' }))
  await get(front, {}, 'HEAD')
  await front.untilSettled(3)
  t.same(
    front.settled.map(({ replyBytes }) => replyBytes),
    [BYTES.length, 7, 0],
  )
  const cut = await frontOf(t, BYTES, { failAt: 2 })
  await t.rejects(get(cut).then(bytesOf))
  await cut.untilSettled(1)
  t.match(cut.settled, [{ replyBytes: 2 * PIECE }])
})

t.test('a range contains only its own bytes', async (t) => {
  const front = await frontOf(t)
  for (const [range, from, to] of [
    ['bytes=70000-140000', 70_000, 140_001],
    ['bytes=-1', 299_999, 300_000],
    ['bytes=0-', 0, 300_000],
  ] as const) {
    const response = await get(front, { range })
    t.equal(response.status, 206)
    t.equal(response.headers.get('content-range'), `bytes ${from}-${to - 1}/300000`)
    t.ok((await bytesOf(response)).equals(BYTES.subarray(from, to)), range)
  }
})

t.test('a range outside the content is 416 in the envelope, with the length', async (t) => {
  const front = await frontOf(t)
  const response = await get(front, { range: 'bytes=300000-' })
  t.equal(response.status, 416)
  t.equal(response.headers.get('content-range'), 'bytes */300000')
  t.match(await response.json(), { error: { code: 416, metadata: { error_type: 'range_unsatisfiable' } } })
  t.match(front.reported, { closedReaders: 0, closedContents: 1 })
})

t.test('a known version is 304 and nothing is read', async (t) => {
  const front = await frontOf(t)
  const response = await get(front, { 'if-none-match': '"v1"' })
  t.equal(response.status, 304)
  t.equal(response.headers.get('etag'), '"v1"')
  t.equal((await bytesOf(response)).length, 0)
  t.match(front.reported, { reads: 0, closedContents: 1 })
})

t.test('HEAD returns the length and reads nothing', async (t) => {
  const front = await frontOf(t)
  const response = await get(front, {}, 'HEAD')
  t.equal(response.headers.get('content-length'), '300000')
  t.match(front.reported, { reads: 0, closedContents: 1 })
  // The connection is not out of step.
  t.equal((await get(front, { range: 'bytes=0-0' })).status, 206)
})

t.test('an empty file is an answer without bytes', async (t) => {
  const front = await frontOf(t, new Uint8Array(0))
  const response = await get(front)
  t.equal(response.status, 200)
  t.equal(response.headers.get('content-length'), '0')
  t.match(front.reported, { closedReaders: 0, closedContents: 1 })
})

t.test('the last answer of a connection is also complete', async (t) => {
  const front = await frontOf(t)
  for (const method of ['GET', 'HEAD']) {
    const client = rawClient(front.port)
    client.send(
      `${method} /api/v1/download HTTP/1.1\r\nhost: a\r\nconnection: close\r\nauthorization: ${AUTHORIZATION}\r\n\r\n`,
    )
    const text = await client.closed()
    t.match(text, /content-length: 300000/i)
    const body = Buffer.from(text.slice(text.indexOf('\r\n\r\n') + 4), 'latin1')
    t.ok(body.equals(method === 'GET' ? BYTES : Buffer.alloc(0)), method)
  }
})

t.test(
  'content that cannot be opened, or whose first piece cannot be read, is an error status',
  async (t) => {
    const closedDoor = await frontOf(t, BYTES, { openFailure: { name: 'storage_unavailable' } })
    t.equal((await get(closedDoor)).status, 503)
    t.match(closedDoor.reported, { closedReaders: 0, closedContents: 1 })
    const damaged = await frontOf(t, BYTES, { failAt: 0 })
    t.equal((await get(damaged)).status, 500)
    t.match(damaged.reported, { closedReaders: 1, closedContents: 1 })
  },
)

t.test(
  'a failure after sent bytes cuts the connection, is logged by name, and everything is closed once',
  async (t) => {
    const front = await frontOf(t, BYTES, { failAt: 2 })
    const response = await get(front)
    t.equal(response.status, 200)
    await t.rejects(response.arrayBuffer())
    await front.untilSettled(1)
    t.match(front.settled[0], { status: 200, failure: 'content_damaged' })
    t.match(front.reported, { closedReaders: 1, closedContents: 1 })
  },
)

t.test('content that ends early cuts the connection', async (t) => {
  const short: Content = {
    ...contentOf(BYTES.subarray(0, 1_000), { closedReaders: 0, closedContents: 0, reads: 0 }),
    sizeBytes: 2_000,
  }
  const front = await openFront(t, [
    operation({
      method: 'get',
      path: '/download',
      input: {},
      success: { status: 200, body: Type.String(), content: 'application/octet-stream' },
      run: () =>
        ok({ kind: 'content', content: short, contentType: 'application/octet-stream', filename: 'x' }),
    }),
  ])
  await t.rejects(get(front).then((response) => response.arrayBuffer()))
})

t.test('a reader that stops reading pauses the pieces, and a disconnect closes all once', async (t) => {
  const large = Buffer.alloc(64 * 1024 * 1024, 'x')
  const front = await frontOf(t, large)
  const client = rawClient(front.port)
  client.send(`GET /api/v1/download HTTP/1.1\r\nhost: a\r\nauthorization: ${AUTHORIZATION}\r\n\r\n`)
  await client.untilBody(1)
  client.socket.pause()
  let before = -1
  while (front.reported.reads !== before) {
    before = front.reported.reads
    await pause(200)
  }
  t.ok(before < large.length / PIECE, `${before} pieces were read`)
  client.destroy()
  await once(client.socket, 'close')
  await front.untilSettled(1)
  t.match(front.reported, { closedReaders: 1, closedContents: 1 })
})

t.test('a client that disconnects while the first piece is fetched leaves nothing open', async (t) => {
  const reported: Answer = { closedReaders: 0, closedContents: 0, reads: 0 }
  let release = (): void => undefined
  const held = new Promise<void>((resolve) => (release = resolve))
  const content = contentOf(BYTES, reported)
  const front = await openFront(t, [
    operation({
      method: 'get',
      path: '/download',
      input: {},
      success: { status: 200, body: Type.String(), content: 'application/octet-stream' },
      async run() {
        return ok({
          kind: 'content',
          contentType: 'application/octet-stream',
          filename: 'x',
          content: {
            ...content,
            read: async (from, to) => {
              reported.reads++
              await held
              return content.read(from, to)
            },
          },
        })
      },
    }),
  ])
  const client = rawClient(front.port)
  client.send(`GET /api/v1/download HTTP/1.1\r\nhost: a\r\nauthorization: ${AUTHORIZATION}\r\n\r\n`)
  await until(() => reported.reads !== 0)
  client.destroy()
  await front.untilSettled(1)
  release()
  await until(() => reported.closedContents !== 0)
  t.match(reported, { closedReaders: 1, closedContents: 1 })
})

t.test('an exception while the content is read is an internal error', async (t) => {
  let closed = 0
  const front = await openFront(t, [
    operation({
      method: 'get',
      path: '/download',
      input: {},
      success: { status: 200, body: Type.String(), content: 'application/octet-stream' },
      run: () =>
        ok({
          kind: 'content',
          contentType: 'application/octet-stream',
          filename: 'x',
          content: {
            sizeBytes: 5,
            etag: 'e',
            read: () => Promise.reject(new Error('bug')),
            close: () => void closed++,
          },
        }),
    }),
  ])
  t.equal((await get(front)).status, 500)
  t.equal(closed, 1)
})

t.test(
  'a client that disconnects while its file is read ahead leaves neither a descriptor nor a reader open',
  async (t) => {
    const path = join(await openFolder(t), 'file')
    await writeFile(path, Buffer.alloc(8 * KEEPING_UP_BYTES, 'x'))
    let closed = 0
    const front = await openFront(t, [
      operation({
        method: 'get',
        path: '/download',
        input: {},
        success: { status: 200, body: Type.String(), content: 'application/octet-stream' },
        async run() {
          const handle = await open(path)
          const file = storedFile(handle, await handle.stat({ bigint: true }))
          const close = (): void => void file.close().then(() => closed++)
          const content: Content = {
            sizeBytes: file.sizeBytes,
            etag: 'e',
            read: async (from, to) => ok(file.read(from, to)),
            close,
          }
          return ok({ kind: 'content', content, contentType: 'application/octet-stream', filename: 'x' })
        },
      }),
    ])
    const before = await openStoredFiles()
    for (const bytes of [1, KEEPING_UP_BYTES, 2 * KEEPING_UP_BYTES, 3 * KEEPING_UP_BYTES]) {
      const client = rawClient(front.port)
      client.send(`GET /api/v1/download HTTP/1.1\r\nhost: a\r\nauthorization: ${AUTHORIZATION}\r\n\r\n`)
      await client.untilBody(bytes)
      client.destroy()
      await once(client.socket, 'close')
    }
    await front.untilSettled(4)
    await until(() => closed >= 4)
    t.same(await leftOpen(before), [])
  },
)
