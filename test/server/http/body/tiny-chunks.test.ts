/** Bodies in chunks so small or so slow that they would cost more than they bring. */
import t from 'tap'
import {
  BODY_PACE_MS,
  BODY_STALL_MS,
  TINY_CHUNK_BYTES,
  TINY_CHUNKS_MAX,
} from '../../../../src/schemas/limits/limits.ts'
import type { Failure } from '../../../../src/schemas/failures.ts'
import {
  BODY_BYTES_PER_S_MIN,
  GATHERED_BYTES_MIN,
  UploadBody,
} from '../../../../src/server/http/body/upload.ts'
import { openFront } from '../../../support/front.ts'
import {
  answerOf,
  beginUpload,
  fieldPart,
  filePart,
  form,
  uploadEcho,
} from '../../../support/files/upload-echo.ts'
import { movedTimers } from '../../../support/moved-timers.ts'

const oneByOne = (bytes: Uint8Array): Buffer =>
  Buffer.concat([...bytes].map((byte) => Buffer.from([0x31, 0x0d, 0x0a, byte, 0x0d, 0x0a])))

for (const [kind, body] of [
  ['raw', Buffer.alloc(100_000, 'x')],
  ['form', form([fieldPart('a', 'b'.repeat(60_000)), filePart('x'.repeat(40_000))])],
] as const) {
  t.test(`a ${kind} body in chunks of one byte reads the same, up to TINY_CHUNKS_MAX chunks`, async (t) => {
    const { port } = await openFront(t, [uploadEcho(kind)])
    const fine = beginUpload(port, null)
    fine.send(Buffer.concat([oneByOne(body), Buffer.from('0\r\n\r\n')]))
    t.match(await answerOf(fine), { status: 200, body: { sizeBytes: kind === 'raw' ? 100_000 : 40_000 } })
    const endless = beginUpload(port, null)
    for (let sent = 0; sent <= TINY_CHUNKS_MAX; sent += 8_192) endless.send('1\r\nx\r\n'.repeat(8_193))
    t.match(await endless.until(/\r\n\r\n\{[^]*\}$/), /^HTTP\/1\.1 400 [^]*(tiny chunks|form)/)
    await endless.closed()
  })
}

t.test('chunks of at least TINY_CHUNK_BYTES are not limited in number', async (t) => {
  const stand = body()
  const chunk = new ArrayBuffer(TINY_CHUNK_BYTES)
  for (let nth = 0; nth < TINY_CHUNKS_MAX + 10; nth++) stand.body.chunk(chunk, false)
  t.same(stand.failures, [])
  stand.body.stop()
})

t.test('the receiver of a body gets few pieces, however many chunks arrive', async (t) => {
  const stand = body()
  for (let nth = 0; nth < 85_000; nth++) stand.body.chunk(new ArrayBuffer(1), nth === 84_999)
  t.same(
    stand.sizes.reduce((sum, size) => sum + size, 0),
    85_000,
  )
  t.ok(stand.sizes.length <= Math.ceil(85_000 / GATHERED_BYTES_MIN), `${stand.sizes.length} pieces`)
  t.same([stand.hasEnded(), stand.timers.count], [true, 0])
})

t.test('chunks that arrive before the body is read become one piece', async (t) => {
  const stand = body(false)
  for (let nth = 0; nth < 85_000; nth++) stand.body.chunk(new ArrayBuffer(1), false)
  stand.receive()
  t.same(stand.sizes, [85_000])
  stand.body.stop()
})

t.test('a few bytes are passed on after a short wait even when no more arrive', async (t) => {
  const stand = body()
  stand.body.chunk(new ArrayBuffer(3), false)
  t.same(stand.sizes, [])
  await stand.pass(100)
  t.same(stand.sizes, [3])
  stand.body.stop()
})

t.test('a body that never stalls but is too slow on average is refused', async (t) => {
  const stand = body()
  const step = BODY_STALL_MS - 1_000
  for (let passed = 0; passed <= BODY_PACE_MS + step && stand.failures.length === 0; passed += step) {
    stand.body.chunk(new ArrayBuffer(1), false)
    await stand.pass(step)
  }
  t.same(stand.failures, [{ name: 'body_slow' }])
  t.equal(stand.timers.count, 0)
})

t.test('a body at the minimum rate, or one paused by Sluice, may take any time', async (t) => {
  const stand = body()
  const step = BODY_STALL_MS - 1_000
  for (let passed = 0; passed <= 3 * BODY_PACE_MS; passed += step) {
    stand.body.chunk(new ArrayBuffer(((BODY_BYTES_PER_S_MIN * step) / 1_000) * 1.2), false)
    await stand.pass(step)
  }
  stand.isFull = true
  stand.body.chunk(new ArrayBuffer(GATHERED_BYTES_MIN), false)
  await stand.pass(2 * BODY_PACE_MS)
  stand.isFull = false
  stand.body.goOn()
  await stand.pass(BODY_STALL_MS - 1_000)
  t.same(stand.failures, [])
  stand.body.stop()
})

/** A body without a socket, on a clock of its own. */
function body(isReceived = true) {
  const { timers, pass } = movedTimers()
  const upload = new UploadBody({
    declared: null,
    bytesMax: 2 ** 30,
    timers,
    socket: { pauseBody() {}, resumeBody() {}, restartDeadline() {} },
  })
  const sizes: number[] = []
  const failures: Failure[] = []
  let hasEnded = false
  const stand = {
    body: upload,
    timers,
    sizes,
    failures,
    isFull: false,
    hasEnded: () => hasEnded,
    receive: () =>
      upload.flow({
        take(bytes) {
          sizes.push(bytes.length)
          return !stand.isFull
        },
        end: () => (hasEnded = true),
        fail: (failure) => void failures.push(failure),
      }),
    pass,
  }
  if (isReceived) stand.receive()
  return stand
}
