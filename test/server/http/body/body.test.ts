import t, { type Test } from 'tap'
import { EMBEDDINGS_BODY_BYTES_MAX } from '../../../../src/schemas/embeddings/embedding-limits.ts'
import {
  INLINE_ISSUES_BYTES_MAX,
  INLINE_JSON_BYTES_MAX,
  REFUSED_BODY_BYTES_MAX,
  TINY_CHUNKS_MAX,
} from '../../../../src/schemas/limits/limits.ts'
import { BulkBytes } from '../../../../src/schemas/bodies.ts'
import type { HttpOptions } from '../../../../src/server/http/front.ts'
import { Timers } from '../../../../src/server/http/timers.ts'
import type { Call } from '../../../../src/server/operations/define.ts'
import { createEmbeddings } from '../../../../src/server/operations/embeddings/create-embeddings.ts'
import {
  accessTo,
  AUTHORIZATION,
  hurried,
  keyRecords,
  LIMITED_KEY,
  openFront,
  operation,
  patient,
  threads,
} from '../../../support/front.ts'
import { rawClient, requestText } from '../../../support/wire/raw-http.ts'
import { pause } from '../../../support/wait.ts'
import {
  REFUSED_TINY_CHUNKS_MAX,
  UNKNOWN_CALLER_BODY_BYTES_MAX,
} from '../../../../src/server/http/body/refused-body.ts'

const MIB = 1024 * 1024
const authorized = { authorization: AUTHORIZATION }
const json = { ...authorized, 'content-type': 'application/json' }
const CHUNK = 'x'.repeat(64 * 1024)
const post = (url: string, body: string) =>
  fetch(`${url}/api/v1/echo`, { method: 'POST', headers: json, body })
const sized = (bytes: number): string => {
  const around = '{"model":"m","input":""}'.length
  return `{"model":"m","input":"${'x'.repeat(bytes - around)}"}`
}
/** Says how long the input was, and whether it came as bytes. */
const measure = operation({
  run(call: Call) {
    const { input } = call.body as { input: string | BulkBytes }
    const value = input instanceof BulkBytes ? { bulk: input.json.length - 2 } : { chars: input.length }
    return { ok: true, value: { kind: 'json', value } }
  },
})
/** Nothing ends by time, unless a test brings its own timers. */
const open = (t: Test, more: Partial<HttpOptions> = {}) =>
  openFront(t, [measure], { timers: patient(), ...more })
/** Eight seconds pass in a fifth of one. */
const errorOf = (text: string): unknown =>
  (JSON.parse(/\{"error".*\}/.exec(text)?.[0] ?? 'null') as { error?: { metadata?: unknown } } | null)?.error
    ?.metadata

t.test('reads a body of any size whole, small ones on the event loop, large ones as bytes', async (t) => {
  const { url, front } = await open(t)
  for (const bytes of [30, 70_000, INLINE_JSON_BYTES_MAX])
    t.same(await (await post(url, sized(bytes))).json(), { chars: bytes - 24 })
  for (const bytes of [INLINE_JSON_BYTES_MAX + 1, 3 * MIB, EMBEDDINGS_BODY_BYTES_MAX]) {
    const answer = await post(url, sized(bytes))
    t.same([answer.status, await answer.json()], [200, { bulk: bytes - 24 }])
  }
  t.same(front.load, { calls: 0, timers: 0, bodyBytes: 0 })
})

t.test('a chunked body of any size is read', async (t) => {
  const { port } = await open(t)
  for (const bytes of [30, 70_000, 300_000, 3 * MIB]) {
    const client = rawClient(port)
    const text = sized(bytes)
    client.send(requestText('POST /api/v1/echo', { ...authorized, 'transfer-encoding': 'chunked' }))
    for (let at = 0; at < bytes; at += 50_000) {
      const part = text.slice(at, at + 50_000)
      client.send(`${part.length.toString(16)}\r\n${part}\r\n`)
    }
    client.send('0\r\n\r\n')
    t.match(await client.closed(), new RegExp(`\\{"(?:chars|bulk)":${bytes - 24}\\}$`))
  }
})

t.test('an empty body is 400, with or without an announced length', async (t) => {
  const { port } = await open(t)
  for (const headers of [{}, { 'content-length': '0' }, { 'transfer-encoding': 'chunked' }]) {
    const client = rawClient(port)
    client.send(
      requestText(
        'POST /api/v1/echo',
        { ...authorized, ...headers },
        'transfer-encoding' in headers ? '0\r\n\r\n' : '',
      ),
    )
    t.match(errorOf(await client.until(/\}$/)), { error_type: 'body_malformed' })
    client.destroy()
  }
})

t.test(
  'a length above the limit is refused before the body is sent, and the connection is closed',
  async (t) => {
    const { port } = await open(t, { timers: new Timers() })
    const client = rawClient(port)
    client.send(
      requestText('POST /api/v1/echo', {
        ...authorized,
        'content-length': String(EMBEDDINGS_BODY_BYTES_MAX + 1),
      }),
    )
    const text = await client.closed()
    t.match(text, /^HTTP\/1\.1 413 Payload Too Large\r\n/)
    t.match(errorOf(text), { error_type: 'body_too_large' })
  },
)

t.test('a client that sends 40 MiB before it reads still gets its 413', async (t) => {
  const { port, front } = await open(t)
  const client = rawClient(port)
  client.send(
    requestText(
      'POST /api/v1/echo',
      { ...authorized, 'content-length': String(40 * MIB) },
      'x'.repeat(40 * MIB),
    ),
  )
  t.match(await client.closed(), /^HTTP\/1\.1 413 /)
  t.same(front.load, { calls: 0, timers: 0, bodyBytes: 0 })
})

t.test('a chunked body is refused once it exceeds the limit', async (t) => {
  const { port } = await open(t)
  const client = rawClient(port)
  client.send(requestText('POST /api/v1/echo', { ...authorized, 'transfer-encoding': 'chunked' }))
  const chunk = `${CHUNK.length.toString(16)}\r\n${CHUNK}\r\n`
  for (let sent = 0; sent <= EMBEDDINGS_BODY_BYTES_MAX; sent += CHUNK.length) client.send(chunk)
  client.send('0\r\n\r\n')
  t.match(await client.closed(), /^HTTP\/1\.1 413 /)
})

for (const [title, who, bytesMax] of [
  ['a body that is refused', authorized, REFUSED_BODY_BYTES_MAX],
  ['the body of a stranger', {}, UNKNOWN_CALLER_BODY_BYTES_MAX],
] as const) {
  t.test(`reads only a limited number of bytes of ${title}`, async (t) => {
    const { port } = await open(t)
    const client = rawClient(port)
    client.send(requestText('POST /api/v1/echo', { ...who, 'content-length': String(1024 * MIB) }))
    const more = (): void => {
      while (!client.isClosed && client.socket.writable && client.socket.write(CHUNK));
      client.socket.once('drain', more)
    }
    more()
    await client.closed()
    // What the kernels of both sides hold comes on top.
    t.ok(client.socket.bytesWritten > bytesMax)
    t.ok(client.socket.bytesWritten < bytesMax + 32 * MIB, `${client.socket.bytesWritten} bytes`)
  })
}

t.test('refuses a body in more than TINY_CHUNKS_MAX tiny chunks', async (t) => {
  const { port } = await open(t)
  const client = rawClient(port)
  client.send(requestText('POST /api/v1/echo', { ...json, 'transfer-encoding': 'chunked' }))
  for (let sent = 0; sent <= TINY_CHUNKS_MAX; sent += 8_192) client.send('1\r\n \r\n'.repeat(8_193))
  t.match(await client.closed(), /^HTTP\/1\.1 400 [^]*tiny chunks/)
})

t.test('reads only a small part of a refused body in tiny chunks', async (t) => {
  const { port } = await open(t)
  const client = rawClient(port)
  client.send(requestText('POST /api/v1/echo', { 'transfer-encoding': 'chunked' }))
  client.send('1\r\nx\r\n'.repeat(REFUSED_TINY_CHUNKS_MAX + 1))
  t.match(await client.closed(), /^HTTP\/1\.1 401 /)
})

t.test('a refused caller that has not sent its small body yet keeps its connection', async (t) => {
  const { port } = await open(t)
  const client = rawClient(port)
  t.teardown(() => client.destroy())
  client.send(requestText('POST /api/v1/echo', { 'content-length': '24' }))
  await client.until(/^HTTP\/1\.1 401[\s\S]*\}$/)
  client.send(
    sized(24) + requestText('POST /api/v1/echo', { ...authorized, 'content-length': '25' }, sized(25)),
  )
  t.match(await client.until(/\{"chars":1\}$/), /401 Unauthorized[\s\S]*200 OK/)
})

t.test('a body that stalls is 408, before its first byte and in the middle', async (t) => {
  const { port, front } = await open(t, { timers: hurried() })
  for (const begun of ['', '{"model":']) {
    const client = rawClient(port)
    client.send(requestText('POST /api/v1/echo', { ...authorized, 'content-length': '100' }, begun))
    t.match(errorOf(await client.until(/\}$/)), { error_type: 'body_slow' })
    client.destroy()
  }
  t.equal(front.load.bodyBytes, 0)
})

t.test('embeddings.create 408: a body that never arrives', async (t) => {
  const { port } = await openFront(t, [createEmbeddings], { timers: hurried() })
  const client = rawClient(port)
  t.teardown(() => client.destroy())
  client.send(requestText('POST /api/v1/embeddings', { ...authorized, 'content-length': '100' }, '{"model":'))
  t.match(await client.until(/\}$/), /^HTTP\/1\.1 408 Request Timeout\r\n[\s\S]*body_slow/)
})

t.test('a large body is not read until its caller is known', async (t) => {
  let open = (): void => undefined
  const loaded = new Promise<void>((resolve) => {
    open = resolve
  })
  const { port, front } = await openFront(t, [measure], { access: accessTo(keyRecords(), () => loaded) })
  const client = rawClient(port)
  t.teardown(() => client.destroy())
  const text = sized(20 * MIB)
  client.send(
    requestText('POST /api/v1/echo', { ...authorized, 'content-length': String(text.length) }, text),
  )
  await pause(200)
  t.ok(front.load.bodyBytes < 2 * MIB, 'the socket was paused')
  open()
  t.match(await client.until(/"bulk":\d+\}$/), new RegExp(`"bulk":${text.length - 24}\\}$`))
})

t.test('a front that holds its maximum of body bytes answers 503', async (t) => {
  const { url, front } = await open(t, { bodiesBytesMax: 2 * MIB })
  const answer = await post(url, sized(3 * MIB))
  t.equal(answer.status, 503)
  t.equal(answer.headers.get('retry-after'), '1')
  t.equal((await post(url, sized(MIB))).status, 200)
  t.equal(front.load.bodyBytes, 0)
})

t.test('lengths that are only announced take no room from others', async (t) => {
  const { url, port, front } = await open(t)
  const announced = requestText('POST /api/v1/echo', {
    ...authorized,
    'content-length': String(EMBEDDINGS_BODY_BYTES_MAX),
  })
  const clients = Array.from({ length: 16 }, () => rawClient(port))
  for (const client of clients) client.send(announced + 'x'.repeat(300_000))
  while (front.load.bodyBytes < 16 * 300_000) await new Promise(setImmediate)
  t.ok(front.load.bodyBytes < 16 * MIB, `${front.load.bodyBytes} bytes`)
  t.equal((await post(url, sized(MIB))).status, 200)
  for (const client of clients) client.destroy()
})

t.test('a small body that arrives slowly is counted like a large one', async (t) => {
  const { port, front } = await open(t)
  const client = rawClient(port)
  client.send(requestText('POST /api/v1/echo', { ...json, 'content-length': '200000' }, 'x'.repeat(100_000)))
  while (front.load.bodyBytes < 100_000) await new Promise(setImmediate)
  client.destroy()
  while (front.load.calls > 0) await new Promise(setImmediate)
  t.equal(front.load.bodyBytes, 0)
})

t.test('the bodies of one key leave room for other keys', async (t) => {
  const { url, port, front } = await open(t, { bodiesBytesMax: 8 * MIB })
  const client = rawClient(port)
  client.send(
    requestText(
      'POST /api/v1/echo',
      { ...authorized, 'content-length': String(4 * MIB) },
      'x'.repeat(2 * MIB),
    ),
  )
  while (front.load.bodyBytes < 4 * MIB) await new Promise(setImmediate)
  t.equal((await post(url, sized(MIB))).status, 503)
  const other = { ...json, authorization: `Bearer ${LIMITED_KEY}` }
  t.equal(
    (await fetch(`${url}/api/v1/echo`, { method: 'POST', headers: other, body: sized(MIB) })).status,
    200,
  )
  client.destroy()
  while (front.load.calls > 0) await new Promise(setImmediate)
  t.equal((await post(url, sized(4 * MIB))).status, 200)
  t.equal(front.load.bodyBytes, 0)
})

t.test('the error in a large invalid body is not located on the event loop', async (t) => {
  let jobs = 0
  const counted: HttpOptions['jobs'] = {
    here: (name, input) => threads().here(name, input),
    run: (name, input, more) => (jobs++, threads().run(name, input, more)),
  }
  const { url } = await open(t, { jobs: counted })
  for (const [bytes, expected] of [
    [INLINE_ISSUES_BYTES_MAX, 0],
    [INLINE_ISSUES_BYTES_MAX + 1, 1],
    [INLINE_JSON_BYTES_MAX, 1],
  ] as const) {
    jobs = 0
    const start = '{"model":"m","input":['
    // Far between: many numbers are left to a thread, whatever their bytes.
    const number = '1,'.padEnd(20)
    const body = `${start}${number.repeat((bytes - start.length - 4) / number.length)}-1]}`.padEnd(bytes)
    const answer = await post(url, body)
    const { error } = (await answer.json()) as { error: { metadata: { issues: unknown[] } } }
    t.same([answer.status, error.metadata.issues.length, jobs], [400, 1, expected], `${body.length} bytes`)
    t.equal((await post(url, body.replace('-1', ' 1'))).status, 200)
    t.equal(jobs, expected, 'a valid one is read where it is')
  }
})

t.test('nothing of a body is logged, whether it is valid or not', async (t) => {
  const { url, lines, settled } = await open(t)
  for (const body of [
    '{"model":"m","input":"canary"}',
    '{"model":"canary',
    '{"model":"canary","input":[]}',
    '{"canary":1}',
  ])
    await post(url, body)
  t.equal(settled.length, 4)
  t.notMatch(JSON.stringify([lines, settled.map(({ cause, ...call }) => [String(cause), call])]), /canary/)
})
