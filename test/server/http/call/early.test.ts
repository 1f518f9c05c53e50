/** What the head alone decides is answered before the body is awaited. C38. */
import t, { type Test } from 'tap'
import type { AnyOperation, Operation } from '../../../../src/server/operations/define.ts'
import type { Ports } from '../../../../src/server/ports/ports.ts'
import { AUTHORIZATION, LIMITED_KEY, openFront, operation, patient } from '../../../support/front.ts'
import { rawClient, requestText } from '../../../support/wire/raw-http.ts'

const MIB = 1024 * 1024
const NOTHING = { calls: 0, timers: 0, bodyBytes: 0 }
const json = { authorization: AUTHORIZATION, 'content-type': 'application/json' }
const upload: Partial<Operation> = { id: 'test.upload', path: '/upload', input: { upload: 'raw' } }
const limited: Partial<Operation> = { id: 'test.limited', path: '/limited', statuses: [400, 401, 429] }
const managed: Partial<Operation> = { id: 'test.managed', path: '/managed', access: { keys: ['management'] } }

const open = (t: Test, more: readonly AnyOperation[] = []) =>
  openFront(
    t,
    [
      operation({ statuses: [400, 401, 413, 415] }),
      operation(upload),
      operation(limited),
      operation(managed),
      ...more,
    ],
    { timers: patient() },
  )

/** Status, request line, headers; the body is announced and never comes. */
const REFUSED: readonly (readonly [number, string, Readonly<Record<string, string>>])[] = [
  [401, 'POST /api/v1/echo', {}],
  [401, 'POST /api/v1/upload', { authorization: 'Bearer nobody' }],
  [403, 'POST /api/v1/managed', json],
  [404, 'POST /api/v1/nowhere', json],
  [404, 'PUT /elsewhere', {}],
  [405, 'PUT /api/v1/echo', json],
  [413, 'POST /api/v1/echo', { ...json, 'content-length': String(33 * MIB) }],
  [413, 'POST /api/v1/upload', { ...json, 'content-length': String(101 * MIB) }],
  [415, 'POST /api/v1/echo', { ...json, 'content-type': 'text/plain' }],
  [429, 'POST /api/v1/limited', { ...json, authorization: `Bearer ${LIMITED_KEY}` }],
]

for (const [how, announced] of [
  ['a large', { 'content-length': String(MIB) }],
  ['a chunked', { 'transfer-encoding': 'chunked' }],
] as const) {
  t.test(`a refusal based on the head does not wait for ${how} body`, async (t) => {
    const { port, front } = await open(t)
    for (const [status, line, headers] of REFUSED) {
      if (headers['content-length'] !== undefined && 'transfer-encoding' in announced) continue
      const client = rawClient(port)
      // The clock of the front stands still: whatever waited for the body would wait for ever.
      client.send(requestText(line, { ...announced, ...headers }))
      const text = await client.until(/\}$/)
      t.match(text, new RegExp(`^HTTP/1\\.1 ${status} [^]*connection: close`), `${status} ${line}`)
      client.destroy()
    }
    while (front.load.calls > 0) await new Promise(setImmediate)
    t.same(front.load, NOTHING)
  })
}

for (const [how, pieces] of [
  ['in one packet with its body', (head: string) => [`${head}a small body`]],
  ['whose body follows at once', (head: string) => [head, 'a small body']],
] as const) {
  t.test(`a refusal of a request ${how} is sent whole before its connection ends`, async (t) => {
    const { port, front } = await open(t)
    for (const connection of ['close', 'keep-alive']) {
      for (const [status, line, headers] of REFUSED) {
        if (status === 413) continue
        const client = rawClient(port)
        for (const piece of pieces(requestText(line, { ...headers, connection, 'content-length': '12' })))
          client.send(piece)
        t.match(
          await client.until(/\}$/),
          new RegExp(`^HTTP/1\\.1 ${status} `),
          `${status} ${line}, ${connection}`,
        )
        client.destroy()
      }
    }
    while (front.load.calls > 0) await new Promise(setImmediate)
    t.same(front.load, NOTHING)
  })
}

t.test('a refusal by the head does not wait for the first call with its idempotency key', async (t) => {
  const slow = operation({
    id: 'test.slow',
    path: '/slow',
    idempotent: true,
    outlivesClient: true,
    statuses: [400, 401, 409, 413, 415, 500, 503],
  })
  const first = { begin: () => new Promise(() => undefined) } as unknown as Ports['idempotency']
  const { port } = await openFront(t, [slow], { timers: patient(), ports: { idempotency: first } as Ports })
  for (const [status, more] of [
    [415, { 'content-type': 'text/plain' }],
    [413, { 'content-length': String(33 * MIB) }],
  ] as const) {
    const client = rawClient(port)
    const headers = { ...json, 'idempotency-key': 'k', 'content-length': String(MIB), ...more }
    client.send(requestText('POST /api/v1/slow', headers))
    t.match(await client.until(/\}$/), new RegExp(`^HTTP/1\\.1 ${status} `))
    client.destroy()
  }
})

t.test(
  'a client that waits for 100 Continue and is refused is disconnected, however small its body',
  async (t) => {
    const { port } = await open(t)
    const client = rawClient(port)
    client.send(requestText('POST /api/v1/echo', { expect: '100-continue', 'content-length': '24' }))
    t.match(await client.until(/\}$/), /HTTP\/1\.1 401 [^]*connection: close/)
    client.send('{"model":"m","input":""}')
    t.equal((await client.closed()).split('HTTP/1.1').length, 3, '100 and 401')
  },
)
