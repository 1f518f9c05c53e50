import t from 'tap'
import { PRIVATE_ENDPOINTS_MAX } from '../../../../src/schemas/endpoints/endpoint-limits.ts'
import { JSON_BODY_BYTES_MAX } from '../../../../src/schemas/limits/limits.ts'
import { hashOfKey } from '../../../../src/schemas/keys/api-keys.ts'
import { createOrganization } from '../../../../src/server/store/workspaces/organizations.ts'
import {
  CREDENTIAL,
  endpointBody,
  errorTypeOf,
  NOBODY,
  openEndpoints,
  type Answer,
} from '../../../support/endpoints/endpoints-front.ts'
import { MANAGEMENT_KEY } from '../../../support/front.ts'
import { must } from '../../../support/must.ts'
import {
  BASE_URL_CHARS_MAX,
  ENDPOINT_TEXT_CHARS_MAX,
} from '../../../../src/schemas/endpoints/private-endpoints.ts'

const pathsOf = ({ body }: Answer): unknown =>
  (body.error?.metadata['issues'] as { path: string }[] | undefined)?.map(({ path }) => path)

t.test('private_endpoints.create 201: a draft, returned without its upstream', async (t) => {
  const { call, baseUrl } = await openEndpoints(t)
  const created = await call('post', '/private-endpoints', {
    ...endpointBody(baseUrl),
    declared_region: 'europe',
    declared_zdr: true,
  })
  t.equal(created.status, 201)
  t.match(created.body.data, {
    id: /^[0-9a-f]{8}-[0-9a-f]{4}-7/,
    status: 'draft',
    model_permaslug: 'acme/own',
    model_name: null,
    model_slug: 'acme/own',
    provider_name: 'OpenAI-compatible',
    created_at: /^\d{4}-.*Z$/,
    declared_region: 'europe',
    declared_zdr: true,
  })
  t.same(Object.keys(created.body.data ?? {}).sort(), [
    'created_at',
    'declared_region',
    'declared_zdr',
    'id',
    'model_name',
    'model_permaslug',
    'model_slug',
    'provider_name',
    'status',
  ])
  t.match((await call('get', '/private-endpoints')).body.data, [
    { id: created.body.data?.['id'], status: 'draft' },
  ])
})

t.test('a model and a provider of the catalogue are returned with their names', async (t) => {
  const { call, draft } = await openEndpoints(t)
  const id = await draft({ model_permaslug: 'acme/embed-1', provider_slug: 'cohere' })
  t.match((await call('get', `/private-endpoints/${id}`)).body.data, {
    model_name: 'Acme Embed',
    provider_name: 'Cohere',
    model_slug: 'acme/embed-1',
  })
})

const PRICED = { prompt: '0.000001', completion: '0.000002' }

t.test('private_endpoints.create 400: names the path of each invalid member', async (t) => {
  const { call, baseUrl } = await openEndpoints(t)
  const body = endpointBody(baseUrl)
  const long = 'x'.repeat(ENDPOINT_TEXT_CHARS_MAX + 1)
  for (const [more, path] of [
    [{ model_permaslug: '' }, '/model_permaslug'],
    [{ model_permaslug: 'noslash' }, '/model_permaslug'],
    [{ provider_slug: '' }, '/provider_slug'],
    [{ upstream_model_id: '' }, '/upstream_model_id'],
    [{ upstream_model_id: long }, '/upstream_model_id'],
    [{ provider_slug: 'a\0' }, '/provider_slug'],
    [{ upstream_model_id: 'a\0' }, '/upstream_model_id'],
    [{ base_url: undefined }, '/base_url'],
    [{ base_url: `https://a.example/${'x'.repeat(BASE_URL_CHARS_MAX)}` }, '/base_url'],
    [{ declared_region: 'mars' }, '/declared_region'],
    [{ declared_zdr: 'yes' }, '/declared_zdr'],
    [{ pricing: { prompt: '1' } }, '/pricing/completion'],
    [{ pricing: { prompt: '-1', completion: '0' } }, '/pricing/prompt'],
    [{ pricing: { prompt: '0.0000000000000001', completion: '0' } }, '/pricing/prompt'],
    [{ pricing: { ...PRICED, input_cache_read: '-1' } }, '/pricing/input_cache_read'],
    [{ pricing: { ...PRICED, input_cache_write: '10' } }, '/pricing/input_cache_write'],
    // Nothing would charge it. F11.
    [{ pricing: { ...PRICED, request: '0.01' } }, '/pricing/request'],
    [{ pricing: { ...PRICED, overrides: [] } }, '/pricing/overrides'],
    [{ activate: {} }, '/activate/workspace_id'],
    [{ activate: { workspace_id: 'default' } }, '/activate/workspace_id'],
  ] as const) {
    const answer = await call('post', '/private-endpoints', { ...body, ...more })
    t.equal(answer.status, 400, JSON.stringify(more).slice(0, 80))
    t.same(pathsOf(answer), [path])
  }
  const large = await call('post', '/private-endpoints', { ...body, more: 'x'.repeat(JSON_BODY_BYTES_MAX) })
  t.same([large.status, errorTypeOf(large)], [400, 'body_too_large'])
  const azure = await call('post', '/private-endpoints', {
    ...body,
    provider_slug: 'azure',
    base_url: undefined,
  })
  t.same([azure.status, errorTypeOf(azure)], [400, 'provider_unsupported'])
  t.same((await call('get', '/private-endpoints')).body.data, [])
})

t.test('explains the expected form of a slug, a price and a name in words', async (t) => {
  const { call, baseUrl } = await openEndpoints(t)
  const wrong = { model_permaslug: 'x', pricing: { prompt: '-1', completion: 'x' }, secret_name: 'X' }
  const { body } = await call('post', '/private-endpoints', { ...endpointBody(baseUrl), ...wrong })
  const issues = body.error?.metadata['issues'] as { path: string; expected: string }[]
  t.match(issues.find(({ path }) => path === '/model_permaslug')?.expected, /^an author\/slug/)
  t.match(issues.find(({ path }) => path === '/pricing/prompt')?.expected, /^a decimal string such as/)
  t.match(
    issues.find(({ path }) => path === '/secret_name')?.expected,
    /lower-case letters, digits and single underscores/,
  )
  t.notMatch(issues.map(({ expected }) => expected).join(), /\^/)
})

t.test('private_endpoints.create 422: a base_url that must not be called', async (t) => {
  const { call, baseUrl } = await openEndpoints(t)
  for (const url of [
    'http://models.acme.example/v1',
    'ftp://models.acme.example',
    'https://user:word@models.acme.example/v1',
    'https://models.acme.example/v1?key=1',
    'https://models.acme.example/v1#x',
    'https://models.acme.example:22/v1',
    'https://models.acme.example:6379/v1',
    'no address',
    'https://',
  ]) {
    const answer = await call('post', '/private-endpoints', { ...endpointBody(baseUrl), base_url: url })
    t.same(
      [answer.status, errorTypeOf(answer), pathsOf(answer)],
      [422, 'base_url_invalid', ['/base_url']],
      url,
    )
  }
})

t.test('the refusal of a plain HTTP base_url names who may allow it', async (t) => {
  const { call, baseUrl } = await openEndpoints(t)
  const answer = await call('post', '/private-endpoints', {
    ...endpointBody(baseUrl),
    base_url: 'http://models.acme.example:8000/v1',
  })
  t.match(
    answer.body.error?.message,
    /begins with http:, expected the URL with https:; the operator can allow/,
  )
})

t.test('a base_url is stored in its canonical form', async (t) => {
  const { call, draft } = await openEndpoints(t)
  for (const [given, stored] of [
    ['HTTPS://Models.ACME.example/V1/', 'https://models.acme.example/V1'],
    ['https://models.acme.example./v1/chat/completions', 'https://models.acme.example/v1'],
    ['https://models.acme.example:443/v1/chat/completions/', 'https://models.acme.example/v1'],
    ['https://models.acme.example:8443', 'https://models.acme.example:8443'],
    ['https://models.acme.example/v1//', 'https://models.acme.example/v1/'],
  ] as const) {
    const id = await draft({ base_url: given })
    t.equal((await call('get', `/private-endpoints/${id}`)).body.data?.['base_url'], stored)
  }
})

t.test('private_endpoints.list 200: lists endpoints of its organization only, oldest first', async (t) => {
  const { call, draft, store } = await openEndpoints(t)
  const ids = [await draft(), await draft()]
  const other = must(await createOrganization(store, { name: 'other' }))
  await store.sql`
    INSERT INTO private_endpoints (id, organization_id, model_permaslug, provider_slug, upstream_model_id, base_url)
    VALUES (${NOBODY}, ${other.organization.id}, 'a/b', 'openai', 'm', 'https://a.example')`
  t.match(
    (await call('get', '/private-endpoints')).body.data,
    ids.map((id) => ({ id })),
  )
  t.equal((await call('get', `/private-endpoints/${NOBODY}`)).status, 404)
})

t.test('private_endpoints.get 200, 404: returns upstream and price; unknown ids get 404', async (t) => {
  const { call, draft, baseUrl } = await openEndpoints(t)
  const id = await draft()
  t.match((await call('get', `/private-endpoints/${id}`)).body.data, {
    id,
    status: 'draft',
    base_url: baseUrl,
    provider_slug: 'openai-compatible',
    upstream_model_id: 'bge-m3',
    pricing: { prompt: '0.000001', completion: '0' },
    secret_name: 'acme_key',
    workspace_id: null,
    declared_region: null,
    declared_zdr: null,
  })
  for (const unknown of [NOBODY, 'x', '%ff'])
    t.equal((await call('get', `/private-endpoints/${unknown}`)).status, 404, unknown)
})

t.test('private_endpoints.update 200: omitted members keep their values', async (t) => {
  const { call, draft, baseUrl } = await openEndpoints(t)
  const id = await draft({ declared_region: 'us', declared_zdr: true })
  const changed = await call('patch', `/private-endpoints/${id}`, { upstream_model_id: 'other' })
  t.equal(changed.status, 200)
  t.match(changed.body.data, {
    upstream_model_id: 'other',
    base_url: baseUrl,
    declared_region: 'us',
    declared_zdr: true,
    secret_name: 'acme_key',
  })
  const again = await call('patch', `/private-endpoints/${id}`, {
    upstream_model_id: 'other',
    base_url: 'https://B.example/v1/',
    declared_region: null,
    declared_zdr: false,
    secret_name: 'b_key',
  })
  t.match(again.body.data, {
    base_url: 'https://b.example/v1',
    declared_region: null,
    declared_zdr: false,
    secret_name: 'b_key',
  })
})

t.test(
  'private_endpoints.update 400, 404, 422: an empty change, an unknown endpoint, a forbidden address',
  async (t) => {
    const { call, draft } = await openEndpoints(t)
    const id = await draft()
    for (const body of [{}, { upstream_model_id: 'a\0' }])
      t.equal((await call('patch', `/private-endpoints/${id}`, body)).status, 400)
    t.equal((await call('patch', `/private-endpoints/${NOBODY}`, { upstream_model_id: 'm' })).status, 404)
    t.equal(
      (
        await call('patch', `/private-endpoints/${id}`, {
          upstream_model_id: 'm',
          base_url: 'https://a.example:25',
        })
      ).status,
      422,
    )
  },
)

t.test('private_endpoints.update 409: only a draft can be changed', async (t) => {
  const { call, active } = await openEndpoints(t)
  const id = await active()
  for (const verb of ['', '/disable']) {
    if (verb !== '') await call('post', `/private-endpoints/${id}${verb}`)
    const answer = await call('patch', `/private-endpoints/${id}`, { upstream_model_id: 'm' })
    t.same([answer.status, errorTypeOf(answer)], [409, 'endpoint_not_draft'])
    t.match(JSON.stringify(answer.body), /Create a new private endpoint; only the prices /)
  }
})

t.test('private_endpoints.update 200, 400: changes a draft price, refuses an invalid one', async (t) => {
  const { call, draft } = await openEndpoints(t)
  const id = await draft()
  const pricing = { prompt: '0.00000003', completion: '0' }
  t.equal((await call('patch', `/private-endpoints/${id}`, { upstream_model_id: 'm', pricing })).status, 200)
  t.match((await call('get', `/private-endpoints/${id}`)).body.data, { pricing })
  t.equal(
    (
      await call('patch', `/private-endpoints/${id}`, {
        upstream_model_id: 'm',
        pricing: { prompt: '10', completion: '0' },
      })
    ).status,
    400,
    'uncountable',
  )
})

t.test('private_endpoints.set_pricing 200, 400, 404: works in any status without validation', async (t) => {
  const { call, validated } = await openEndpoints(t)
  const id = await validated()
  const pricing = {
    prompt: '0.00000002',
    completion: '0.5',
    input_cache_read: '0.000000002',
    input_cache_write: '0.000000025',
  }
  t.match(await call('put', `/private-endpoints/${id}/pricing`, { pricing }), {
    status: 200,
    body: { data: { id, pricing } },
  })
  for (const wrong of [{ prompt: '1' }, { ...PRICED, web_search: '0.01' }])
    t.equal((await call('put', `/private-endpoints/${id}/pricing`, { pricing: wrong })).status, 400)
  t.equal(
    (await call('put', `/private-endpoints/${id}/pricing`, { pricing: { prompt: '10', completion: '0' } }))
      .status,
    400,
    'uncountable',
  )
  t.equal((await call('put', `/private-endpoints/${NOBODY}/pricing`, { pricing })).status, 404)
  const without = await call('put', `/private-endpoints/${id}/pricing`, { pricing: PRICED })
  t.same(without.body.data?.['pricing'], PRICED, 'a price that is left out is gone')
  t.equal((await call('post', `/private-endpoints/${id}/activate`)).status, 200)
})

t.test('private_endpoints.delete 200, 404: deletes the endpoint, and a second delete gets 404', async (t) => {
  const { call, draft } = await openEndpoints(t)
  const id = await draft()
  t.match(await call('delete', `/private-endpoints/${id}?draft_only=true`), {
    status: 200,
    body: { data: { id } },
  })
  t.equal((await call('get', `/private-endpoints/${id}`)).status, 404)
  t.equal((await call('delete', `/private-endpoints/${id}`)).status, 404)
  t.same((await call('get', '/private-endpoints')).body.data, [])
})

t.test('private_endpoints.delete 400: refuses a `draft_only` that is not a boolean', async (t) => {
  const { call, draft } = await openEndpoints(t)
  t.equal((await call('delete', `/private-endpoints/${await draft()}?draft_only=maybe`)).status, 400)
})

t.test('private_endpoints.delete 409: draft_only keeps an endpoint that was ever active', async (t) => {
  const { call, active } = await openEndpoints(t)
  const id = await active()
  await call('post', `/private-endpoints/${id}/disable`)
  const answer = await call('delete', `/private-endpoints/${id}?draft_only=true`)
  t.same([answer.status, errorTypeOf(answer)], [409, 'endpoint_was_active'])
  t.equal((await call('delete', `/private-endpoints/${id}`)).status, 200)
})

t.test('private_endpoints.create 409: an organization has a maximum of endpoints', async (t) => {
  const { call, baseUrl, store, organizationId } = await openEndpoints(t)
  await store.sql`
    INSERT INTO private_endpoints (id, organization_id, model_permaslug, provider_slug, upstream_model_id, base_url)
    SELECT gen_random_uuid(), ${organizationId}, 'a/b', 'openai', 'm', 'https://a.example' FROM generate_series(1, ${PRIVATE_ENDPOINTS_MAX})`
  const answer = await call('post', '/private-endpoints', endpointBody(baseUrl))
  t.same([answer.status, errorTypeOf(answer)], [409, 'endpoints_full'])
})

t.test(
  'every change is in the audit log, with the key and the call that made it, and without the credential',
  async (t) => {
    const { call, validated, store } = await openEndpoints(t)
    const id = await validated()
    await call(
      'patch',
      `/private-endpoints/${id}`,
      { upstream_model_id: 'other' },
      { 'x-request-id': 'call-1' },
    )
    await call('delete', `/private-endpoints/${id}`)
    const rows = await store.sql<
      { operation: string; text: string }[]
    >`SELECT operation, text FROM audit WHERE object_id = ${id} ORDER BY n`
    t.same(
      rows.map(({ operation }) => operation),
      ['create', 'validate', 'update', 'delete'].map((verb) => `private_endpoints.${verb}`),
    )
    t.match(JSON.parse(rows[2]?.text ?? ''), {
      request_id: 'call-1',
      actor: { kind: 'key', id: hashOfKey(MANAGEMENT_KEY) },
      outcome: 'changed',
      object_kind: 'private_endpoint',
      before: { upstream_model_id: 'bge-m3', validation: { passed: true } },
      after: { upstream_model_id: 'other', validation: null },
    })
    t.match(JSON.parse(rows[3]?.text ?? ''), { before: { status: 'draft' }, after: null })
    t.notOk(rows.some(({ text }) => text.includes(CREDENTIAL)))
  },
)
