/** Bugs that strike while an answer is written: its connection ends, and nothing else does. */
import t from 'tap'
import type { Success } from '../../../../src/server/operations/define.ts'
import { AUTHORIZATION, openFront, operation } from '../../../support/front.ts'
import { rawClient, requestText } from '../../../support/wire/raw-http.ts'

const MIB = 1024 * 1024
const NOTHING = { calls: 0, timers: 0, bodyBytes: 0 }
const body = '{"model":"m","input":"x"}'
const plain = requestText(
  'POST /api/v1/echo',
  { authorization: AUTHORIZATION, 'content-length': String(body.length) },
  body,
)
const chunked = requestText(
  'POST /api/v1/echo',
  { authorization: AUTHORIZATION, 'transfer-encoding': 'chunked' },
  `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`,
)

/** A part that cannot be written from the given piece on. */
class Broken extends Uint8Array {
  pieces = 0
  override subarray(begin?: number, end?: number): Uint8Array<ArrayBuffer> {
    if (this.pieces-- <= 0) throw new Error('broken part')
    return new Uint8Array(this.buffer).subarray(begin, end)
  }
}
function broken(pieces: number): Uint8Array {
  const part = new Broken(8 * MIB)
  part.pieces = pieces
  return part
}

const cases: readonly [string, string, () => readonly Uint8Array[]][] = [
  ['at once', plain, () => [broken(0)]],
  ['before its first byte', plain, () => [null as never]],
  ['when the reader has room again', plain, () => [broken(1)]],
  ['in the next turn', chunked, () => [null as never]],
]
for (const [when, request, parts] of cases) {
  t.test(`an unwritable answer ${when} ends its connection and counts as an internal error`, async (t) => {
    let returned = 0
    const value = (): Success => ({
      kind: 'bytes',
      parts: parts(),
      contentType: 'application/json',
      done: () => void returned++,
    })
    const { port, front, settled, untilSettled } = await openFront(t, [
      operation({ run: () => ({ ok: true, value: value() }) }),
    ])
    const client = rawClient(port)
    client.send(request)
    await client.closed()
    await untilSettled(1)
    t.match(settled, [{ failure: 'internal', isClientGone: true, cause: Error }])
    t.equal(settled.length, 1)
    t.equal(returned, 1)
    t.same(front.load, NOTHING)
  })
}

t.test('an answer whose memory release throws still reaches its client, and the call settles', async (t) => {
  const value: Success = {
    kind: 'bytes',
    parts: [Buffer.from('{}')],
    contentType: 'application/json',
    done: () => {
      throw new Error('broken return')
    },
  }
  const { port, front, settled } = await openFront(t, [operation({ run: () => ({ ok: true, value }) })])
  const client = rawClient(port)
  t.teardown(() => client.destroy())
  client.send(plain)
  t.match(await client.until(/\{\}$/), /^HTTP\/1\.1 200 /)
  t.match(settled, [{ status: 200, failure: 'internal', cause: { message: 'broken return' } }])
  t.same(front.load, NOTHING)
})
