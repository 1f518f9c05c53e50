/** What a request sends to its destination, what comes back of the answer, and the failures. */
import { once } from 'node:events'
import { connect, type AddressInfo } from 'node:net'
import t from 'tap'
import { fail } from '../../../../src/schemas/failures.ts'
import { EGRESS_DEADLINE_MS } from '../../../../src/schemas/egress/egress-limits.ts'
import { ownWorkspaceOf } from '../../../../src/server/operations/define.ts'
import type { Destination } from '../../../../src/server/ports/egress/egress.ts'
import type { Ports } from '../../../../src/server/ports/ports.ts'
import { Timers } from '../../../../src/server/http/timers.ts'
import { forwardRequest } from '../../../../src/server/operations/egress/forward-request.ts'
import {
  egressText,
  errorOf,
  openEgressFront,
  textOf,
  type EgressFrontOptions,
} from '../../../support/egress/egress-front.ts'
import { INTERN_KEY, KEY, LIMITED_KEY } from '../../../support/front.ts'
import { testKey } from '../../../support/keys/key-store.ts'
import { rawClient } from '../../../support/wire/raw-http.ts'

interface Seen {
  readonly method: string
  readonly url: string
  readonly headers: readonly string[]
  readonly body: string
}

/** A target that answers with the request that it received. */
const echo: EgressFrontOptions['target'] = async (req, res) => {
  const seen: Seen = {
    method: req.method ?? '',
    url: req.url ?? '',
    headers: req.rawHeaders,
    body: await textOf(req),
  }
  res.end(JSON.stringify(seen))
}
const seenBy = async (answer: Response): Promise<Seen> => (await answer.json()) as Seen
const named = (headers: readonly string[], name: string): readonly string[] =>
  headers.filter((_, nth) => nth % 2 === 1 && headers[nth - 1]?.toLowerCase() === name)
const namesOf = (headers: readonly string[]): readonly string[] =>
  headers.filter((_, nth) => nth % 2 === 0).map((name) => name.toLowerCase())

t.test('egress.forward 200: method, path, query, headers and body arrive unchanged', async (t) => {
  const { ask } = await openEgressFront(t, { target: echo })
  const seen = await seenBy(
    await ask('/a%2Fb//c/..%2f/?x=%20+&&y', {
      method: 'PATCH',
      body: 'hello',
      headers: { authorization: 'Bearer own' },
    }),
  )
  t.match(seen, { method: 'PATCH', url: '/a%2Fb//c/..%2f/?x=%20+&&y', body: 'hello' })
  t.same(named(seen.headers, 'authorization'), ['Bearer own'])
})

t.test('a base URL without a path addresses the root of its host', async (t) => {
  const { ask } = await openEgressFront(t, { target: echo })
  t.equal((await seenBy(await ask(''))).url, '/')
  t.equal((await seenBy(await ask('/'))).url, '/')
  t.equal((await seenBy(await ask('?a=b'))).url, '/?a=b')
})

t.test('connection headers of the call are dropped, and `host` is the host of the target', async (t) => {
  const { port, base } = await openEgressFront(t, { target: echo })
  const client = rawClient(port)
  client.send(
    egressText(`GET ${new URL(base).pathname}/x`, [
      'connection: close, x-private',
      'x-private: 1',
      'keep-alive: timeout=5',
      'te: trailers',
      'proxy-authorization: Basic eA==',
      'forwarded: for=1.2.3.4',
      'x-forwarded-for: 1.2.3.4',
      'x-real-ip: 1.2.3.4',
      'expect: 200-ok',
      'upgrade: h2c',
      'traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
      'tracestate: a=b',
      'x-sluice-other: 1',
      'x-kept: first',
      'accept: */*',
      'x-kept: second',
    ]),
  )
  const seen = JSON.parse((await client.closed()).split('\r\n\r\n')[1] ?? '') as Seen
  t.same(
    namesOf(seen.headers).filter((name) => name !== 'connection'),
    ['host', 'x-kept', 'accept', 'x-kept'],
  )
  t.same(named(seen.headers, 'x-kept'), ['first', 'second'])
  t.same(named(seen.headers, 'host'), [new URL(`http://${base.split('/').at(-1) ?? ''}`).host])
})

t.test(
  'an answer keeps its status, its own request id and every cookie, but not the connection headers of the target',
  async (t) => {
    const { ask } = await openEgressFront(t, {
      target: (_, res) => {
        res.writeHead(
          418,
          [
            'set-cookie',
            'a=1',
            'set-cookie',
            'b=2',
            'x-request-id',
            'theirs',
            'x-sluice-error',
            'forged',
            'strict-transport-security',
            'max-age=1',
            'connection',
            'x-hop',
            'x-hop',
            '1',
            'proxy-authenticate',
            'Basic',
            'content-length',
            '3',
          ].map(String),
        )
        res.end('tea')
      },
    })
    const { status, headers } = await ask('/pot')
    t.equal(status, 418)
    t.same(headers.getSetCookie(), ['a=1', 'b=2'])
    t.match(Object.fromEntries(headers), {
      'x-request-id': 'theirs',
      'x-sluice-request-id': /^\w{20}$/,
      'content-length': '3',
    })
    for (const name of ['x-sluice-error', 'strict-transport-security', 'x-hop', 'proxy-authenticate'])
      t.notOk(headers.has(name), name)
  },
)

t.test('a redirect is returned to the client, not followed', async (t) => {
  const { ask } = await openEgressFront(t, {
    target: (_, res) => void res.writeHead(302, { location: 'http://169.254.169.254/' }).end(),
  })
  const answer = await ask('/')
  t.equal(answer.status, 302)
  t.equal(answer.headers.get('location'), 'http://169.254.169.254/')
  t.equal(
    answer.headers.get('x-request-id'),
    answer.headers.get('x-sluice-request-id'),
    'ours, where there is none',
  )
})

t.test('a compressed answer is passed on unchanged', async (t) => {
  const { ask } = await openEgressFront(t, {
    target: (req, res) =>
      void res.writeHead(200, { 'content-encoding': 'x-own' }).end(req.headers['accept-encoding']),
  })
  const answer = await ask('/', { headers: { 'accept-encoding': 'x-own' } })
  t.equal(answer.headers.get('content-encoding'), 'x-own')
  t.equal(await answer.text(), 'x-own')
})

t.test('accepts an intern key, and a key with the Bearer scheme', async (t) => {
  const { ask } = await openEgressFront(t, { target: echo })
  for (const key of [INTERN_KEY, `Bearer ${KEY}`])
    t.equal((await ask('/', { headers: { 'x-sluice-key': key } })).status, 200)
})

t.test('a key in `authorization` is for the target and does not authenticate the call', async (t) => {
  const { ask } = await openEgressFront(t, { target: echo })
  const answer = await ask('/', { headers: { 'x-sluice-key': '', authorization: `Bearer ${KEY}` } })
  const message = 'Send an API key as `x-sluice-key: <key>`.'
  t.match(await errorOf(answer), {
    status: 401,
    type: 'credentials_missing',
    header: 'credentials_missing',
    message,
  })
})

t.test('a Sluice key is passed on neither in a header nor in the query', async (t) => {
  const { ask } = await openEgressFront(t, { target: echo })
  t.match(await errorOf(await ask('/', { headers: { authorization: `Bearer ${KEY}` } })), {
    status: 400,
    type: 'header_invalid',
  })
  t.match(await errorOf(await ask(`/?key=${KEY.replace('sk', '%73k')}`)), {
    status: 400,
    type: 'query_invalid',
  })
})

t.test(
  'egress.forward 429: a key above its limit; limit headers of Sluice and the target are not mixed',
  async (t) => {
    const { ask } = await openEgressFront(t, { target: echo })
    t.match(await errorOf(await ask('/', { headers: { 'x-sluice-key': LIMITED_KEY } })), {
      status: 429,
      header: 'rate_limited',
    })
  },
)

t.test('egress.forward 400: destinations that the gate refuses, and malformed destinations', async (t) => {
  const { url } = await openEgressFront(t, { target: echo })
  const hosts = [
    '10.0.0.1',
    '[::1]',
    'localhost:22',
    'localhost:65536',
    'localhost:',
    'user@localhost',
    'local%68ost',
    '0x7f.1',
    'a..b',
    '127.0.0.1:80:80',
    '_',
  ]
  for (const host of hosts) {
    const answer = await fetch(`${url}/egress/${host}/x`, { headers: { 'x-sluice-key': KEY } })
    t.match(
      await errorOf(answer),
      { status: 400, type: 'destination_refused', header: 'destination_refused' },
      host,
    )
  }
})

t.test('CONNECT and TRACE, which would show a request to its sender, are not supported', async (t) => {
  const { port, base } = await openEgressFront(t, { target: echo })
  const client = rawClient(port)
  client.send(egressText(`TRACE ${new URL(base).pathname}/`, ['connection: close']))
  t.match(
    await client.closed(),
    /^HTTP\/1\.1 405 .*x-sluice-error: method_not_allowed.*allow: GET, HEAD, POST/s,
  )
})

t.test('egress.forward 502: a port without a listener, and a target that does not speak HTTP', async (t) => {
  const { url, ask, target } = await openEgressFront(t, {
    target: (req) => void req.socket.end('garbage\r\n\r\n'),
  })
  const message = /^The destination failed\. /
  t.match(await errorOf(await ask('/')), {
    status: 502,
    type: 'upstream_failed',
    header: 'upstream_failed',
    message,
  })
  // The near end of a connection: while it is open no other process gets its port, and none listens there.
  const held = connect((target.address() as AddressInfo).port, '127.0.0.1')
  await once(held, 'connect')
  t.teardown(() => held.destroy())
  t.match(
    await errorOf(
      await fetch(`${url}/egress/localhost:${held.localPort}/`, { headers: { 'x-sluice-key': KEY } }),
    ),
    { status: 502 },
  )
})

t.test('egress.forward 504: no answer within the deadline', async (t) => {
  t.equal(forwardRequest.deadlineMs, EGRESS_DEADLINE_MS)
  const { ask } = await openEgressFront(t, {
    target: () => undefined,
    operation: { deadlineMs: 100 },
    timers: new Timers(),
  })
  t.match(await errorOf(await ask('/')), { status: 504, header: /deadline_exceeded|upstream_slow/ })
})

t.test('egress.forward 503: the gate or the audit log has no room', async (t) => {
  const busy = () => Promise.resolve(fail('busy'))
  const ports = {
    egress: { vetted: () => ({ ok: true, value: { exchange: busy } }) },
    releases: { releaseAll: busy },
  } as unknown as Ports
  const { ask } = await openEgressFront(t, { target: echo, ports })
  t.match(await errorOf(await ask('/')), { status: 503, type: 'busy', header: 'busy' })
  t.match(await errorOf(await ask('/?k={{secret:k}}')), { status: 503, type: 'busy' })
})

t.test('Sluice answers a preflight without a key, and replaces the CORS headers of an answer', async (t) => {
  const { ask, base } = await openEgressFront(t, {
    target: (_, res) =>
      void res.writeHead(200, { 'access-control-allow-origin': 'https://other.example' }).end(),
    corsOrigins: ['https://app.example'],
  })
  const origin = 'https://app.example'
  const preflight = await fetch(`${base}/x`, {
    method: 'OPTIONS',
    headers: { origin, 'access-control-request-method': 'PUT' },
  })
  t.equal(preflight.status, 204)
  t.match(preflight.headers.get('access-control-allow-methods'), 'PUT')
  const { headers } = await ask('/x', { headers: { origin } })
  t.equal(headers.get('access-control-allow-origin'), origin)
  t.match(headers.get('access-control-expose-headers'), 'x-sluice-error')
})

t.test('the gate receives the workspace of the caller', async (t) => {
  const asked: (string | undefined)[] = []
  const egress = { vetted: ({ workspaceId }: Destination) => (asked.push(workspaceId), fail('busy')) }
  const { ask } = await openEgressFront(t, { target: echo, ports: { egress } as unknown as Ports })
  await ask('/')
  t.same(asked, [ownWorkspaceOf(testKey().record)])
})

t.test('the log of a call contains its host, but not its path, query and headers', async (t) => {
  const { ask, settled, untilSettled } = await openEgressFront(t, { target: echo, secrets: { k: 'v4lue' } })
  await (await ask('/private?q=private&k={{secret:k}}', { headers: { 'x-a': 'private' } })).text()
  await untilSettled(1)
  t.match(settled[0], {
    operation: 'egress.forward',
    status: 200,
    failure: null,
    notes: { host: 'localhost' },
  })
  t.notMatch(JSON.stringify(settled), /private|v4lue/)
})
