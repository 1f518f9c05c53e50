/** Answers that callers of one organization do not read: their memory in a front, and the calls it blocks. */
import t, { type Test } from 'tap'
import { STREAM_HELD_BYTES_MAX } from '../../../../src/schemas/inference/stream-limits.ts'
import type { Call } from '../../../../src/server/operations/define.ts'
import {
  accessTo,
  AUTHORIZATION,
  KEY,
  keyRecords,
  MANAGEMENT_KEY,
  openFront,
  operation,
  OTHER_KEY,
  patient,
} from '../../../support/front.ts'
import { gate } from '../../../support/gate.ts'
import { present } from '../../../support/must.ts'
import { rawClient, requestText, type RawClient } from '../../../support/wire/raw-http.ts'
import type { EventStream } from '../../../../src/server/ports/inference/inference.ts'

const MIB = 1024 * 1024
/** More than the buffers of two sockets take. */
const LARGE = Buffer.alloc(24 * MIB, 'x')
const access = { keys: ['inference', 'management'] } as const
const answer = (bytes: Uint8Array, isShared = false) =>
  ({ ok: true, value: { kind: 'bytes', parts: [bytes], contentType: 'text/plain', isShared } }) as const

/** A front with room for one large unread answer; a key of another organization is OTHER_KEY. */
async function openStand(t: Test) {
  let runs = 0
  const run =
    (bytes: Uint8Array, isShared = false) =>
    () => {
      runs++
      return answer(bytes, isShared)
    }
  const records = new Map(
    [...keyRecords()].map(([hash, record], at) => [
      hash,
      at === 1 ? { ...record, organizationId: 'other' } : record,
    ]),
  )
  const front = await openFront(
    t,
    [
      operation({ id: 'test.large', method: 'get', path: '/large', access, input: {}, run: run(LARGE) }),
      operation({
        id: 'test.shared',
        method: 'get',
        path: '/shared',
        access,
        input: {},
        run: run(LARGE, true),
      }),
      operation({
        id: 'test.small',
        method: 'get',
        path: '/small',
        access,
        input: {},
        run: run(Buffer.alloc(10)),
      }),
      operation({
        id: 'test.post',
        method: 'post',
        path: '/post',
        access,
        input: {},
        run: run(Buffer.alloc(10)),
      }),
      operation({
        id: 'test.remove',
        method: 'delete',
        path: '/removed',
        access,
        input: {},
        run: run(Buffer.alloc(10)),
      }),
    ],
    { access: accessTo(records), unreadBytesMax: MIB, timers: patient() },
  )
  const call = (path: string, key = KEY, method = 'GET') =>
    fetch(`${front.url}/api/v1${path}`, { method, headers: { authorization: `Bearer ${key}` } })
  const status = async (...to: Parameters<typeof call>): Promise<number> => {
    const reply = await call(...to)
    await reply.arrayBuffer()
    return reply.status
  }
  return { ...front, call, status, runs: () => runs }
}

/** A client that has the head of an answer, and reads no more. */
async function idleReader(t: Test, port: number, path = '/large'): Promise<RawClient> {
  const client = rawClient(port)
  t.teardown(() => client.destroy())
  client.send(requestText(`GET /api/v1${path}`, { authorization: AUTHORIZATION }))
  await client.until(/\r\n\r\n/)
  client.socket.pause()
  return client
}

t.test('an organization with too many unread answers is busy for reads until disconnection', async (t) => {
  const { port, call, status, untilSettled, runs } = await openStand(t)
  const reader = await idleReader(t, port)
  const before = runs()
  const refused = await call('/small')
  t.same([refused.status, refused.headers.get('retry-after')], [503, '1'])
  t.match(await refused.json(), {
    error: { metadata: { error_type: 'busy' }, message: /answers that its clients do not read/ },
  })
  t.equal(await status('/post', KEY, 'POST'), 503)
  t.equal(runs(), before, 'refused before anything is done for it')
  t.equal(await status('/removed', MANAGEMENT_KEY, 'DELETE'), 200, 'what changes something goes on')
  t.equal(await status('/small', OTHER_KEY), 200, 'others read on')
  reader.destroy()
  await untilSettled(5)
  t.equal(await status('/small'), 200)
})

t.test('answers that were read no longer count', async (t) => {
  const { status } = await openStand(t)
  for (let nth = 0; nth < 4; nth++) t.equal(await status('/large'), 200)
})

t.test('repeatable calls fail as busy when many large answers begin together', async (t) => {
  const waiting: (() => void)[] = []
  const late = () =>
    new Promise<ReturnType<typeof answer>>((resolve) => waiting.push(() => resolve(answer(LARGE))))
  const { port } = await openFront(
    t,
    [operation({ method: 'get', path: '/large', access, input: {}, run: late })],
    { unreadBytesMax: MIB, timers: patient() },
  )
  const clients = Array.from({ length: 4 }, () => rawClient(port))
  t.teardown(() => clients.forEach((client) => client.destroy()))
  for (const client of clients)
    client.send(requestText('GET /api/v1/large', { authorization: AUTHORIZATION }))
  await t.resolves(
    new Promise<void>((resolve) => {
      const look = (): void => void (waiting.length === clients.length ? resolve() : setImmediate(look))
      look()
    }),
  )
  for (const go of waiting) go()
  await Promise.all(clients.map((client) => client.until(/\r\n\r\n/)))
  t.same(clients.map(({ text }) => text.slice(9, 12)).sort(), ['200', '503', '503', '503'])
})

t.test('a shared answer uses no room', async (t) => {
  const { port, status } = await openStand(t)
  await idleReader(t, port, '/shared')
  t.equal(await status('/small'), 200)
})

t.test('a stream that its client does not read counts until the client reads it', async (t) => {
  const [begun, finish] = [gate(), gate()]
  let stream: EventStream | null = null
  const { port, url } = await openFront(
    t,
    [
      operation({
        id: 'test.events',
        method: 'get',
        path: '/events',
        access,
        input: {},
        outlivesClient: true,
        async run(call: Call) {
          stream = call.events({ headers: {}, silence: () => Buffer.alloc(0) })
          begun.open()
          await finish.opened
          stream.end()
          return { ok: true, value: { kind: 'streamed' } }
        },
      }),
      operation({
        id: 'test.small',
        method: 'get',
        path: '/small',
        access,
        input: {},
        run: () => answer(Buffer.alloc(10)),
      }),
    ],
    { unreadBytesMax: STREAM_HELD_BYTES_MAX, timers: patient() },
  )
  const status = async (): Promise<number> => {
    const reply = await fetch(`${url}/api/v1/small`, { headers: { authorization: AUTHORIZATION } })
    await reply.arrayBuffer()
    return reply.status
  }
  const client = rawClient(port)
  t.teardown(() => client.destroy())
  client.send(requestText('GET /api/v1/events', { authorization: AUTHORIZATION }))
  await begun.opened
  const open = present(stream as EventStream | null)
  open.write(Buffer.from('data: first\n\n'))
  await client.until(/first/)
  t.equal(await status(), 200, 'a client that reads has no limit')
  client.socket.pause()
  while (open.hasRoom) {
    open.write(Buffer.alloc(8_000, 'x'))
    await new Promise(setImmediate)
  }
  t.equal(await status(), 503)
  client.socket.resume()
  await open.room()
  t.equal(await status(), 200)
  finish.open()
})
