import t from 'tap'
import Type from 'typebox'
import type { FailureName } from '../../../../src/schemas/failures.ts'
import {
  AUTHORIZATION,
  DISABLED_KEY,
  LIMITED_KEY,
  MANAGEMENT_KEY,
  openFront,
  operation,
} from '../../../support/front.ts'

const json = { authorization: AUTHORIZATION, 'content-type': 'application/json' }
const valid = JSON.stringify({ model: 'm', input: 'x' })
const post = (url: string, init: RequestInit = {}) =>
  fetch(url, { method: 'POST', headers: json, body: valid, ...init })
const read = operation({
  id: 'test.read',
  method: 'get',
  path: '/things/{author}/{slug}',
  input: {
    params: Type.Object({ author: Type.String(), slug: Type.String({ minLength: 1 }) }),
    query: Type.Object({
      limit: Type.Optional(Type.Integer({ minimum: 1 })),
      tags: Type.Optional(Type.String()),
    }),
  },
})

t.test('serves an operation end to end, with its timings and id in the headers', async (t) => {
  const { url, settled, untilSettled } = await openFront(t, [operation()])
  const answer = await post(`${url}/api/v1/echo`)
  t.equal(answer.status, 200)
  t.equal(answer.headers.get('content-type'), 'application/json')
  t.match(answer.headers.get('x-request-id'), /^[a-z0-9]{16,64}$/)
  t.match(
    answer.headers.get('server-timing'),
    /^auth;dur=\d+\.\d{3}, validate;dur=\d+\.\d{3}, total;dur=\d+\.\d{3}$/,
  )
  t.equal(answer.headers.get('server'), null)
  t.equal(answer.headers.get('uwebsockets'), null)
  t.same(await answer.json(), { body: { model: 'm', input: 'x' } })
  await untilSettled(1)
  t.match(settled, [
    { operation: 'test.echo', status: 200, failure: null, isClientGone: false, workspaceId: 'w' },
  ])
})

t.test('a valid request id of the caller is returned; otherwise Sluice creates one', async (t) => {
  const { url } = await openFront(t, [operation()])
  const idOf = async (id: string) =>
    (await post(`${url}/api/v1/echo`, { headers: { ...json, 'x-request-id': id } })).headers.get(
      'x-request-id',
    )
  t.equal(await idOf('my.id_1-2'), 'my.id_1-2')
  t.not(await idOf('no spaces'), 'no spaces')
  t.not(await idOf('x'.repeat(129)), 'x'.repeat(129))
})

t.test('access failures have their own status and the error envelope', async (t) => {
  const { url } = await openFront(t, [operation()])
  const ask = async (authorization?: string) => {
    const answer = await post(`${url}/api/v1/echo`, {
      headers: authorization === undefined ? {} : { authorization },
    })
    const { error } = (await answer.json()) as {
      error: { code: number; metadata: { error_type: string; request_id: string } }
    }
    t.equal(error.code, answer.status)
    t.equal(error.metadata.request_id, answer.headers.get('x-request-id'))
    return [
      answer.status,
      error.metadata.error_type,
      answer.headers.get('www-authenticate'),
      answer.headers.get('server-timing') === null,
    ]
  }
  t.same(await ask(), [401, 'credentials_missing', 'Bearer', true])
  t.same(await ask('Bearer nonsense'), [401, 'key_unknown', 'Bearer', true])
  t.same(await ask('Bearer sk-sluice-v1-nobody'), [401, 'key_unknown', 'Bearer', true])
  t.same(await ask(`Bearer ${DISABLED_KEY}`), [403, 'key_disabled', null, false])
  t.same(await ask(`Bearer ${MANAGEMENT_KEY}`), [403, 'wrong_key_kind', null, false])
})

t.test('x-should-retry is false when only the operator or a changed call can help. D20', async (t) => {
  const failing = (name: FailureName) =>
    operation({ statuses: [400, 404, 500, 502, 503], run: () => ({ ok: false, failure: { name } }) })
  const ask = async (name: FailureName) => {
    const { url } = await openFront(t, [failing(name)])
    const answer = await post(`${url}/api/v1/echo`)
    return [answer.status, answer.headers.get('x-should-retry'), answer.headers.get('retry-after')]
  }
  t.same(await ask('upstream_credential'), [502, 'false', '60'])
  t.same(await ask('upstream_too_large'), [502, 'false', '60'])
  t.same(await ask('endpoint_unconfigured'), [404, 'false', null])
  for (const name of ['body_invalid', 'upstream_refused', 'field_unsupported'] as const)
    t.same(await ask(name), [400, 'false', null])
  t.same(await ask('model_unknown'), [404, 'false', null])
  t.same(await ask('upstream_own_key'), [502, 'false', '60'])
  t.same(await ask('upstream_failed'), [502, null, null])
  t.same(await ask('busy'), [503, null, '1'])
})

t.test('a key above its limit gets 429 with the headers of the limit', async (t) => {
  const { url } = await openFront(t, [operation({ statuses: [400, 429, 500] })])
  const answer = await post(`${url}/api/v1/echo`, {
    headers: { ...json, authorization: `Bearer ${LIMITED_KEY}` },
  })
  t.equal(answer.status, 429)
  t.equal(answer.headers.get('retry-after'), '2')
  t.equal(answer.headers.get('ratelimit-policy'), '"requests";q=60;w=60;burst=10')
  t.equal(answer.headers.get('x-ratelimit-limit'), '60')
  t.match(await answer.json(), {
    error: {
      message: /60 requests a minute \(one every 1 s, burst 10\)/,
      metadata: { error_type: 'rate_limited', headers: { 'X-RateLimit-Limit': '60' } },
    },
  })
})

t.test('an operation that does not list 429 is not limited', async (t) => {
  const { url } = await openFront(t, [operation()])
  const answer = await post(`${url}/api/v1/echo`, {
    headers: { ...json, authorization: `Bearer ${LIMITED_KEY}` },
  })
  t.equal(answer.status, 200)
})

t.test('path and query are decoded once, coerced and validated', async (t) => {
  const { url } = await openFront(t, [read])
  const ask = async (path: string) => {
    const answer = await fetch(`${url}/api/v1/things/${path}`, { headers: json })
    return [answer.status, await answer.json()] as const
  }
  t.same(await ask('a/b%3Afree?limit=5&tags=x,y,z%20z&other=1'), [
    200,
    { params: { author: 'a', slug: 'b:free' }, query: { limit: 5, tags: 'x,y,z z' } },
  ])
  t.same((await ask('a%252F/b%2Fc'))[1], { params: { author: 'a%2F', slug: 'b/c' }, query: {} })
  t.equal((await ask('a/b/'))[0], 200)
  t.match(await ask('a/b?limit=0'), [
    400,
    {
      error: {
        metadata: {
          error_type: 'query_invalid',
          issues: [{ path: '/limit', message: 'is too small', expected: 'integer of at least 1' }],
        },
      },
    },
  ])
  t.match(await ask('a/b?limit=ten'), [
    400,
    {
      error: {
        metadata: {
          issues: [{ path: '/limit', message: 'is not a number', expected: 'integer of at least 1' }],
        },
      },
    },
  ])
  for (const text of ['1e3', '1E3', '5.0', '1e0'])
    t.match(
      await ask(`a/b?limit=${text}`),
      [
        400,
        {
          error: {
            metadata: {
              issues: [{ path: '/limit', message: 'is not a whole number in decimal digits' }],
            },
          },
        },
      ],
      text,
    )
  t.match(await ask('a/b?limit='), [
    400,
    { error: { metadata: { issues: [{ path: '/limit', message: 'is empty' }] } } },
  ])
  t.match(await ask('a/b?tags=x&tags=y'), [
    400,
    { error: { metadata: { issues: [{ path: '/tags', message: 'is repeated' }] } } },
  ])
  t.match(await ask('a/b?limit=1&limit=2'), [
    400,
    { error: { metadata: { issues: [{ message: 'is repeated' }] } } },
  ])
  t.match(await ask('a/b?limit=%E0%A4'), [
    400,
    { error: { message: /percent-encoded/, metadata: { error_type: 'query_invalid' } } },
  ])
  t.match(await ask('a/%E0%A4'), [
    400,
    { error: { message: /percent-encoded/, metadata: { error_type: 'params_invalid' } } },
  ])
})

t.test(
  'unknown paths are 404 and known ones with another method 405 with Allow, in the envelope',
  async (t) => {
    const { url } = await openFront(t, [operation(), read])
    const none = [
      '/nothing',
      '/api/v1',
      '/api/v1/nothing',
      '/api/v1//echo',
      '/api/v2/echo',
      '/api/v1/things/a',
      '/api/v1/things//b',
      '/api/v1/echo/more',
    ]
    for (const path of none) {
      const answer = await fetch(`${url}${path}`)
      t.equal(answer.status, 404, path)
      t.match(await answer.json(), {
        error: {
          code: 404,
          metadata: { error_type: 'route_unknown', request_id: answer.headers.get('x-request-id') },
        },
      })
    }
    const wrong = await fetch(`${url}/api/v1/things/a/b`, { method: 'DELETE' })
    t.equal(wrong.status, 405)
    t.equal(wrong.headers.get('allow'), 'GET, HEAD')
    t.match(await wrong.json(), { error: { code: 405, metadata: { error_type: 'method_not_allowed' } } })
    t.equal((await fetch(`${url}/api/v1/echo`)).headers.get('allow'), 'POST')
  },
)

t.test('the 404 of an inference path that is not served lists the paths that are', async (t) => {
  const { url } = await openFront(t, [operation()])
  for (const path of ['/chat/completions', '/responses', '/completions', '/responses/abc']) {
    const answer = await fetch(`${url}/api/v1${path}`, { method: 'POST', body: '{}' })
    const { error } = (await answer.json()) as { error: { message: string; metadata: object } }
    t.match([answer.status, error.metadata, error.message], [404, { error_type: 'not_served' }, /embeddings/])
  }
})

t.test('a body must have a JSON content type or none', async (t) => {
  const { url } = await openFront(t, [operation()])
  const ask = async (headers: Record<string, string>) => {
    const answer = await post(`${url}/api/v1/echo`, {
      headers: { authorization: AUTHORIZATION, ...headers },
      body: Buffer.from(valid),
    })
    return answer.status
  }
  t.equal(await ask({ 'content-type': 'application/json; charset=utf-8' }), 200)
  t.equal(await ask({ 'content-type': 'application/vnd.api+json' }), 200)
  t.equal(await ask({}), 200)
  t.equal(await ask({ 'content-type': 'text/plain' }), 400)
  t.equal(await ask({ 'content-type': 'application/jsonx' }), 400)
  t.equal(await ask({ 'content-encoding': 'gzip' }), 400)
})

t.test('an exception in an operation is 500 without its message', async (t) => {
  const bug = (): never => {
    throw new Error('secret words')
  }
  const { url, settled } = await openFront(t, [
    operation({ path: '/now', run: bug }),
    operation({ path: '/later', run: async () => bug() }),
    operation({ path: '/odd', run: () => ({ ok: true, value: { kind: 'json', value: 1n } }) }),
  ])
  for (const path of ['/now', '/later', '/odd']) {
    const answer = await post(`${url}/api/v1${path}`)
    t.equal(answer.status, 500)
    t.notMatch(await answer.text(), /secret|BigInt/)
  }
  t.match(
    settled.map((call) => call.failure),
    ['internal', 'internal', 'internal'],
  )
  t.match(settled[0]?.cause, { message: 'secret words' })
})

t.test('a failure gets the status that the operation lists for it, else 400 or 500', async (t) => {
  const failing = (path: string, statuses: number[]) =>
    operation({ path, statuses, run: () => ({ ok: false, failure: { name: 'upstream_slow' } }) })
  const { url } = await openFront(t, [failing('/a', [524, 504]), failing('/b', [504]), failing('/c', [500])])
  const ask = async (path: string) => {
    const answer = await post(`${url}/api/v1${path}`)
    return `${answer.status} ${answer.statusText}`
  }
  t.equal(await ask('/a'), '524 A Timeout Occurred')
  t.equal(await ask('/b'), '504 Gateway Timeout')
  t.equal(await ask('/c'), '500 Internal Server Error')
})
