import t from 'tap'
import { ADMIN_BODY_BYTES_MAX } from '../../../../src/schemas/operator/admin-port-limits.ts'
import { FOREIGN_KEY, OPERATOR_KEY, type Script } from '../../../support/operator/admin-port.ts'
import { rawClient } from '../../../support/wire/raw-http.ts'
import { AUTHORIZED, echo, relayStands } from '../../../support/operator/relay-stand.ts'

const CLIP = Buffer.alloc(8 * 2 ** 20, 'clip')

interface Echo {
  readonly method: string
  readonly url: string
  readonly rawHeaders: readonly string[]
  readonly body: string
}

for (const { method, body } of [
  { method: 'GET' },
  { method: 'POST', body: '{"name":"a"}' },
  { method: 'POST' },
  { method: 'PUT', body: '{}' },
  { method: 'PATCH', body: '{}' },
  { method: 'DELETE' },
]) {
  t.test(`a ${method} ${body === undefined ? 'without' : 'with'} a body is relayed as it is`, async (t) => {
    const { stand } = await relayStands(t, echo)
    const input = {
      method,
      headers: { authorization: `Bearer ${OPERATOR_KEY}`, 'idempotency-key': 'k' },
      ...(body === undefined ? {} : { body }),
    }
    const answer = await stand.ask('/api/v1/keys/a%2Fb?limit=1&x=%20', input)
    const got = JSON.parse(answer.body.toString()) as Echo
    t.match(got, { method, url: '/api/v1/keys/a%2Fb?limit=1&x=%20', body: body ?? '' })
    t.equal(got.rawHeaders[got.rawHeaders.indexOf('idempotency-key') + 1], 'k')
    t.match(answer, {
      status: 201,
      headers: { 'x-request-id': 'r'.repeat(20), 'x-content-type-options': 'nosniff' },
    })
    t.notOk('x-secret' in answer.headers)
  })
}

t.test(
  'error pages and guides of the public port are served without a key; the API reference is not',
  async (t) => {
    const pages = [
      '/docs/errors/model_unknown',
      '/docs/errors',
      '/docs/guides.css',
      '/docs/guides.js',
      '/docs/guides-index.js',
      '/docs/guides/',
      '/docs/guides/models',
    ]
    const { front, stand } = await relayStands(t, echo)
    for (const path of pages) {
      t.match(await stand.ask(path, { headers: {} }), { status: 201 }, path)
    }
    t.equal((await stand.ask('/docs/errors/x', { method: 'POST', headers: {} })).status, 405)
    for (const path of ['/docs', '/docs/', '/openapi.json', '/docs/reference.js', '/docs/reference/keys'])
      t.equal((await stand.ask(path, { headers: {} })).status, 404, path)
    t.same(
      front.asked,
      pages.map((path) => `GET ${path}`),
    )
  },
)

t.test('connection, browser and proxy headers are not relayed, and only one credential is', async (t) => {
  const { stand } = await relayStands(t, echo)
  const client = rawClient(stand.port)
  client.send(
    `POST /api/v1/keys HTTP/1.1\r\n${AUTHORIZED}authorization: Bearer ${FOREIGN_KEY}\r\norigin: https://a.example\r\ncookie: a=b\r\n` +
      'forwarded: for=1.2.3.4\r\nx-forwarded-for: 1.2.3.4\r\nx-real-ip: 1.2.3.4\r\nvia: x\r\nconnection: close, x-hop\r\nx-hop: 1\r\nte: trailers\r\n' +
      'transfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n',
  )
  const text = await client.closed()
  const { rawHeaders, body } = JSON.parse(/\{"method.*\}/.exec(text)?.[0] ?? '{}') as Echo
  const names = rawHeaders.filter((_, at) => at % 2 === 0).map((name) => name.toLowerCase())
  t.same(names.filter((name) => !['host', 'connection'].includes(name)).sort(), [
    'authorization',
    'transfer-encoding',
  ])
  t.equal(rawHeaders[rawHeaders.indexOf('authorization') + 1], `Bearer ${OPERATOR_KEY}`)
  t.equal(body, '{}')
})

for (const [who, headers, status] of [
  ['a caller without credentials', {}, 401],
  ["another organization's key", { authorization: `Bearer ${FOREIGN_KEY}` }, 403],
  ['a caller with an invalid key', { authorization: 'Bearer x' }, 401],
] as const) {
  t.test(`requests of ${who} never reach the public port`, async (t) => {
    const { front, stand } = await relayStands(t, echo)
    for (const path of ['/api/v1/keys', '/api/v1/admin/live', '/api/v1/admin/live?once'])
      t.equal((await stand.ask(path, { headers })).status, status)
    t.same(
      front.asked.filter((one) => !one.endsWith('/admin/session')),
      [],
    )
  })
}

t.test('nothing outside the API is relayed', async (t) => {
  const { front, stand } = await relayStands(t, echo)
  for (const path of [
    '/scim/v2/Users',
    '/egress/a.example/',
    '/docs',
    '/openapi.json',
    '/api/v2/keys',
    '/api/v1',
    'http://a.example/api/v1/keys',
  ]) {
    t.match(await stand.ask(path), { status: 404, error: 'route_unknown' })
  }
  t.same(front.asked, [])
})

const serveClip: Script = (request, response) => {
  const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '') ?? []
  const part = from === undefined ? CLIP : CLIP.subarray(Number(from), Number(to) + 1)
  const range = from === undefined ? {} : { 'content-range': `bytes ${from}-${to}/${CLIP.length}` }
  response.writeHead(from === undefined ? 200 : 206, {
    'content-type': 'video/mp4',
    'content-length': part.length,
    'accept-ranges': 'bytes',
    ...range,
  })
  response.end(request.method === 'HEAD' ? undefined : part)
}

t.test('relays a whole clip, a range of it, and its headers', async (t) => {
  const { stand } = await relayStands(t, serveClip)
  t.ok((await stand.ask('/api/v1/clip')).body.equals(CLIP))
  const part = await stand.ask('/api/v1/clip', {
    headers: { authorization: `Bearer ${OPERATOR_KEY}`, range: 'bytes=4-7' },
  })
  t.match(part, {
    status: 206,
    headers: { 'content-range': `bytes 4-7/${CLIP.length}`, 'content-type': 'video/mp4' },
  })
  t.equal(part.body.toString(), 'clip')
  const head = await stand.ask('/api/v1/clip', { method: 'HEAD' })
  t.match(head, { status: 200, headers: { 'content-length': String(CLIP.length) }, body: { length: 0 } })
})

t.test(
  'refuses a body whose announced or actual length is too large, and keeps the connection',
  async (t) => {
    const { front, stand } = await relayStands(t, echo)
    t.match(
      await stand.ask('/api/v1/keys', { method: 'POST', body: Buffer.alloc(ADMIN_BODY_BYTES_MAX + 1) }),
      { status: 413, error: 'body_too_large' },
    )
    t.same(front.asked, ['GET /api/v1/admin/session'])
    t.equal(
      (await stand.ask('/api/v1/keys', { method: 'POST', body: Buffer.alloc(ADMIN_BODY_BYTES_MAX) })).status,
      201,
    )
    const client = rawClient(stand.port)
    client.send(
      `POST /api/v1/keys HTTP/1.1\r\n${AUTHORIZED}transfer-encoding: chunked\r\n\r\n${(ADMIN_BODY_BYTES_MAX + 1).toString(16)}\r\n`,
    )
    client.send(Buffer.alloc(ADMIN_BODY_BYTES_MAX + 1))
    await client.until(/^HTTP\/1\.1 413 /)
    client.send(`\r\n0\r\n\r\nGET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n`)
    await client.until(/alive/)
    client.destroy()
  },
)
