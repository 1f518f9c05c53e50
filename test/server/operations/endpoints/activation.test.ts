import t from 'tap'
import {
  PROBE_CLAIM_MS,
  PROBE_MS_MAX,
  PROBING_DEADLINE_MS,
  VALIDATION_FRESH_MS,
} from '../../../../src/schemas/endpoints/endpoint-limits.ts'
import {
  activate,
  answering,
  CREDENTIAL,
  endpointBody,
  errorTypeOf,
  held,
  NOBODY,
  openEndpoints,
  UPSTREAM_HOST,
  validate,
  type Answer,
} from '../../../support/endpoints/endpoints-front.ts'
import { gate } from '../../../support/gate.ts'
import { answers, neverAnswers, refuses, sends } from '../../../support/embeddings/provider-behaviours.ts'

t.test('private_endpoints.activate 200: a validated draft becomes active after one more probe', async (t) => {
  const stand = await openEndpoints(t)
  const id = await stand.validated()
  const reported = await activate(stand, id)
  t.equal(reported.status, 200)
  t.match(reported.body.data, { id, status: 'active', model_slug: 'acme/own' })
  t.equal(stand.upstream.calls.length, 2)
  t.match((await stand.call('get', `/private-endpoints/${id}`)).body.data, {
    workspace_id: stand.workspaceId,
  })
})

t.test(
  'private_endpoints.activate 409: an endpoint that was never validated, is stale or is active, before any probe',
  async (t) => {
    const stand = await openEndpoints(t)
    const id = await stand.draft()
    const refused = async (type: string): Promise<void> => {
      const before = stand.upstream.calls.length
      const reported = await activate(stand, id)
      t.same([reported.status, errorTypeOf(reported)], [409, type])
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
    await stand.store
      .sql`UPDATE private_endpoints SET validated_at = validated_at - ${VALIDATION_FRESH_MS} * interval '1 ms'`
    await refused('validation_stale')
    await validate(stand, id)
    t.equal((await activate(stand, id)).status, 200)
    await refused('endpoint_active')
  },
)

t.test('private_endpoints.activate 404: an unknown id', async (t) => {
  t.equal((await activate(await openEndpoints(t), NOBODY)).status, 404)
})

t.test('private_endpoints.activate 422: the credential was removed or bound to other hosts', async (t) => {
  const stand = await openEndpoints(t)
  const id = await stand.validated()
  await stand.vault.put('acme_key', CREDENTIAL, ['elsewhere.example'])
  const moved = await activate(stand, id)
  t.same([moved.status, errorTypeOf(moved)], [422, 'credential_unavailable'])
  await stand.vault.remove('acme_key')
  t.equal((await activate(stand, id)).status, 422)
  t.equal(stand.upstream.calls.length, 1, 'only the validation sent anything')
  await stand.vault.put('acme_key', 'another', [UPSTREAM_HOST])
  t.equal((await activate(stand, id)).status, 200, 'nothing holds the claim')
  t.equal(stand.upstream.calls[1]?.headers['authorization'], 'Bearer another')
})

t.test('private_endpoints.activate 502: the probe fails, and the endpoint stays a draft', async (t) => {
  const stand = await openEndpoints(t)
  const id = await stand.validated()
  for (const behaviour of [
    refuses(500, 'on fire'),
    refuses(401, `bad key ${CREDENTIAL}`),
    answering({ model: 'x' }),
    sends('{}'),
  ]) {
    stand.upstream.script(behaviour)
    const reported = await activate(stand, id)
    t.same([reported.status, errorTypeOf(reported)], [502, 'probe_failed'])
    t.notMatch(reported.body.error?.message, CREDENTIAL)
  }
  t.match((await stand.call('get', `/private-endpoints/${id}`)).body.data, { status: 'draft' })
})

t.test('private_endpoints.activate 408: the upstream exceeds the time limit of a probe', async (t) => {
  const stand = await openEndpoints(t)
  const id = await stand.validated()
  stand.upstream.script(neverAnswers)
  const reported = await activate(stand, id)
  t.same([reported.status, errorTypeOf(reported)], [408, 'probe_slow'])
  t.equal((await activate(stand, id)).status, 200)
})

t.test('of 50 concurrent activations one gets 200 and 49 get 409, and one probe is sent', async (t) => {
  const stand = await openEndpoints(t, { fronts: 2 })
  const id = await stand.validated()
  const before = stand.upstream.calls.length
  const reported = await Promise.all(Array.from({ length: 50 }, () => activate(stand, id)))
  const statuses = reported.map(({ status }) => status)
  t.same(
    [statuses.filter((status) => status === 200).length, statuses.filter((status) => status === 409).length],
    [1, 49],
  )
  t.equal(stand.upstream.calls.length, before + 1)
})

t.test('an activation fails when its endpoint changes meanwhile', async (t) => {
  const [began, go] = [gate(), gate()]
  let isHeld = false
  const stand = await openEndpoints(t, {
    prober: (real) => ({ ...real, probe: (input) => (isHeld ? held(began, go)(real) : real).probe(input) }),
  })
  const id = await stand.validated()
  isHeld = true
  const activating = activate(stand, id)
  await began.opened
  t.equal(errorTypeOf(await validate(stand, id)), 'probe_running', 'one probe at a time')
  await stand.call('patch', `/private-endpoints/${id}`, { upstream_model_id: 'other' })
  go.open()
  const reported = await activating
  t.same([reported.status, errorTypeOf(reported)], [409, 'endpoint_changed'])
  t.match((await stand.call('get', `/private-endpoints/${id}`)).body.data, { status: 'draft' })
})

t.test('a claim lasts longer than its probe, and a call has time for two probes', async (t) => {
  t.ok(PROBE_CLAIM_MS > PROBE_MS_MAX)
  t.ok(PROBING_DEADLINE_MS > 2 * PROBE_MS_MAX)
})

t.test('the claim of a lost front expires', async (t) => {
  const stand = await openEndpoints(t)
  const id = await stand.validated()
  await stand.store.sql`
    UPDATE private_endpoints SET probe_token = gen_random_uuid(), probe_until = clock_timestamp() + ${PROBE_CLAIM_MS} * interval '1 ms'`
  t.equal(errorTypeOf(await activate(stand, id)), 'probe_running')
  await stand.store.sql`UPDATE private_endpoints SET probe_until = clock_timestamp()`
  t.equal((await activate(stand, id)).status, 200)
})

t.test('private_endpoints.disable 200, 404, 409: an active endpoint, once', async (t) => {
  const stand = await openEndpoints(t)
  const id = await stand.active()
  const off = (of = id): Promise<Answer> => stand.call('post', `/private-endpoints/${of}/disable`)
  t.match(await off(), { status: 200, body: { data: { id, status: 'disabled' } } })
  t.same([(await off()).status, errorTypeOf(await off())], [409, 'endpoint_not_active'])
  t.equal((await off(NOBODY)).status, 404)
})

t.test('private_endpoints.enable 200, 404, 409: a disabled endpoint, once', async (t) => {
  const stand = await openEndpoints(t)
  const id = await stand.active()
  const on = (of = id): Promise<Answer> => stand.call('post', `/private-endpoints/${of}/enable`)
  t.same([(await on()).status, errorTypeOf(await on())], [409, 'endpoint_not_disabled'])
  await stand.call('post', `/private-endpoints/${id}/disable`)
  t.match(await on(), { status: 200, body: { data: { id, status: 'active' } } })
  t.equal((await on(NOBODY)).status, 404)
})

t.test('a create with `activate` returns an active endpoint', async (t) => {
  const stand = await openEndpoints(t)
  const answer = await stand.call('post', '/private-endpoints', {
    ...endpointBody(stand.baseUrl),
    activate: { workspace_id: stand.workspaceId },
  })
  t.equal(answer.status, 201)
  t.match(answer.body.data, { status: 'active' })
})

t.test(
  'private_endpoints.create 404, 422, 502: the failure of `activate`, and the draft that is kept',
  async (t) => {
    const stand = await openEndpoints(t)
    const create = (more: object, workspaceId = stand.workspaceId): Promise<Answer> =>
      stand.call('post', '/private-endpoints', {
        ...endpointBody(stand.baseUrl),
        ...more,
        activate: { workspace_id: workspaceId },
      })
    const left = async (reported: Answer, status: number, type: string, reason: string): Promise<void> => {
      t.same([reported.status, errorTypeOf(reported)], [status, type])
      const { endpoint, validation } = reported.body.data as unknown as {
        endpoint: { id: string }
        validation: { checks: { reason?: string }[] }
      }
      t.match(validation, { passed: false })
      t.equal(validation.checks.find((check) => check.reason !== undefined)?.reason, reason)
      t.match(await stand.call('get', `/private-endpoints/${endpoint.id}`), {
        status: 200,
        body: { data: { status: 'draft' } },
      })
    }
    await left(await create({}, NOBODY), 404, 'workspace_unknown', 'workspace_not_found')
    await left(await create({ secret_name: 'missing' }), 422, 'credential_unavailable', 'no_byok_key')
    await left(await create({ provider_slug: 'bedrock' }), 422, 'validation_failed', 'provider_not_found')
    stand.upstream.script(refuses(500))
    await left(await create({}), 502, 'probe_failed', 'upstream_error')
  },
)

t.test('private_endpoints.create 408: with `activate`, a slow upstream', async (t) => {
  const stand = await openEndpoints(t)
  stand.upstream.script(neverAnswers)
  const answer = await stand.call('post', '/private-endpoints', {
    ...endpointBody(stand.baseUrl),
    activate: { workspace_id: stand.workspaceId },
  })
  t.same([answer.status, errorTypeOf(answer)], [408, 'probe_slow'])
})

t.test('a create with a failed activation returns the draft and its successful validation', async (t) => {
  const stand = await openEndpoints(t)
  stand.upstream.script(answers(), refuses(500))
  const answer = await stand.call('post', '/private-endpoints', {
    ...endpointBody(stand.baseUrl),
    activate: { workspace_id: stand.workspaceId },
  })
  t.match(answer, {
    status: 502,
    body: { data: { endpoint: { status: 'draft' }, validation: { passed: true } } },
  })
})
