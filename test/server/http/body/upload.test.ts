import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import t, { type Test } from 'tap'
import type { Failure } from '../../../../src/schemas/failures.ts'
import { FILE_BYTES_MAX, UPLOAD_DEADLINE_MS } from '../../../../src/schemas/files/file-limits.ts'
import { BODY_STALL_MS, DEADLINE_GRACE_MS } from '../../../../src/schemas/limits/limits.ts'
import type { Timers } from '../../../../src/server/http/timers.ts'
import type { AnyOperation } from '../../../../src/server/operations/define.ts'
import type { Upload } from '../../../../src/server/ports/byte-streams.ts'
import {
  AUTHORIZATION,
  KEY,
  openFront as openTimed,
  operation,
  patient,
  type TestFront,
} from '../../../support/front.ts'
import { gate } from '../../../support/gate.ts'
import {
  answerOf,
  beginUpload,
  chunkOf,
  filePart,
  form,
  uploadEcho,
} from '../../../support/files/upload-echo.ts'
import { movedTimers } from '../../../support/moved-timers.ts'
import { rawClient, requestText, type RawClient } from '../../../support/wire/raw-http.ts'
import { still, until } from '../../../support/wait.ts'
import { GATHERED_BYTES_MIN } from '../../../../src/server/http/body/upload.ts'

/** A front that no slow machine makes stall: its time stands still, unless a test moves it. */
const openFront = (
  t: Test,
  operations: readonly AnyOperation[],
  timers: Timers = patient(),
): Promise<TestFront> => openTimed(t, operations, { timers })

/** The head of an upload and its first bytes, which the front reads at once. */
function beginWith(port: number, declared: number, body: string): RawClient {
  const client = rawClient(port)
  const headers = { authorization: AUTHORIZATION, 'content-length': String(declared) }
  client.send(requestText('POST /api/v1/upload', headers, body))
  return client
}

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

for (const isChunked of [false, true]) {
  t.test(`a raw body is received byte for byte${isChunked ? ', in chunks' : ''}`, async (t) => {
    const { port } = await openFront(t, [uploadEcho('raw')])
    const content = randomBytes(2_000_000)
    const client = beginUpload(port, isChunked ? null : content.length)
    if (isChunked) client.send(Buffer.concat([chunkOf(content), Buffer.from('0\r\n\r\n')]))
    else client.send(content)
    t.match(await answerOf(client), {
      status: 200,
      body: { sizeBytes: content.length, sha256: sha256(content), filename: null },
    })
  })
}

t.test('an empty raw body is an upload of no bytes', async (t) => {
  const { port } = await openFront(t, [uploadEcho('raw')])
  t.match(await answerOf(beginUpload(port, 0)), { status: 200, body: { sizeBytes: 0 } })
})

t.test('an upload reports the maximum number of bytes that it can have', async (t) => {
  const seen: (number | null)[] = []
  const before = async (upload: Upload): Promise<void> =>
    void seen.push(upload.bytesAtMost, upload.slackBytes)
  const { port } = await openFront(t, [uploadEcho('raw', { before })])
  const client = beginUpload(port, 3)
  client.send('abc')
  await answerOf(client)
  const chunked = beginUpload(port, null)
  chunked.send('0\r\n\r\n')
  await answerOf(chunked)
  t.same(seen, [3, 0, null, 0])
})

t.test('a body is paused until it is received: at most one read of it is taken', async (t) => {
  const ready = gate()
  const { port } = await openFront(t, [uploadEcho('raw', { before: () => ready.opened })])
  const content = randomBytes(40_000_000)
  const client = beginUpload(port, content.length)
  client.send(content)
  await until(() => client.socket.bytesWritten > 0)
  await still(() => client.socket.writableLength)
  t.ok(client.socket.writableLength > 0, 'the kernel holds it')
  ready.open()
  t.match(await answerOf(client), { status: 200, body: { sha256: sha256(content) } })
})

t.test('a paused upload reads no more until it is resumed', async (t) => {
  let taken = 0
  const waiting: { upload: Upload | null } = { upload: null }
  const onPiece = (upload: Upload, bytes: Uint8Array): boolean => {
    taken += bytes.length
    // In the midst: what came before the first one was received is kept with the socket at rest.
    if (waiting.upload !== null || taken < 1_000_000) return true
    waiting.upload = upload
    return false
  }
  const { port } = await openFront(t, [uploadEcho('raw', { onPiece })])
  const content = randomBytes(40_000_000)
  const client = beginUpload(port, content.length)
  client.send(content)
  await until(() => waiting.upload !== null)
  const before = taken
  await still(() => client.socket.writableLength)
  t.equal(taken, before)
  present(waiting.upload).resume()
  t.match(await answerOf(client), { status: 200, body: { sha256: sha256(content) } })
})

for (const size of [1_000, 60_000, 3_000_000]) {
  t.test(`a connection is reused after an answer to an unread upload of ${size} bytes`, async (t) => {
    const refusing = operation({
      path: '/upload',
      input: { upload: 'raw' },
      run: () => ({ ok: false, failure: { name: 'busy' } }),
    })
    const { port } = await openFront(t, [refusing, operation({ method: 'get', path: '/next', input: {} })])
    const client = beginUpload(port, size)
    client.send(Buffer.alloc(size / 2))
    if (size <= 60_000) await client.until(/503/)
    client.send(Buffer.alloc(size / 2))
    await client.until(/503/)
    if (size > 60_000) return void t.match(await client.closed(), /connection: close/i)
    client.send(`GET /api/v1/next HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${KEY}\r\n\r\n`)
    t.match(await client.until(/200 OK/), /200 OK/)
  })
}

t.test('an announced length above the limit is 413 before the operation runs', async (t) => {
  let isRun = false
  const { port } = await openFront(t, [uploadEcho('raw', { before: async () => void (isRun = true) })])
  t.match(await answerOf(beginUpload(port, FILE_BYTES_MAX + 1)), { status: 413, type: 'file_too_large' })
  t.notOk(isRun)
})

t.test('a body in chunks is 413 as soon as it exceeds the limit', async (t) => {
  const { port, front } = await openFront(t, [uploadEcho('raw')])
  const client = beginUpload(port, null)
  const piece = chunkOf(Buffer.alloc(8 * 1024 * 1024))
  for (let sent = 0; sent <= FILE_BYTES_MAX && !client.isClosed; sent += 8 * 1024 * 1024) {
    client.send(piece)
    if (client.socket.writableNeedDrain)
      await Promise.race([once(client.socket, 'drain'), once(client.socket, 'close')])
  }
  t.match(await client.until(/413/), /file_too_large/)
  client.destroy()
  await until(() => front.load.calls === 0 && front.load.timers === 0)
})

t.test('a body that stalls while Sluice reads it is refused, but not while Sluice pauses it', async (t) => {
  const { timers, pass } = movedTimers()
  const failures: Failure[] = []
  const [started, ready, taken] = [gate(), gate(), gate()]
  const echo = uploadEcho('raw', {
    before() {
      started.open()
      return ready.opened
    },
    onPiece() {
      taken.open()
      return true
    },
    onFailure: (failure) => failures.push(failure),
  })
  const { port } = await openFront(t, [echo], timers)
  const client = beginWith(port, 1_000_000, 'abc')
  await started.opened
  await pass(1.5 * BODY_STALL_MS)
  ready.open()
  await taken.opened
  await pass(BODY_STALL_MS / 2)
  t.same(failures, [])
  await pass(BODY_STALL_MS / 2)
  t.same(failures, [{ name: 'body_slow' }])
  client.destroy()
})

t.test('an upload that keeps sending may exceed the deadline of its operation', async (t) => {
  t.ok(UPLOAD_DEADLINE_MS > BODY_STALL_MS)
  // Over whenever the test lets time pass: a turn of the wheel takes longer.
  const deadlineMs = 1
  const { timers, pass } = movedTimers()
  let taken = 0
  const echo = uploadEcho('raw', { onPiece: (_, bytes) => (taken += bytes.length) > 0 })
  const { port } = await openFront(t, [{ ...echo, deadlineMs }], timers)
  const piece = 'x'.repeat(GATHERED_BYTES_MIN)
  const pieces = 5
  const client = beginWith(port, pieces * piece.length, piece)
  for (let sent = 1; sent < pieces; sent++) {
    await until(() => taken === sent * piece.length || client.text !== '')
    await pass(deadlineMs)
    await pass(DEADLINE_GRACE_MS)
    client.send(piece)
  }
  t.match(await answerOf(client), { status: 200, body: { sizeBytes: pieces * piece.length } })
})

for (const [kind, stage] of [
  ['raw', 'before it is received'],
  ['raw', 'while it flows'],
  ['raw', 'while it waits'],
  ['form', 'while it flows'],
] as const) {
  for (const way of ['end', 'reset'] as const) {
    t.test(
      `a client that disconnects from a ${kind} upload (${way}) ${stage} ends it, and nothing is left`,
      async (t) => {
        const failures: Failure[] = []
        const [started, ready] = [gate(), gate()]
        const waiting: { upload: Upload | null } = { upload: null }
        const { port, front, settled } = await openFront(t, [
          uploadEcho(kind, {
            async before() {
              started.open()
              if (stage === 'before it is received') await ready.opened
            },
            onPiece(upload) {
              waiting.upload = upload
              return stage !== 'while it waits'
            },
            onFailure: (failure) => failures.push(failure),
          }),
        ])
        const client = beginUpload(port, 50_000_000)
        client.send(
          kind === 'raw'
            ? Buffer.alloc(2_000_000)
            : form([filePart(Buffer.alloc(2_000_000))]).subarray(0, 1_900_000),
        )
        await started.opened
        if (stage !== 'before it is received') await until(() => waiting.upload !== null)
        if (way === 'end') client.destroy()
        else client.socket.resetAndDestroy()
        ready.open()
        // A paused socket does not report its end, and the upload waits once more for each piece on its way.
        await until(() => {
          if (stage === 'while it waits') present(waiting.upload).resume()
          return settled.length === 1
        })
        t.same(
          failures.map(({ name }) => name),
          ['client_gone'],
        )
        t.same(front.load, { calls: 0, timers: 0, bodyBytes: 0 })
      },
    )
  }
}

t.test('a drain ends an upload that is still being sent', async (t) => {
  const failures: Failure[] = []
  const {
    port,
    front,
    settled: calls,
  } = await openFront(t, [uploadEcho('raw', { onFailure: (failure) => failures.push(failure) })])
  const client = beginUpload(port, 1_000_000)
  client.send('abc')
  await until(() => front.load.calls === 1)
  await front.drain(50)
  await until(() => calls.length === 1)
  t.equal(failures.length, 1)
  t.same(front.load, { calls: 0, timers: 0, bodyBytes: 0 })
})

function present<T>(value: T | null): T {
  if (value === null) throw new Error('nothing came')
  return value
}
