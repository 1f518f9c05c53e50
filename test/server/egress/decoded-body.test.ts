/** Streams in a content encoding that was not requested: decoded as they come, within bounds. D12, D22. */
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import t from 'tap'
import { fail } from '../../../src/schemas/failures.ts'
import { decodedBody } from '../../../src/server/egress/decoded-body.ts'
import type { ByteReader } from '../../../src/server/ports/byte-streams.ts'
import { cutAt, Pieces, Room, singly, textOf } from '../../support/inference/bodies/byte-pieces.ts'
import { ENCODINGS, packed, type Packing } from '../../support/inference/bodies/packed.ts'
import { must, present } from '../../support/must.ts'

const PACKINGS = Object.keys(ENCODINGS) as Packing[]
const EVENTS = ['data: é\n\n', ': hi\n\n', `data: ${'x'.repeat(5_000)}\n\n`, 'data: [DONE]\n\n']
const TEXT = EVENTS.join('')
const decoded = (body: ByteReader, packing: Packing, room: Room | null = null): ByteReader =>
  decodedBody(body, ENCODINGS[packing][0], room)

for (const packing of PACKINGS)
  t.test(`${packing}: decodes a body however its reads are split, and detects any cut-off`, async (t) => {
    const bytes = Buffer.concat(
      await packed(
        packing,
        EVENTS.map((event) => Buffer.from(event)),
      ),
    )
    t.equal(await textOf(decoded(new Pieces([bytes]), packing)), TEXT)
    t.equal(await textOf(decoded(new Pieces(singly(bytes)), packing)), TEXT)
    for (let at = 0; at <= bytes.length; at++) {
      t.equal(await textOf(decoded(new Pieces(cutAt(bytes, at)), packing)), TEXT)
      const begun = await textOf(decoded(new Pieces([bytes.subarray(0, at)]), packing))
      // A letter may be cut, too.
      t.ok(TEXT.startsWith(begun.replace('\ufffd', '')), `cut off at ${at}: ${begun}`)
    }
  })

for (const packing of PACKINGS)
  t.test(`${packing}: returns the bytes that a read completes before it reads again`, async (t) => {
    const pieces = await packed(
      packing,
      EVENTS.map((event) => Buffer.from(event)),
    )
    const body = new Pieces(pieces)
    const reader = decoded(body, packing)
    for (const [nth, event] of EVENTS.entries()) {
      let text = ''
      while (text.length < event.length) text += Buffer.from(present(must(await reader.next()))).toString()
      t.equal(text, event)
      t.equal(body.reads, nth + 1)
    }
    t.equal(must(await reader.next()), null)
    t.equal(must(await reader.next()), null)
    reader.close()
    t.ok(body.isClosed)
  })

t.test('a small body that decodes to a very large one is decoded one piece at a time', async (t) => {
  const size = 64 * 1024 * 1024
  for (const [encoding, bomb] of [
    ['gzip', gzipSync(Buffer.alloc(size))],
    ['br', brotliCompressSync(Buffer.alloc(size), { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } })],
  ] as const) {
    const reader = decodedBody(new Pieces([bomb]), encoding, null)
    const before = process.memoryUsage().external
    let bytes = 0
    let most = 0
    for (let piece = must(await reader.next()); piece !== null; piece = must(await reader.next())) {
      bytes += piece.length
      most = Math.max(most, piece.length)
    }
    t.equal(bytes, size, encoding)
    t.ok(most <= 256 * 1024, `${encoding}: a piece has ${most} bytes`)
    t.ok(process.memoryUsage().external - before < size / 2, encoding)
  }
})

t.test('the window of Brotli is charged to the answer budget, and released again', async (t) => {
  const size = 4 * 1024 * 1024
  const bytes = brotliCompressSync(Buffer.alloc(size), { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } })
  const room = new Room()
  const reader = decodedBody(new Pieces([bytes]), 'br', room)
  while (must(await reader.next()) !== null) t.ok(room.bytes <= 2 * size)
  t.ok(room.bytes >= size)
  reader.close()
  t.equal(room.bytes, 0)
  t.equal(await textOf(decodedBody(new Pieces([bytes]), 'br', new Room(1024 * 1024))), 'busy')
  const small = brotliCompressSync('data: x\n\n')
  t.equal(await textOf(decodedBody(new Pieces([small]), 'br', new Room(0))), 'data: x\n\n')
})

t.test('a body without an encoding is unchanged; unknown encodings or damage are invalid', async (t) => {
  const plain = new Pieces([Buffer.from('data: x\n\n')])
  for (const encoding of ['', ' Identity ']) t.equal(decodedBody(plain, encoding, null), plain)
  for (const encoding of ['zstd', 'br, gzip', 'compress'])
    t.equal(await textOf(decodedBody(new Pieces([Buffer.from('x')]), encoding, null)), 'upstream_invalid')
  const bytes = gzipSync('data: x\n\n')
  bytes.fill(0xff, 4, 20)
  for (const packing of PACKINGS) {
    t.equal(
      await textOf(decoded(new Pieces([Buffer.from('\xff\xff\xff\xff\xffdata: x\n\n', 'latin1')]), packing)),
      'upstream_invalid',
      packing,
    )
    t.equal(await textOf(decoded(new Pieces([]), packing)), '')
    t.equal(await textOf(decoded(new Pieces([], fail('upstream_failed')), packing)), 'upstream_failed')
  }
  t.equal(await textOf(decodedBody(new Pieces([bytes]), 'gzip', null)), 'upstream_invalid')
})

t.test('closing a reader ends its wait', async (t) => {
  const body = new Pieces([gzipSync('data: x\n\n').subarray(0, 12)], 'never')
  const reader = decodedBody(body, 'gzip', null)
  const waiting = reader.next()
  await new Promise((resolve) => setImmediate(resolve))
  reader.close()
  t.match(await waiting, { ok: false, failure: { name: 'client_gone' } })
  t.match(await reader.next(), { ok: false })
})
