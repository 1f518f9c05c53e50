import t, { type Test } from 'tap'
import Type from 'typebox'
import { fail, ok } from '../../../../src/schemas/failures.ts'
import type { Operation } from '../../../../src/server/operations/define.ts'
import { openApiOf } from '../../../../src/server/http/reference/openapi.ts'
import { buildRouteTable } from '../../../../src/server/http/call/route-table.ts'
import { KEY, openFront, operation, SCIM_KEY } from '../../../support/front.ts'
import { failureIn } from '../../../support/scim/scim-errors.ts'

const STATUSES = [400, 403, 404, 409, 412, 413, 500, 501] as const

const scim = (more: Partial<Operation>) =>
  operation({
    id: 'scim.test',
    method: 'get',
    path: '/Things',
    area: 'scim',
    access: { keys: ['scim'] },
    input: {},
    statuses: STATUSES,
    ...more,
  })

interface Asked {
  readonly method?: string
  readonly key?: string
  readonly body?: string
  readonly headers?: Readonly<Record<string, string>>
}

async function openScim(t: Test, ...operations: readonly Partial<Operation>[]) {
  const front = await openFront(t, [
    ...operations.map(scim),
    operation({ method: 'get', path: '/Things', input: {} }),
  ])
  const ask = async (path: string, { method = 'GET', key = SCIM_KEY, body, headers }: Asked = {}) => {
    const answer = await fetch(`${front.url}${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, ...headers },
      ...(body !== undefined && { body }),
    })
    return { status: answer.status, headers: answer.headers, text: await answer.text() }
  }
  return { ...front, ask }
}

const says = (value: unknown): Partial<Operation> => ({ run: () => ok({ kind: 'json', value }) })

t.test(
  'SCIM operations exist only under /scim/v2, answer with its media type, and accept one final slash',
  async (t) => {
    const { ask } = await openScim(t, says({ id: 'scim' }))
    for (const path of ['/scim/v2/Things', '/scim/v2/Things/', '/scim/v2/Things?x=1']) {
      const { status, headers, text } = await ask(path)
      t.same([status, headers.get('content-type'), text], [200, 'application/scim+json', '{"id":"scim"}'])
      t.ok(headers.get('x-request-id'))
    }
    const other = await ask('/api/v1/Things', { key: KEY })
    t.same([other.status, other.headers.get('content-type')], [200, 'application/json'])
  },
)

t.test('unknown paths get 404 in SCIM format: other paths, cases, slashes, and the root', async (t) => {
  const { ask } = await openScim(t, says({}))
  for (const path of ['', '/', '/things', '/Things//', '/Things/x', '/chat/completions', '/%ff', '/../v2x']) {
    const { status, text, headers } = await ask(`/scim/v2${path}`)
    if (path === '/../v2x') t.equal((JSON.parse(text) as { error: { code: number } }).error.code, 404)
    else t.same([status, failureIn(text, { status, headers })], [404, 'scim_resource_unknown'], path)
  }
  const beside = await ask('/scim/v21/Things')
  t.match(JSON.parse(beside.text), { error: { metadata: { error_type: 'route_unknown' } } })
})

t.test('a known path with another method is 405 with Allow, in the SCIM error format', async (t) => {
  const { ask } = await openScim(t, says({}))
  const { status, text, headers } = await ask('/scim/v2/Things', { method: 'DELETE' })
  t.same(
    [status, failureIn(text, { status, headers }), headers.get('allow')],
    [405, 'method_not_allowed', 'GET, HEAD'],
  )
})

t.test('no key, unknown keys and keys of the wrong kind are refused in the SCIM error format', async (t) => {
  const { ask } = await openScim(t, says({}))
  const cases = [
    ['', 401, 'credentials_missing'],
    ['sk-sluice-scim-v1-nobody', 401, 'key_unknown'],
    [KEY, 403, 'wrong_key_kind'],
  ] as const
  for (const [key, status, failure] of cases) {
    const answer = await ask('/scim/v2/Things', { key })
    t.same([answer.status, failureIn(answer.text, answer)], [status, failure])
    t.equal(answer.headers.get('www-authenticate'), status === 401 ? 'Bearer' : null)
  }
  t.match(JSON.parse((await ask('/scim/v2/Things', { key: KEY })).text), {
    detail: 'This operation needs a SCIM token.',
  })
})

t.test('failures use the terms of RFC 7644 for their kind, and keep their status', async (t) => {
  const cases = [
    ['scim_user_taken', 409, 'uniqueness'],
    ['scim_group_taken', 409, 'uniqueness'],
    ['scim_filter_invalid', 400, 'invalidFilter'],
    ['scim_path_invalid', 400, 'invalidPath'],
    ['scim_target_missing', 400, 'noTarget'],
    ['scim_value_invalid', 400, 'invalidValue'],
    ['scim_member_unknown', 400, 'invalidValue'],
    ['scim_immutable', 400, 'mutability'],
    ['scim_version_differs', 412, undefined],
    ['scim_resource_unknown', 404, undefined],
    ['scim_unsupported', 501, undefined],
    ['store_unavailable', 500, undefined],
  ] as const
  for (const [name, status, scimType] of cases) {
    const { ask } = await openScim(t, { run: () => fail(name, { detail: 'More.' }) })
    const answer = await ask('/scim/v2/Things')
    t.same([answer.status, failureIn(answer.text, answer)], [status, name])
    const body = JSON.parse(answer.text) as { scimType?: string; detail: string }
    t.same([body.scimType, body.detail.endsWith(' More.')], [scimType, true])
  }
})

t.test('reports a bug, an invalid body or type, and an invalid path in the SCIM error format', async (t) => {
  const { ask } = await openScim(
    t,
    {
      run: () => {
        throw new Error('words of a bug')
      },
    },
    { method: 'post', input: { body: 'embeddings' } },
    { path: '/Things/{id}', input: { params: Type.Object({ id: Type.String() }) } },
  )
  const bug = await ask('/scim/v2/Things')
  t.same(
    [bug.status, failureIn(bug.text, bug), bug.text.includes('words of a bug')],
    [500, 'internal', false],
  )
  const post = (body: string, type: string) =>
    ask('/scim/v2/Things', { method: 'POST', body, headers: { 'content-type': type } })
  const cases = [
    [await post('{', 'application/scim+json'), 'body_malformed', 'invalidSyntax'],
    [await post('{}', 'application/json'), 'body_invalid', 'invalidValue'],
    [await post('{}', 'text/plain'), 'content_type_unsupported', undefined],
    [await ask('/scim/v2/Things/%ff'), 'params_invalid', undefined],
  ] as const
  t.match(cases[2][0].text, /expected application\/json, or a type that ends in \+json/)
  for (const [reported, failure, scimType] of cases) {
    t.same(
      [
        reported.status,
        failureIn(reported.text, reported),
        (JSON.parse(reported.text) as { scimType?: string }).scimType,
      ],
      [400, failure, scimType],
    )
  }
  for (const type of ['application/scim+json; charset=utf-8', 'application/json']) {
    t.equal((await post('{"model":"m","input":"x"}', type)).status, 200)
  }
})

t.test('a draining front answers its last calls in the SCIM error format', async (t) => {
  const { ask, front } = await openScim(t, { run: () => new Promise(() => undefined) })
  const asked = ask('/scim/v2/Things')
  while (front.load.calls === 0) await new Promise((resolve) => setImmediate(resolve))
  await front.drain(0)
  const answer = await asked
  t.same([answer.status, failureIn(answer.text, answer)], [500, 'draining'])
})

t.test('an operation can read conditional headers and answer with headers, 204 and 304', async (t) => {
  const { ask } = await openScim(
    t,
    {
      input: { headers: ['if-none-match', 'if-match'] },
      success: { status: 200, body: Type.Object({}), isConditional: true },
      run: (call) =>
        call.headers['if-none-match'] === 'W/"1"'
          ? ok({ kind: 'unmodified', headers: { etag: 'W/"1"' } })
          : ok({ kind: 'json', value: call.headers, headers: { etag: 'W/"1"', location: '/here' } }),
    },
    {
      method: 'delete',
      success: { status: 204, body: null },
      run: () => ok({ kind: 'nothing', headers: { etag: 'W/"2"' } }),
    },
  )
  const whole = await ask('/scim/v2/Things', { headers: { 'if-match': 'W/"7"' } })
  t.same(
    [whole.status, whole.headers.get('etag'), whole.headers.get('location'), whole.text],
    [200, 'W/"1"', '/here', '{"if-match":"W/\\"7\\""}'],
  )
  const same = await ask('/scim/v2/Things', { headers: { 'if-none-match': 'W/"1"' } })
  t.same(
    [same.status, same.headers.get('etag'), same.text, same.headers.get('content-type')],
    [304, 'W/"1"', '', null],
  )
  const gone = await ask('/scim/v2/Things', { method: 'DELETE' })
  t.same([gone.status, gone.headers.get('etag'), gone.text], [204, 'W/"2"', ''])
})

t.test('the OpenAPI document states the path of SCIM, its media types and its error', async (t) => {
  const post = scim({ method: 'post', input: { body: 'embeddings' }, example: { body: {} } })
  const { paths } = openApiOf([post]) as {
    paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  }
  const error = {
    content: { 'application/scim+json': { schema: { $ref: '#/components/schemas/ScimError' } } },
  }
  t.match(paths['/Things'], {
    servers: [{ url: '/scim/v2' }],
    post: {
      requestBody: { content: { 'application/scim+json': {}, 'application/json': {} } },
      responses: { 200: { content: { 'application/scim+json': {} } }, 401: error, 404: error, 500: error },
    },
  })
})

t.test('a SCIM operation cannot be idempotent, because a replay would lose its headers', async (t) => {
  t.throws(() => buildRouteTable([scim({ method: 'post', idempotent: true })]), /cannot be idempotent/)
})
