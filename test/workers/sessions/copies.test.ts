/** How often the bytes of an upload are copied between the socket and the disk. */
import { join } from 'node:path'
import { MessageChannel } from 'node:worker_threads'
import t, { type Test } from 'tap'
import { COALESCED_BYTES_MAX } from '../../../src/schemas/files/file-limits.ts'
import { receive, UNLIMITED } from '../../../src/server/files/receive.ts'
import { FormUpload } from '../../../src/server/http/body/multipart.ts'
import { UploadBody } from '../../../src/server/http/body/upload.ts'
import { SALT_BYTES, SEGMENT_BYTES } from '../../../src/workers/seal/format.ts'
import { IntakeWork } from '../../../src/workers/sessions/intake-work.ts'
import { gate } from '../../support/gate.ts'
import { must } from '../../support/must.ts'
import { DATA_KEY_ID, dataKey, openSealed, openSessions, text } from '../../support/files/sessions.ts'
import { openFolder } from '../../support/files/storage.ts'
import { filePart, form } from '../../support/files/upload-echo.ts'

/** Starting and ending threads is slow on a machine that does ten other things. */
t.setTimeout(600_000)

/** Bytes that the library reads at once. */
const CHUNK_BYTES = 524_288
const CHUNKS = 16
const BOUNDARY = 'bound'

/** Counts the bytes that this thread copies from one buffer to another. */
function copiesOf(t: Test): { bytes: number } {
  const count = { bytes: 0 }
  const { set } = Uint8Array.prototype
  const { from, concat } = Buffer
  t.teardown(() => {
    Uint8Array.prototype.set = set
    Object.assign(Buffer, { from, concat })
  })
  Uint8Array.prototype.set = function (source: ArrayLike<number>, at?: number): void {
    count.bytes += source.length
    set.call(this, source, at)
  }
  const copying = (value: unknown, ...more: unknown[]): Buffer => {
    if (value instanceof Uint8Array) count.bytes += value.length
    return Reflect.apply(from, Buffer, [value, ...more]) as Buffer
  }
  const joining = (parts: readonly Uint8Array[], length?: number): Buffer => {
    for (const part of parts) count.bytes += part.length
    return concat(parts, length)
  }
  Object.assign(Buffer, { from: copying, concat: joining })
  return count
}

t.test('the event loop copies each byte of a file once, into the buffer that a thread gets', async (t) => {
  const stand = await openSessions(t)
  const body = form([filePart(text(CHUNKS * CHUNK_BYTES))], BOUNDARY)
  let room = gate()
  const upload = new UploadBody({
    declared: body.length,
    bytesMax: body.length,
    timers: { start: () => ({ stop: () => undefined, putOff: () => undefined }) },
    socket: {
      pauseBody: () => void (room = gate()),
      resumeBody: () => room.open(),
      restartDeadline: () => undefined,
    },
  })
  room.open()
  const chunks: ArrayBuffer[] = []
  for (let at = 0; at < body.length; at += CHUNK_BYTES)
    chunks.push(Uint8Array.from(body.subarray(at, at + CHUNK_BYTES)).buffer)
  const received = receive(
    new FormUpload(upload, { declared: body.length, boundary: BOUNDARY }),
    openSealed(stand, 'file_a'),
    UNLIMITED,
  )
  const copied = copiesOf(t)
  for (const [nth, chunk] of chunks.entries()) {
    await room.opened
    upload.chunk(chunk, nth === chunks.length - 1)
  }
  t.equal(must(await received).verdict.sizeBytes, CHUNKS * CHUNK_BYTES)
  t.ok(copied.bytes >= CHUNKS * CHUNK_BYTES, `${copied.bytes} bytes were seen`)
  // The parser of the form gets a copy of the beginning and of the end.
  t.ok(copied.bytes <= CHUNKS * CHUNK_BYTES + 2 * SEGMENT_BYTES, `${copied.bytes} bytes`)
})

t.test('a thread copies no byte of a piece followed by another, and otherwise one segment', async (t) => {
  const { port1: port } = new MessageChannel()
  t.teardown(() => port.close())
  const path = join(await openFolder(t), 'object')
  const salt = new Uint8Array(SALT_BYTES)
  const seal = { dataKey: dataKey().key, dataKeyId: DATA_KEY_ID, objectId: 'file_a', salt }
  const output = { post: () => undefined, end: () => undefined }
  const work = new IntakeWork({ kind: 'intake', port, path, content: 'any', seal }, output)
  t.teardown(() => work.release())
  const push = (): void => {
    work.receive({ kind: 'piece', bytes: new ArrayBuffer(COALESCED_BYTES_MAX), length: COALESCED_BYTES_MAX })
  }
  const copied = copiesOf(t)
  const rest = (): number => {
    copied.bytes = 0
    while (work.step()) continue
    return copied.bytes
  }
  for (let nth = 0; nth < CHUNKS; nth++) push()
  const many = rest()
  t.ok(many < 1.01 * SEGMENT_BYTES, `${many} bytes of ${CHUNKS} pieces`)
  push()
  const one = rest()
  t.ok(one < 1.01 * SEGMENT_BYTES, `${one} bytes of one piece`)
})
