/** Where placeholders are replaced, by which values, and when nothing is sent. */
import type { IncomingMessage } from 'node:http'
import t, { type Test } from 'tap'
import {
  egressText,
  errorOf,
  openEgressFront,
  textOf,
  type EgressFront,
} from '../../../support/egress/egress-front.ts'
import { INTERN_KEY } from '../../../support/front.ts'
import { rawClient } from '../../../support/wire/raw-http.ts'
import {
  EGRESS_FILLED_BODY_BYTES_MAX,
  EGRESS_SECRETS_MAX,
  EGRESS_SUBSTITUTED_BODY_BYTES_MAX,
} from '../../../../src/server/operations/egress/forward-request.ts'
import { EGRESS_FILLED_HEAD_BYTES_MAX } from '../../../../src/server/operations/egress/outgoing.ts'

const SECRETS = {
  plain: 'v4lue',
  odd: 'a b&c=d%"\\é',
  broken: 'a\r\nx-injected: 1',
  nul: 'a\u0000b',
  chained: '{{secret:plain}}',
  long: 'l'.repeat(65_536),
  json: '"},{"admin":true,"x":"',
  ...Object.fromEntries(Array.from({ length: 40 }, (_, nth) => [`s${nth}`, `value${nth}`])),
}

interface Stand extends EgressFront {
  /** Requests that arrived, in order. */
  readonly seen: readonly { readonly req: IncomingMessage; readonly body: string }[]
}

async function open(
  t: Test,
  answer: (req: IncomingMessage) => Record<string, string> = () => ({}),
): Promise<Stand> {
  const seen: { req: IncomingMessage; body: string }[] = []
  const front = await openEgressFront(t, {
    secrets: SECRETS,
    target: async (req, res) => {
      seen.push({ req, body: await textOf(req) })
      res.writeHead(200, answer(req)).end('done')
    },
  })
  return { ...front, seen }
}

t.test('each placeholder in a header is replaced by its value, at any position', async (t) => {
  const { ask, seen, releases } = await open(t)
  const twice = '{{secret:plain}}-{{secret:plain}}'
  await ask('/', {
    headers: {
      authorization: 'Bearer {{secret:plain}}',
      'x-a': twice,
      'x-b': '{{other}} {{ secret:x }} {{{{secret:plain}}}}',
    },
  })
  t.match(seen[0]?.req.headers, {
    authorization: 'Bearer v4lue',
    'x-a': 'v4lue-v4lue',
    'x-b': '{{other}} {{ secret:x }} {{v4lue}}',
  })
  t.equal(releases.length, 1)
})

t.test('a release records its actor, its scope and its request', async (t) => {
  const { ask, releases } = await open(t)
  await ask('/', { headers: { 'x-sluice-key': INTERN_KEY, 'x-request-id': 'mine', a: '{{secret:plain}}' } })
  t.match(releases, [
    {
      name: 'plain',
      host: 'localhost',
      operation: 'egress.forward',
      by: { actor: { kind: 'key', id: /^[0-9a-f]{64}$/ }, requestId: 'mine' },
      scope: { organizationId: 'o', workspaceId: 'w', internId: /./ },
    },
  ])
})

t.test('a placeholder in the query is found in every encoding, and its value is encoded', async (t) => {
  const { ask, seen } = await open(t)
  await ask(
    '/x?a={{secret:odd}}&b=%7B%7Bsecret:plain%7D%7D&c=%7b%7bs%65cret%3apl%61in%7d%7d&d=1%26{{secret:plain}}%26',
  )
  t.equal(seen[0]?.req.url, '/x?a=a%20b%26c%3Dd%25%22%5C%C3%A9&b=v4lue&c=v4lue&d=1%26v4lue%26')
  t.equal(new URL(seen[0]?.req.url ?? '', 'http://x').searchParams.get('a'), SECRETS.odd)
})

t.test(
  'egress.forward 400: a placeholder in the path or in the name of a parameter, encoded or not',
  async (t) => {
    const { port, base, ask, seen, releases } = await open(t)
    for (const path of ['/a/%7B%7Bsecret:plain%7D%7D', '/%7b{secret%3Aplain}}', '/%7B%7Bs%65cret:x']) {
      t.match(await errorOf(await ask(path)), { status: 400, type: 'params_invalid' }, path)
    }
    for (const query of ['?{{secret:plain}}=1', '?%7B%7Bsecret:plain%7D%7D']) {
      t.match(await errorOf(await ask(`/${query}`)), { status: 400, type: 'query_invalid' }, query)
    }
    const client = rawClient(port)
    client.send(egressText(`GET ${new URL(base).pathname}/{{secret:plain}}`, ['connection: close']))
    t.match(await client.closed(), /^HTTP\/1\.1 400 .*params_invalid/s)
    t.same([seen.length, releases.length], [0, 0])
  },
)

t.test('a malformed placeholder is refused, and nothing is sent', async (t) => {
  const { ask, seen } = await open(t)
  const texts = [
    '',
    '}}',
    'Plain}}',
    'a__b}}',
    'plain}',
    ' plain}}',
    '{{secret:plain}}}}',
    `${'a'.repeat(256)}}}`,
  ]
  for (const text of texts.map((rest) => `{{secret:${rest}`)) {
    t.match(
      await errorOf(await ask('/', { headers: { a: text } })),
      { status: 400, type: 'header_invalid' },
      text,
    )
    t.match(
      await errorOf(await ask(`/?a=${encodeURIComponent(text)}`)),
      { status: 400, type: 'query_invalid' },
      text,
    )
  }
  t.equal(seen.length, 0)
})

t.test('egress.forward 403: when one of several secrets is refused, nothing is sent', async (t) => {
  const { ask, seen } = await open(t)
  const error = await errorOf(await ask('/?a={{secret:plain}}', { headers: { x: '{{secret:unknown}}' } }))
  t.match(error, {
    status: 403,
    type: 'secret_not_released',
    header: 'secret_not_released',
    message: /`unknown`/,
  })
  t.equal(seen.length, 0)
})

t.test('a secret is released to no other host, with a port or without', async (t) => {
  const { ask, base, seen, url, releases } = await open(t)
  const port = base.split(':').at(-1) ?? ''
  for (const host of [`127.0.0.1:${port}`, `sub.localhost:${port}`, `localhost.example:${port}`]) {
    const answer = await fetch(`${url}/egress/${host}/`, {
      headers: { 'x-sluice-key': INTERN_KEY, a: '{{secret:plain}}' },
    })
    t.match(await errorOf(answer), { status: 403, type: 'secret_not_released' }, host)
  }
  t.equal(seen.length, 0)
  await ask('/', { headers: { a: '{{secret:plain}}' } })
  t.same(
    releases.map(({ host }) => host),
    ['127.0.0.1', 'sub.localhost', 'localhost.example', 'localhost'],
  )
})

t.test('a value that would break out of its header is refused, and nothing is sent', async (t) => {
  const { ask, seen } = await open(t)
  for (const name of ['broken', 'nul']) {
    t.match(
      await errorOf(await ask('/', { headers: { a: `{{secret:${name}}}` } })),
      { status: 400, type: 'header_invalid' },
      name,
    )
  }
  t.equal(seen.length, 0)
  await ask('/?a={{secret:broken}}')
  t.equal(seen[0]?.req.url, '/?a=a%0D%0Ax-injected%3A%201')
})

t.test('a refusal of a header names the header, but neither its value nor the secret', async (t) => {
  const { ask } = await open(t)
  const messageOf = async (name: string, value: string) =>
    (await errorOf(await ask('/', { headers: { [name]: value } }))).message
  t.match(
    await messageOf('x-a', 'Bearer {{secret:Not A Name}}'),
    /^A header is not valid: \/x-a contains an invalid placeholder, expected `{{secret:name}}`/,
  )
  const broken = await messageOf('x-b', '{{secret:broken}}')
  t.match(
    broken,
    /^A header is not valid: \/x-b cannot contain the value of its secret, expected a value without line breaks/,
  )
  t.notMatch(broken, 'injected')
})

t.test('placeholders inside a secret value are not replaced', async (t) => {
  const { ask, seen, releases } = await open(t)
  await ask('/', { headers: { a: '{{secret:chained}}' } })
  t.equal(seen[0]?.req.headers['a'], '{{secret:plain}}')
  t.same(
    releases.map(({ name }) => name),
    ['chained'],
  )
})

t.test('two halves of a placeholder in two headers do not form a placeholder', async (t) => {
  const { port, base, seen, releases } = await open(t)
  const client = rawClient(port)
  client.send(
    egressText(`GET ${new URL(base).pathname}/`, ['a: {{sec', 'a: ret:plain}}', 'connection: close']),
  )
  t.match(await client.closed(), /^HTTP\/1\.1 200/)
  t.equal(seen[0]?.req.headers['a'], '{{sec, ret:plain}}')
  t.equal(releases.length, 0)
})

t.test('a header folded over two lines never reaches the target', async (t) => {
  const { port, base, seen } = await open(t)
  const client = rawClient(port)
  client.send(egressText(`GET ${new URL(base).pathname}/`, ['a: {{secret:', ' plain}}', 'connection: close']))
  client.send(egressText('GET /healthz', ['connection: close']))
  client.socket.end()
  await client.closed()
  t.equal(seen.length, 0)
})

t.test(
  'a hundred placeholders of one secret are one release; more than EGRESS_SECRETS_MAX secrets are refused',
  async (t) => {
    const { ask, seen, releases } = await open(t)
    await ask('/', { headers: { a: '{{secret:plain}}'.repeat(100) } })
    t.equal(seen[0]?.req.headers['a'], 'v4lue'.repeat(100))
    t.equal(releases.length, 1)
    const many = (count: number): RequestInit => ({
      headers: { a: Array.from({ length: count }, (_, nth) => `{{secret:s${nth}}}`).join('') },
    })
    t.equal((await ask('/', many(EGRESS_SECRETS_MAX))).status, 200)
    t.match(await errorOf(await ask('/', many(EGRESS_SECRETS_MAX + 1))), {
      status: 400,
      type: 'header_invalid',
    })
    t.equal(releases.length, 1 + EGRESS_SECRETS_MAX)
  },
)

t.test('a request that is too large is refused before any secret is decrypted', async (t) => {
  const { ask, releases } = await open(t)
  const swollen = EGRESS_FILLED_HEAD_BYTES_MAX / SECRETS.long.length + 1
  t.match(await errorOf(await ask('/', { headers: { a: '{{secret:long}}'.repeat(swollen) } })), {
    type: 'header_invalid',
  })
  t.match(await errorOf(await ask(`/?a=${'{{secret:long}}'.repeat(swollen)}`)), { type: 'header_invalid' })
  const large = post(
    '{{secret:long}}'.repeat(EGRESS_FILLED_BODY_BYTES_MAX / SECRETS.long.length + 1),
    'text/plain',
  )
  t.match(await errorOf(await ask('/', large)), { type: 'body_too_large' })
  t.equal(releases.length, 0)
})

t.test('secret values cannot enlarge a head beyond EGRESS_FILLED_HEAD_BYTES_MAX', async (t) => {
  const { ask, seen } = await open(t)
  const times = EGRESS_FILLED_HEAD_BYTES_MAX / SECRETS.long.length
  t.match(await errorOf(await ask('/', { headers: { a: '{{secret:long}}'.repeat(times) } })), {
    status: 400,
    type: 'header_invalid',
  })
  t.equal(seen.length, 0)
})

const post = (
  body: string | Buffer,
  type = 'application/json',
  more: Record<string, string> = {},
): RequestInit => ({
  method: 'POST',
  body,
  headers: { 'content-type': type, 'x-sluice-substitute': 'body', ...more },
})

t.test('placeholders in a body are replaced only when the caller asks for it', async (t) => {
  const { ask, seen } = await open(t)
  await ask('/', { method: 'POST', body: '{{secret:plain}}' })
  t.equal(seen[0]?.body, '{{secret:plain}}')
})

t.test('in a body with substitution a value is escaped for the content type', async (t) => {
  const { ask, seen } = await open(t)
  await ask('/', post('{"key":"{{secret:json}}","other":"{{secret:odd}} ü"}'))
  t.same(JSON.parse(seen[0]?.body ?? ''), { key: SECRETS.json, other: `${SECRETS.odd} ü` })
  t.equal(seen[0]?.req.headers['content-length'], String(Buffer.byteLength(seen[0]?.body ?? '')))
  t.notOk(Object.keys(seen[0]?.req.headers ?? {}).some((name) => name.startsWith('x-sluice')))
  await ask('/', post('a=%7B%7Bsecret%3Aodd%7D%7D&b={{secret:plain}}', 'application/x-www-form-urlencoded'))
  t.equal(new URLSearchParams(seen[1]?.body).get('a'), SECRETS.odd)
  await ask('/', post('<k>{{secret:json}}</k>', 'text/xml'))
  t.equal(seen[2]?.body, `<k>${SECRETS.json}</k>`)
})

t.test('bytes around a placeholder in a body stay unchanged', async (t) => {
  const { ask, seen } = await open(t, (req) => ({ 'x-length': req.headers['content-length'] ?? '' }))
  const odd = Buffer.from([0, 255, 254, 128, 13, 10])
  const answer = await ask(
    '/',
    post(Buffer.concat([odd, Buffer.from('{{secret:plain}}'), odd]), 'application/octet-stream'),
  )
  t.equal(answer.headers.get('x-length'), String(2 * odd.length + 'v4lue'.length))
  t.equal(seen.length, 1)
})

t.test('egress.forward 413: a body that is too large before or after substitution', async (t) => {
  const { ask, seen } = await open(t)
  const most = 'x'.repeat(EGRESS_SUBSTITUTED_BODY_BYTES_MAX)
  t.equal((await ask('/', post(most))).status, 200)
  t.match(await errorOf(await ask('/', post(`${most}x`))), {
    status: 413,
    type: 'body_too_large',
    header: 'body_too_large',
  })
  const times = EGRESS_FILLED_BODY_BYTES_MAX / SECRETS.long.length
  t.equal((await ask('/', post('{{secret:long}}'.repeat(times)))).status, 200)
  t.match(await errorOf(await ask('/', post('{{secret:long}}'.repeat(times + 1)))), {
    status: 413,
    type: 'body_too_large',
  })
  t.equal(seen.length, 2)
})

t.test(
  'refuses a body whose placeholders cannot be found: encoded, malformed, or with an unknown substitution value',
  async (t) => {
    const { ask, seen } = await open(t)
    t.match(await errorOf(await ask('/', post('x', 'text/plain', { 'content-encoding': 'gzip' }))), {
      status: 400,
      type: 'header_invalid',
    })
    t.match(await errorOf(await ask('/', post('{{secret:'))), { status: 400, type: 'body_invalid' })
    t.match(await errorOf(await ask('/', post('x', 'text/plain', { 'x-sluice-substitute': 'all' }))), {
      status: 400,
      type: 'header_invalid',
    })
    t.match(await errorOf(await ask('/', post('{{secret:unknown}}'))), { status: 403 })
    t.equal(seen.length, 0)
  },
)

t.test(
  'a value that a target reflects in a header is returned redacted, in every usual form and in header names',
  async (t) => {
    const value = 's3cret/Value+with?odd=chars'
    const { ask } = await openEgressFront(t, {
      secrets: { k: value },
      target: (req, res) => {
        const sent = String(req.headers['a'])
        const basic = (user: string): string => Buffer.from(`${user}:${sent}!`).toString('base64')
        res
          .writeHead(302, [
            'location',
            `https://else.where/?key=${encodeURIComponent(sent)}`,
            'x-raw',
            `<${sent}>`,
            'x-raw',
            sent,
            'x-b64',
            Buffer.from(sent).toString('base64'),
            'x-basic',
            [basic(''), basic('a'), basic('ab')].join(' '),
            'x-hex',
            Buffer.from(sent).toString('hex'),
            `x-${sent.replace(/\W/g, '')}`,
            'kept',
            'x-length',
            String(sent.length),
          ])
          .end()
      },
    })
    const { headers } = await ask('/', { headers: { a: '{{secret:k}}' } })
    t.equal(headers.get('location'), 'https://else.where/?key=[redacted:k]')
    t.equal(headers.get('x-raw'), '<[redacted:k]>, [redacted:k]')
    t.equal(headers.get('x-hex'), '[redacted:k]')
    t.equal(headers.get('x-basic')?.match(/\[redacted:k\]/g)?.length, 3)
    t.match(headers.get('x-b64'), /^\[redacted:k\].{0,3}$/)
    t.equal(headers.get('x-length'), String(value.length))
  },
)
