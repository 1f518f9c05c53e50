import t from 'tap'
import { ACTIVE_ENDPOINTS_MAX } from '../../../../src/schemas/endpoints/endpoint-limits.ts'
import {
  activate,
  answering,
  CREDENTIAL,
  errorTypeOf,
  held,
  NOBODY,
  openEndpoints,
  UPSTREAM_HOST,
  validate,
  type Answer,
} from '../../../support/endpoints/endpoints-front.ts'
import { gate } from '../../../support/gate.ts'
import { answers, hangsUp, refuses, sends } from '../../../support/embeddings/provider-behaviours.ts'

/** The failed checks of a validation. */
const failedOf = ({ body }: Answer): readonly unknown[] =>
  body.data?.checks?.filter((check) => check['passed'] === false) ?? []

t.test('private_endpoints.validate 200: a real request passes every check', async (t) => {
  const stand = await openEndpoints(t)
  const reported = await validate(stand, await stand.draft())
  t.equal(reported.status, 200)
  t.match(reported.body.data, { passed: true })
  t.same(
    reported.body.data?.checks?.map(({ name, passed }) => [name, passed]),
    [
      'workspace_ok',
      'provider_ok',
      'base_url_ok',
      'limit_ok',
      'credential_ok',
      'auth_ok',
      'response_ok',
      'model_ok',
      'usage_ok',
    ].map((name) => [name, true]),
  )
  t.equal(stand.upstream.calls.length, 1)
  t.match(stand.upstream.calls[0], {
    path: '/v1/embeddings',
    headers: { authorization: `Bearer ${CREDENTIAL}` },
    body: { model: 'bge-m3' },
  })
  t.match(stand.vault.asked, [
    { name: 'acme_key', host: UPSTREAM_HOST, operation: 'private_endpoints.validate' },
  ])
})

for (const [slug, path] of [
  ['cohere', '/v2/embed'],
  ['google', '/v1beta/models/bge-m3:batchEmbedContents'],
] as const) {
  t.test(`an endpoint of ${slug} is probed in its own protocol`, async (t) => {
    const stand = await openEndpoints(t)
    const baseUrl = stand.baseUrl.replace(/\/v1$/, slug === 'cohere' ? '/v2' : '/v1beta')
    const reported = await validate(stand, await stand.draft({ provider_slug: slug, base_url: baseUrl }))
    t.match(reported.body.data, { passed: true })
    t.equal(stand.upstream.calls[0]?.path, path)
  })
}

t.test('reports each reason for which a validation can fail, and the endpoint stays a draft', async (t) => {
  const stand = await openEndpoints(t)
  const { upstream, vault } = stand
  const id = await stand.draft()
  const found = async (name: string, reason: string, more: object = {}): Promise<void> => {
    const reported = await validate(stand, id)
    t.equal(reported.status, 200, reason)
    t.match(reported.body.data, { passed: false })
    t.match(failedOf(reported), [{ name, reason, ...more }], reason)
    t.equal(failedOf(reported).length, 1)
    t.match((await stand.call('get', `/private-endpoints/${id}`)).body.data, {
      status: 'draft',
      workspace_id: null,
    })
  }
  t.match(failedOf(await validate(stand, id, NOBODY)), [
    { name: 'workspace_ok', reason: 'workspace_not_found' },
  ])

  const change = (more: object): Promise<Answer> =>
    stand.call('patch', `/private-endpoints/${id}`, { upstream_model_id: 'bge-m3', ...more })
  await change({ secret_name: null })
  await found('credential_ok', 'no_byok_key')
  await change({ secret_name: 'missing' })
  await found('credential_ok', 'no_byok_key')
  await vault.put('acme_key', CREDENTIAL, ['elsewhere.example'])
  await change({ secret_name: 'acme_key' })
  await found('credential_ok', 'no_byok_key')
  await vault.put('acme_key', CREDENTIAL, [UPSTREAM_HOST])
  vault.isBroken = true
  await found('credential_ok', 'key_decryption_failed')
  vault.isBroken = false
  t.equal(upstream.calls.length, 0, 'nothing was sent')

  upstream.script(refuses(401, `Incorrect API key provided: ${CREDENTIAL}`))
  await found('auth_ok', 'upstream_error', {
    upstream_status: 401,
    upstream_message: /Incorrect API key provided/,
  })
  upstream.script(refuses(404, 'The model `bge-m3` does not exist'))
  await found('model_ok', 'model_not_found', { upstream_status: 404, upstream_message: /does not exist/ })
  upstream.script(refuses(404, 'Not Found'))
  await found('response_ok', 'upstream_error', { upstream_status: 404 })
  upstream.script(refuses(503, 'on fire'))
  await found('response_ok', 'upstream_error', { upstream_status: 503, upstream_message: 'on fire' })
  upstream.script(refuses(307, 'elsewhere', { location: 'https://elsewhere.example' }))
  await found('response_ok', 'upstream_error')
  upstream.usually(hangsUp)
  await found('response_ok', 'upstream_error')
  upstream.usually(answers())
  upstream.script(sends('{"data":[]}'))
  await found('response_ok', 'invalid_response')
  upstream.script(sends('no JSON'))
  await found('response_ok', 'invalid_response')
  upstream.script(answers({ usage: null }))
  await found('usage_ok', 'missing_usage')
  upstream.script(answering({ model: 'another-model' }))
  await found('model_ok', 'model_mismatch', { actual_model: 'another-model' })
})

t.test('accepts an answer by a dated version of the requested model', async (t) => {
  const stand = await openEndpoints(t)
  const id = await stand.draft()
  for (const [model, passed] of [
    ['bge-m3-2026-01-01', true],
    ['BAAI/bge-m3', true],
    ['bge-m3x', false],
    ['bge-m', false],
  ] as const) {
    stand.upstream.script(answering({ model }))
    t.equal((await validate(stand, id)).body.data?.['passed'], passed, model)
  }
})

t.test('stores and returns model names and messages of an upstream with any characters', async (t) => {
  const stand = await openEndpoints(t)
  const id = await stand.draft()
  const long = `${'x'.repeat(255)}\u{1f600}`
  for (const model of ['a\u0000b', 'a\ud800b', long]) {
    stand.upstream.script(answering({ model }))
    t.match(failedOf(await validate(stand, id)), [
      { reason: 'model_mismatch', actual_model: /^[^\0\ud800]+$/u },
    ])
  }
  stand.upstream.script(refuses(503, `${'a '.repeat(149)}a\u{1f600} and more`))
  t.match(failedOf(await validate(stand, id)), [{ reason: 'upstream_error', upstream_message: /^a a .*…$/ }])
})

t.test('a provider without a supported protocol and a forbidden address fail their checks', async (t) => {
  const stand = await openEndpoints(t)
  const bedrock = await stand.draft({ provider_slug: 'bedrock' })
  t.match(failedOf(await validate(stand, bedrock)), [{ name: 'provider_ok', reason: 'provider_not_found' }])
  await stand.vault.put('acme_key', CREDENTIAL, ['10.0.0.1', UPSTREAM_HOST])
  const inside = await stand.draft({ base_url: 'https://10.0.0.1:8443/v1' })
  t.match(failedOf(await validate(stand, inside)), [{ name: 'base_url_ok', reason: 'invalid_base_url' }])
})

t.test('a workspace with the maximum of active endpoints cannot activate another one', async (t) => {
  const stand = await openEndpoints(t)
  const [id, off] = [await stand.validated(), await stand.active()]
  await stand.call('post', `/private-endpoints/${off}/disable`)
  await stand.store.sql`
    INSERT INTO private_endpoints (id, organization_id, workspace_id, status, model_permaslug, provider_slug, upstream_model_id, base_url)
    SELECT gen_random_uuid(), ${stand.organizationId}, ${stand.workspaceId}, 'active', 'a/b', 'openai', 'm', 'https://a.example'
    FROM generate_series(1, ${ACTIVE_ENDPOINTS_MAX})`
  t.match(failedOf(await validate(stand, id)), [{ name: 'limit_ok', reason: 'endpoint_limit_reached' }])
  t.equal(
    errorTypeOf(await stand.call('post', `/private-endpoints/${off}/enable`)),
    'workspace_endpoints_full',
  )
})

t.test('private_endpoints.validate 400, 404: missing or invalid workspace, unknown endpoint', async (t) => {
  const stand = await openEndpoints(t)
  const id = await stand.draft()
  t.equal((await stand.call('post', `/private-endpoints/${id}/validate`, {})).status, 400)
  t.equal(
    (await stand.call('post', `/private-endpoints/${id}/validate`, { workspace_id: 'default' })).status,
    400,
  )
  t.equal((await validate(stand, NOBODY)).status, 404)
})

t.test('private_endpoints.validate 409: refuses an endpoint that is active', async (t) => {
  const stand = await openEndpoints(t)
  const reported = await validate(stand, await stand.active())
  t.same([reported.status, errorTypeOf(reported)], [409, 'endpoint_active'])
})

t.test('a validation is void when its endpoint changes during it', async (t) => {
  const [began, go] = [gate(), gate()]
  const stand = await openEndpoints(t, { prober: held(began, go) })
  const id = await stand.draft()
  const validating = validate(stand, id)
  await began.opened
  t.equal((await stand.call('patch', `/private-endpoints/${id}`, { upstream_model_id: 'other' })).status, 200)
  go.open()
  const reported = await validating
  t.same([reported.status, errorTypeOf(reported)], [409, 'endpoint_changed'])
  t.equal(errorTypeOf(await activate(stand, id)), 'not_validated')
})
