/** Creates of an endpoint that are repeated under an Idempotency-Key. */
import t from 'tap'
import { IDEMPOTENCY_KEY_CHARS_MAX } from '../../../../src/schemas/limits/idempotency-limits.ts'
import { endpointBody, errorTypeOf, openEndpoints } from '../../../support/endpoints/endpoints-front.ts'

t.test(
  'a repeated Idempotency-Key gets the first endpoint in its current state, and may have another `activate`',
  async (t) => {
    const { call, baseUrl, workspaceId } = await openEndpoints(t)
    const key = { 'idempotency-key': 'k'.repeat(IDEMPOTENCY_KEY_CHARS_MAX) }
    const first = await call('post', '/private-endpoints', endpointBody(baseUrl), key)
    t.equal(first.headers.get('idempotent-replayed'), null)
    const id = String(first.body.data?.['id'])
    await call('patch', `/private-endpoints/${id}`, { upstream_model_id: 'bge-m3', declared_region: 'us' })
    const again = await call(
      'post',
      '/private-endpoints',
      { ...endpointBody(`${baseUrl}/`), activate: { workspace_id: workspaceId } },
      key,
    )
    t.equal(again.status, 201)
    t.equal(again.headers.get('idempotent-replayed'), 'true')
    t.match(again.body.data, { id, status: 'draft', declared_region: 'us' })
    t.equal(
      (await call('post', '/private-endpoints', endpointBody(baseUrl), { 'idempotency-key': '' })).status,
      400,
    )
  },
)

t.test('private_endpoints.create 422: refuses an Idempotency-Key used with other fields', async (t) => {
  const { call, baseUrl } = await openEndpoints(t)
  const key = { 'idempotency-key': 'k' }
  await call('post', '/private-endpoints', endpointBody(baseUrl), key)
  const answer = await call(
    'post',
    '/private-endpoints',
    { ...endpointBody(baseUrl), upstream_model_id: 'other' },
    key,
  )
  t.same([answer.status, errorTypeOf(answer)], [422, 'idempotency_key_reused'])
})

t.test('racing creates with one Idempotency-Key make one endpoint', async (t) => {
  const { call, baseUrl } = await openEndpoints(t)
  const racing = Array.from({ length: 12 }, () =>
    call('post', '/private-endpoints', endpointBody(baseUrl), { 'idempotency-key': 'k' }),
  )
  const reported = await Promise.all(racing)
  t.same([...new Set(reported.map(({ status }) => status))], [201])
  t.equal(new Set(reported.map(({ body }) => body.data?.['id'])).size, 1)
  t.equal(((await call('get', '/private-endpoints')).body.data as unknown as unknown[]).length, 1)
})

t.test(
  'a key whose endpoint was deleted creates no second endpoint within a day, and a new one after that',
  async (t) => {
    const { call, baseUrl, store } = await openEndpoints(t)
    const key = { 'idempotency-key': 'k' }
    const first = await call('post', '/private-endpoints', endpointBody(baseUrl), key)
    await call('delete', `/private-endpoints/${String(first.body.data?.['id'])}`)
    t.equal((await call('post', '/private-endpoints', endpointBody(baseUrl), key)).status, 404)
    await store.sql`UPDATE private_endpoints SET created_at = created_at - interval '25 hours', deleted_at = deleted_at - interval '25 hours'`
    t.equal((await call('post', '/private-endpoints', endpointBody(baseUrl), key)).status, 201)
    t.equal((await store.sql`SELECT 1 FROM private_endpoints`).length, 1, 'the deleted row is gone by now')
  },
)
