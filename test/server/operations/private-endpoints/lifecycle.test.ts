import t from 'tap'
import { ACTIVE_ENDPOINTS_MAX, PROBE_CLAIM_MS, PROBE_MS_MAX, PROBING_DEADLINE_MS, VALIDATION_FRESH_MS } from '../../../../src/schemas/limits.ts'
import type { EndpointProber } from '../../../../src/server/ports/private-endpoints.ts'
import { CREDENTIAL, endpointBody, openEndpoints, UPSTREAM_HOST, type EndpointsStand, type Told } from '../../../support/endpoints-front.ts'
import { gate } from '../../../support/gate.ts'
import { answers, hangsUp, neverAnswers, refuses, sends } from '../../../support/provider-behaviours.ts'

const typeOf = ({ body }: Told): unknown => body.error?.metadata['error_type']
const NOBODY = '019a5b0c-4e21-7b1c-92d3-e4f5a6b7c8d9'

const validate = (stand: EndpointsStand, id: string, workspaceId = stand.workspaceId): Promise<Told> =>
  stand.call('post', `/private-endpoints/${id}/validate`, { workspace_id: workspaceId })
const activate = ({ call }: EndpointsStand, id: string): Promise<Told> => call('post', `/private-endpoints/${id}/activate`)
/** The failed checks of a validation. */
const failedOf = ({ body }: Told): readonly unknown[] => body.data?.checks?.filter((check) => check['passed'] === false) ?? []

t.test('private-endpoints.validate 200: a real request passes every check', async (t) => {
  const stand = await openEndpoints(t)
  const told = await validate(stand, await stand.draft())
  t.equal(told.status, 200)
  t.match(told.body.data, { passed: true })
  t.same(told.body.data?.checks?.map(({ name, passed }) => [name, passed]), [
    'workspace_ok', 'provider_ok', 'base_url_ok', 'limit_ok', 'credential_ok', 'auth_ok', 'response_ok', 'model_ok', 'usage_ok',
  ].map((name) => [name, true]))
  t.equal(stand.upstream.calls.length, 1)
  t.match(stand.upstream.calls[0], { path: '/v1/embeddings', headers: { authorization: `Bearer ${CREDENTIAL}` }, body: { model: 'bge-m3' } })
  t.match(stand.vault.asked, [{ name: 'acme_key', host: UPSTREAM_HOST, operation: 'private-endpoints.validate' }])
})

for (const [slug, path] of [['cohere', '/v2/embed'], ['google', '/v1beta/models/bge-m3:batchEmbedContents']] as const) {
  t.test(`an endpoint of ${slug} is probed in its own protocol`, async (t) => {
    const stand = await openEndpoints(t)
    const baseUrl = stand.baseUrl.replace(/\/v1$/, slug === 'cohere' ? '/v2' : '/v1beta')
    const told = await validate(stand, await stand.draft({ provider_slug: slug, base_url: baseUrl }))
    t.match(told.body.data, { passed: true })
    t.equal(stand.upstream.calls[0]?.path, path)
  })
}

t.test('each reason that a validation can fail for is told, and the draft stays one', async (t) => {
  const stand = await openEndpoints(t)
  const { upstream, vault } = stand
  const id = await stand.draft()
  const found = async (name: string, reason: string, more: object = {}): Promise<void> => {
    const told = await validate(stand, id)
    t.equal(told.status, 200, reason)
    t.match(told.body.data, { passed: false })
    t.match(failedOf(told), [{ name, reason, ...more }], reason)
    t.equal(failedOf(told).length, 1)
    t.match((await stand.call('get', `/private-endpoints/${id}`)).body.data, { status: 'draft', workspace_id: null })
  }
  t.match(failedOf(await validate(stand, id, NOBODY)), [{ name: 'workspace_ok', reason: 'workspace_not_found' }])

  const change = (more: object): Promise<Told> => stand.call('patch', `/private-endpoints/${id}`, { upstream_model_id: 'bge-m3', ...more })
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
  await found('auth_ok', 'upstream_error', { upstream_status: 401, upstream_message: /Incorrect API key provided/ })
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

function answering(more: object): ReturnType<typeof sends> {
  const data = [{ object: 'embedding', index: 0, embedding: [0.5] }]
  return sends(JSON.stringify({ object: 'list', data, usage: { prompt_tokens: 1, total_tokens: 1 }, ...more }))
}

t.test('a dated version of the model that was asked for is that model', async (t) => {
  const stand = await openEndpoints(t)
  const id = await stand.draft()
  for (const [model, passed] of [['bge-m3-2026-01-01', true], ['BAAI/bge-m3', true], ['bge-m3x', false], ['bge-m', false]] as const) {
    stand.upstream.script(answering({ model }))
    t.equal((await validate(stand, id)).body.data?.['passed'], passed, model)
  }
})

t.test('a provider without a protocol and an address that is not allowed fail their checks', async (t) => {
  const stand = await openEndpoints(t)
  const bedrock = await stand.draft({ provider_slug: 'bedrock' })
  t.match(failedOf(await validate(stand, bedrock)), [{ name: 'provider_ok', reason: 'provider_not_found' }])
  await stand.vault.put('acme_key', CREDENTIAL, ['10.0.0.1', UPSTREAM_HOST])
  const inside = await stand.draft({ base_url: 'https://10.0.0.1:8443/v1' })
  t.match(failedOf(await validate(stand, inside)), [{ name: 'base_url_ok', reason: 'invalid_base_url' }])
})

t.test('a workspace with as many active endpoints as it may have gets no more', async (t) => {
  const stand = await openEndpoints(t)
  const [id, off] = [await stand.validated(), await stand.active()]
  await stand.call('post', `/private-endpoints/${off}/disable`)
  await stand.store.sql`
    INSERT INTO private_endpoints (id, organization_id, workspace_id, status, model_permaslug, provider_slug, upstream_model_id, base_url)
    SELECT gen_random_uuid(), ${stand.organizationId}, ${stand.workspaceId}, 'active', 'a/b', 'openai', 'm', 'https://a.example'
    FROM generate_series(1, ${ACTIVE_ENDPOINTS_MAX})`
  t.match(failedOf(await validate(stand, id)), [{ name: 'limit_ok', reason: 'endpoint_limit_reached' }])
  t.equal(typeOf(await stand.call('post', `/private-endpoints/${off}/enable`)), 'workspace_endpoints_full')
})

t.test('private-endpoints.validate 400, 404: no workspace, and no endpoint', async (t) => {
  const stand = await openEndpoints(t)
  const id = await stand.draft()
  t.equal((await stand.call('post', `/private-endpoints/${id}/validate`, {})).status, 400)
  t.equal((await stand.call('post', `/private-endpoints/${id}/validate`, { workspace_id: 'default' })).status, 400)
  t.equal((await validate(stand, NOBODY)).status, 404)
})

t.test('private-endpoints.validate 409: an active endpoint stays what it was validated as', async (t) => {
  const stand = await openEndpoints(t)
  const told = await validate(stand, await stand.active())
  t.same([told.status, typeOf(told)], [409, 'endpoint_active'])
})

t.test('a validation whose endpoint was changed meanwhile says nothing of it', async (t) => {
  const [began, go] = [gate(), gate()]
  const stand = await openEndpoints(t, { prober: held(began, go) })
  const id = await stand.draft()
  const validating = validate(stand, id)
  await began.opened
  t.equal((await stand.call('patch', `/private-endpoints/${id}`, { upstream_model_id: 'other' })).status, 200)
  go.open()
  const told = await validating
  t.same([told.status, typeOf(told)], [409, 'endpoint_changed'])
  t.equal(typeOf(await activate(stand, id)), 'not_validated')
})

/** A prober whose probes tell that they began, and go on when they may. */
function held(began: ReturnType<typeof gate>, go: ReturnType<typeof gate>): (real: EndpointProber) => EndpointProber {
  return (real) => ({
    ...real,
    async probe(wish) {
      began.open()
      await go.opened
      return real.probe(wish)
    },
  })
}

t.test('private-endpoints.activate 200: a validated draft is active, after one more probe', async (t) => {
  const stand = await openEndpoints(t)
  const id = await stand.validated()
  const told = await activate(stand, id)
  t.equal(told.status, 200)
  t.match(told.body.data, { id, status: 'active', model_slug: 'acme/own' })
  t.equal(stand.upstream.calls.length, 2)
  t.match((await stand.call('get', `/private-endpoints/${id}`)).body.data, { workspace_id: stand.workspaceId })
})

t.test('private-endpoints.activate 409: never validated, stale, already active: told before any probe', async (t) => {
  const stand = await openEndpoints(t)
  const id = await stand.draft()
  const refused = async (type: string): Promise<void> => {
    const before = stand.upstream.calls.length
    const told = await activate(stand, id)
    t.same([told.status, typeOf(told)], [409, type])
    t.equal(stand.upstream.calls.length, before, 'nothing was sent')
  }
  await refused('not_validated')
  stand.upstream.script(refuses(500))
  await validate(stand, id)
  await refused('not_validated')
  await validate(stand, id)
  await stand.call('patch', `/private-endpoints/${id}`, { upstream_model_id: 'bge-m3' })
  await refused('validation_stale')
  await validate(stand, id)
  await stand.store.sql`UPDATE private_endpoints SET validated_at = validated_at - ${VALIDATION_FRESH_MS} * interval '1 ms'`
  await refused('validation_stale')
  await validate(stand, id)
  t.equal((await activate(stand, id)).status, 200)
  await refused('endpoint_active')
})

t.test('private-endpoints.activate 404: an unknown id', async (t) => {
  t.equal((await activate(await openEndpoints(t), NOBODY)).status, 404)
})

t.test('private-endpoints.activate 422: the credential is gone, or bound to other hosts', async (t) => {
  const stand = await openEndpoints(t)
  const id = await stand.validated()
  await stand.vault.put('acme_key', CREDENTIAL, ['elsewhere.example'])
  const moved = await activate(stand, id)
  t.same([moved.status, typeOf(moved)], [422, 'credential_unavailable'])
  await stand.vault.remove('acme_key')
  t.equal((await activate(stand, id)).status, 422)
  t.equal(stand.upstream.calls.length, 1, 'only the validation sent anything')
  await stand.vault.put('acme_key', 'another', [UPSTREAM_HOST])
  t.equal((await activate(stand, id)).status, 200, 'nothing holds the claim')
  t.equal(stand.upstream.calls[1]?.headers['authorization'], 'Bearer another')
})

t.test('private-endpoints.activate 502: the probe fails, and the draft stays', async (t) => {
  const stand = await openEndpoints(t)
  const id = await stand.validated()
  for (const behaviour of [refuses(500, 'on fire'), refuses(401, `bad key ${CREDENTIAL}`), answering({ model: 'x' }), sends('{}')]) {
    stand.upstream.script(behaviour)
    const told = await activate(stand, id)
    t.same([told.status, typeOf(told)], [502, 'probe_failed'])
    t.notMatch(told.body.error?.message, CREDENTIAL)
  }
  t.match((await stand.call('get', `/private-endpoints/${id}`)).body.data, { status: 'draft' })
})

t.test('private-endpoints.activate 408: an upstream that is slower than a probe may take', async (t) => {
  const stand = await openEndpoints(t)
  const id = await stand.validated()
  stand.upstream.script(neverAnswers)
  const told = await activate(stand, id)
  t.same([told.status, typeOf(told)], [408, 'probe_slow'])
  t.equal((await activate(stand, id)).status, 200)
})

t.test('of 50 racing activations one is answered 200 and 49 are 409, and one probe is sent', async (t) => {
  const stand = await openEndpoints(t, { fronts: 2 })
  const id = await stand.validated()
  const before = stand.upstream.calls.length
  const told = await Promise.all(Array.from({ length: 50 }, () => activate(stand, id)))
  const statuses = told.map(({ status }) => status)
  t.same([statuses.filter((status) => status === 200).length, statuses.filter((status) => status === 409).length], [1, 49])
  t.equal(stand.upstream.calls.length, before + 1)
})

t.test('an activation whose endpoint was changed meanwhile is none', async (t) => {
  const [began, go] = [gate(), gate()]
  let isHeld = false
  const stand = await openEndpoints(t, { prober: (real) => ({ ...real, probe: (wish) => (isHeld ? held(began, go)(real) : real).probe(wish) }) })
  const id = await stand.validated()
  isHeld = true
  const activating = activate(stand, id)
  await began.opened
  t.equal(typeOf(await validate(stand, id)), 'probe_running', 'one probe at a time')
  await stand.call('patch', `/private-endpoints/${id}`, { upstream_model_id: 'other' })
  go.open()
  const told = await activating
  t.same([told.status, typeOf(told)], [409, 'endpoint_changed'])
  t.match((await stand.call('get', `/private-endpoints/${id}`)).body.data, { status: 'draft' })
})

t.test('a claim outlives its probe, and a call has time for two probes', async (t) => {
  t.ok(PROBE_CLAIM_MS > PROBE_MS_MAX)
  t.ok(PROBING_DEADLINE_MS > 2 * PROBE_MS_MAX)
})

t.test('the claim of a front that was lost ends by itself', async (t) => {
  const stand = await openEndpoints(t)
  const id = await stand.validated()
  await stand.store.sql`
    UPDATE private_endpoints SET probe_token = gen_random_uuid(), probe_until = clock_timestamp() + ${PROBE_CLAIM_MS} * interval '1 ms'`
  t.equal(typeOf(await activate(stand, id)), 'probe_running')
  await stand.store.sql`UPDATE private_endpoints SET probe_until = clock_timestamp()`
  t.equal((await activate(stand, id)).status, 200)
})

t.test('private-endpoints.disable 200, 404, 409: an active endpoint, once', async (t) => {
  const stand = await openEndpoints(t)
  const id = await stand.active()
  const off = (of = id): Promise<Told> => stand.call('post', `/private-endpoints/${of}/disable`)
  t.match(await off(), { status: 200, body: { data: { id, status: 'disabled' } } })
  t.same([(await off()).status, typeOf(await off())], [409, 'endpoint_not_active'])
  t.equal((await off(NOBODY)).status, 404)
})

t.test('private-endpoints.enable 200, 404, 409: a disabled endpoint, once', async (t) => {
  const stand = await openEndpoints(t)
  const id = await stand.active()
  const on = (of = id): Promise<Told> => stand.call('post', `/private-endpoints/${of}/enable`)
  t.same([(await on()).status, typeOf(await on())], [409, 'endpoint_not_disabled'])
  await stand.call('post', `/private-endpoints/${id}/disable`)
  t.match(await on(), { status: 200, body: { data: { id, status: 'active' } } })
  t.equal((await on(NOBODY)).status, 404)
})

t.test('a create with `activate` gives an active endpoint', async (t) => {
  const stand = await openEndpoints(t)
  const told = await stand.call('post', '/private-endpoints', { ...endpointBody(stand.baseUrl), activate: { workspace_id: stand.workspaceId } })
  t.equal(told.status, 201)
  t.match(told.body.data, { status: 'active' })
})

t.test('private-endpoints.create 404, 422, 502: what `activate` failed with, beside the draft that stays', async (t) => {
  const stand = await openEndpoints(t)
  const create = (more: object, workspaceId = stand.workspaceId): Promise<Told> =>
    stand.call('post', '/private-endpoints', { ...endpointBody(stand.baseUrl), ...more, activate: { workspace_id: workspaceId } })
  const left = async (told: Told, status: number, type: string, reason: string): Promise<void> => {
    t.same([told.status, typeOf(told)], [status, type])
    const { endpoint, validation } = told.body.data as unknown as { endpoint: { id: string }; validation: { checks: { reason?: string }[] } }
    t.match(validation, { passed: false })
    t.equal(validation.checks.find((check) => check.reason !== undefined)?.reason, reason)
    t.match(await stand.call('get', `/private-endpoints/${endpoint.id}`), { status: 200, body: { data: { status: 'draft' } } })
  }
  await left(await create({}, NOBODY), 404, 'workspace_unknown', 'workspace_not_found')
  await left(await create({ secret_name: 'missing' }), 422, 'credential_unavailable', 'no_byok_key')
  await left(await create({ provider_slug: 'bedrock' }), 422, 'validation_failed', 'provider_not_found')
  stand.upstream.script(refuses(500))
  await left(await create({}), 502, 'probe_failed', 'upstream_error')
})

t.test('private-endpoints.create 408: with `activate`, an upstream that is slow', async (t) => {
  const stand = await openEndpoints(t)
  stand.upstream.script(neverAnswers)
  const told = await stand.call('post', '/private-endpoints', { ...endpointBody(stand.baseUrl), activate: { workspace_id: stand.workspaceId } })
  t.same([told.status, typeOf(told)], [408, 'probe_slow'])
})

t.test('a create whose activation fails behind a passing validation has both in its answer', async (t) => {
  const stand = await openEndpoints(t)
  stand.upstream.script(answers(), refuses(500))
  const told = await stand.call('post', '/private-endpoints', { ...endpointBody(stand.baseUrl), activate: { workspace_id: stand.workspaceId } })
  t.match(told, { status: 502, body: { data: { endpoint: { status: 'draft' }, validation: { passed: true } } } })
})
