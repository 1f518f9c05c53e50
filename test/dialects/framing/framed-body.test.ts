/** A body that was asked for as a stream, whatever its form, its pieces and its room. D12, D22. */
import t from 'tap'
import { fail, ok } from '../../../src/schemas/failures.ts'
import { STREAM_HELD_BYTES_MAX } from '../../../src/schemas/inference/stream-limits.ts'
import { UPSTREAM_WRITTEN_BYTES_MAX } from '../../../src/schemas/models/provider-limits.ts'
import type { ByteReader } from '../../../src/server/ports/byte-streams.ts'
import { reframe } from '../../../src/dialects/reframe.ts'
import { must } from '../../support/must.ts'
import { cutAt, Pieces, Room, singly, textOf } from '../../support/inference/bodies/byte-pieces.ts'
import { eventsIn } from '../../support/inference/accumulated.ts'
import { FramedBody } from '../../../src/server/upstream/inference/framing.ts'

function framed(body: ByteReader, room = new Room()): FramedBody {
  const events = (bytes: Uint8Array) =>
    Promise.resolve(ok(reframe({ protocol: 'chat', to: 'events' as const, bytes: Uint8Array.from(bytes) })))
  return new FramedBody(body, { room: () => room, events })
}

const ANSWER = { choices: [{ index: 0, message: { content: 'é' }, finish_reason: 'stop' }] }
t.test('events pass unchanged, however they are split into reads', async (t) => {
  for (const text of [
    'data: x\n\n',
    '\ufeffdata: x\n\n',
    '\r\n\r\n: hi\n\ndata: {}\n\n',
    'error',
    '\ufeff',
    ' \n',
  ]) {
    const bytes = Buffer.from(text)
    // A body of nothing but space has no events.
    const expected = text.trim() === '' ? '' : text
    t.equal(await textOf(framed(new Pieces(singly(bytes)))), expected)
    for (let at = 0; at <= bytes.length; at++) {
      const cut = await textOf(framed(new Pieces(cutAt(bytes, at))))
      if (cut !== expected) t.equal(cut, expected, `${JSON.stringify(text)} at ${at}`)
    }
  }
})

t.test('a whole answer becomes events, however it is split into reads', async (t) => {
  for (const begin of ['', '\ufeff', '\n\n  \r\n']) {
    const bytes = Buffer.from(`${begin}${JSON.stringify(ANSWER, null, 1)}\n`)
    const whole = await textOf(framed(new Pieces([bytes])))
    t.match(eventsIn(Buffer.from(whole)), [{ choices: [{ delta: { content: 'é' }, finish_reason: 'stop' }] }])
    t.equal(await textOf(framed(new Pieces(singly(bytes)))), whole)
    for (let at = 0; at <= bytes.length; at++) {
      const cut = await textOf(framed(new Pieces(cutAt(bytes, at))))
      if (cut !== whole) t.equal(cut, whole, `at ${at}`)
    }
  }
})

t.test('fails for a body that ends early, breaks off or is an HTML page', async (t) => {
  const bytes = Buffer.from(JSON.stringify(ANSWER))
  t.equal(await textOf(framed(new Pieces([bytes.subarray(0, -1)]))), 'upstream_invalid')
  t.equal(await textOf(framed(new Pieces([bytes], fail('upstream_failed')))), 'upstream_failed')
  t.equal(await textOf(framed(new Pieces([Buffer.from('\n<!DOCTYPE html>')]))), 'upstream_invalid')
})

t.test('an answer has the size limit of whole answers, and its memory counts while held', async (t) => {
  const piece = Buffer.alloc(1024 * 1024, 0x20)
  const pieces = [Buffer.from('{'), ...Array<Buffer>(UPSTREAM_WRITTEN_BYTES_MAX / piece.length).fill(piece)]
  t.equal(await textOf(framed(new Pieces(pieces))), 'upstream_too_large')
  const large = { ...ANSWER, x: 'x'.repeat(STREAM_HELD_BYTES_MAX * 4) }
  const body = new Pieces(cutAt(Buffer.from(JSON.stringify(large)), STREAM_HELD_BYTES_MAX * 2))
  const room = new Room()
  const reader = framed(body, room)
  must(await reader.next())
  t.ok(room.bytes > STREAM_HELD_BYTES_MAX * 4)
  reader.close()
  t.equal(room.bytes, 0)
  t.ok(body.isClosed)
  const crowded = framed(new Pieces([Buffer.from(JSON.stringify(large))]), new Room(STREAM_HELD_BYTES_MAX))
  t.equal(await textOf(crowded), 'busy')
})
