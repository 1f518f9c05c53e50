import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { HOPS_MAX } from '../../../../src/schemas/models/provider-limits.ts'
import {
  CREDENTIAL,
  endpointBody,
  errorTypeOf,
  openEndpoints,
  UPSTREAM_HOST,
  type EndpointsStand,
  type Answer,
} from '../../../support/endpoints/endpoints-front.ts'
import { KEY, OTHER_KEY } from '../../../support/front.ts'
import { refuses } from '../../../support/embeddings/provider-behaviours.ts'

const usageOf = ({ body }: Answer): unknown => body.usage
const verb = ({ call }: EndpointsStand, id: string, name: string): Promise<Answer> =>
  call('post', `/private-endpoints/${id}/${name}`)

t.test('an active endpoint with its own slug answers on every front, for its workspace only', async (t) => {
  const stand = await openEndpoints(t, { fronts: 2 })
  for (const nth of [0, 1])
    t.same([(await stand.embed('acme/own', nth)).status], [404], 'the workspace is known by now')
  const id = await stand.active()
  const sent = stand.upstream.calls.length
  for (const nth of [0, 1]) {
    const reported = await stand.embed('acme/own', nth)
    t.equal(reported.status, 200)
    t.match(reported.body, { model: 'acme/own', usage: { is_byok: true, cost: 0.000003 } })
  }
  t.match(
    stand.upstream.calls.slice(sent),
    [1, 2].map(() => ({ headers: { authorization: `Bearer ${CREDENTIAL}` }, body: { model: 'bge-m3' } })),
  )
  t.equal((await stand.embed('acme/own', 0, { key: OTHER_KEY })).status, 404)
  await verb(stand, id, 'disable')
  for (const nth of [0, 1])
    t.same(
      [(await stand.embed('acme/own', nth)).status, errorTypeOf(await stand.embed('acme/own', nth))],
      [404, 'model_unknown'],
    )
  await verb(stand, id, 'enable')
  for (const nth of [0, 1]) t.equal((await stand.embed('acme/own', nth)).status, 200)
  await stand.call('delete', `/private-endpoints/${id}`)
  for (const nth of [0, 1]) t.equal((await stand.embed('acme/own', nth)).status, 404)
})

t.test(
  "an endpoint for a catalogue model is tried before the catalogue's own endpoints, which answer when it fails or is disabled",
  async (t) => {
    const stand = await openEndpoints(t)
    const id = await stand.active({ model_permaslug: 'acme/embed-1' })
    t.match(await stand.embed('acme/embed'), {
      status: 200,
      body: { model: 'acme/embed', usage: { is_byok: true } },
    })
    t.equal(stand.shipped.calls.length, 0)
    stand.upstream.script(refuses(500))
    t.match(usageOf(await stand.embed('acme/embed-1')), { is_byok: false }, "the next one is the catalogue's")
    await verb(stand, id, 'disable')
    t.match(usageOf(await stand.embed('acme/embed')), { is_byok: false })
    t.match(usageOf(await stand.embed('acme/embed', 0, { key: OTHER_KEY })), { is_byok: false })
    t.equal(stand.shipped.calls.length, 3)
  },
)

t.test('provider preferences apply to private endpoints as to all others', async (t) => {
  const stand = await openEndpoints(t)
  const id = await stand.active({ model_permaslug: 'acme/embed-1', declared_zdr: true })
  const with_ = (provider: object): Promise<Answer> => stand.embed('acme/embed', 0, { body: { provider } })
  t.match(usageOf(await with_({ zdr: true })), { is_byok: true })
  t.match(usageOf(await with_({ ignore: ['openai-compatible'] })), { is_byok: false })
  t.match(usageOf(await with_({ only: [`private/${id}`] })), { is_byok: true })
  t.match(usageOf(await with_({ order: ['shipped'] })), { is_byok: false })
  t.match(usageOf(await with_({ sort: 'price' })), { is_byok: false })
  await verb(stand, id, 'disable')
  t.equal((await with_({ zdr: true })).status, 404)
})

t.test('of several endpoints of one slug, the cheapest answers, and the next if it fails', async (t) => {
  const stand = await openEndpoints(t)
  await stand.active({ upstream_model_id: 'dear', pricing: { prompt: '0.000009', completion: '0' } })
  await stand.active({ upstream_model_id: 'cheap' })
  t.equal((await stand.embed('acme/own')).status, 200)
  t.equal(stand.upstream.calls.at(-1)?.body['model'], 'cheap')
  stand.upstream.script(refuses(500))
  t.match(usageOf(await stand.embed('acme/own')), { cost: 0.000027 })
  t.equal(stand.upstream.calls.at(-1)?.body['model'], 'dear')
})

t.test('a new price applies from the next call on', async (t) => {
  const stand = await openEndpoints(t)
  const id = await stand.active({ pricing: undefined })
  const free = await stand.embed('acme/own')
  t.match(usageOf(free), { cost: 0 })
  t.equal(free.headers.get('x-sluice-unpriced'), null, "what it costs is its owner's")
  await stand.call('put', `/private-endpoints/${id}/pricing`, {
    pricing: { prompt: '0.001', completion: '0' },
  })
  t.match(usageOf(await stand.embed('acme/own')), { cost: 0.003 })
})

t.test('deleting, replacing or rebinding a credential takes effect with the next call', async (t) => {
  const stand = await openEndpoints(t)
  await stand.active()
  t.equal((await stand.embed('acme/own')).status, 200)
  const { length } = stand.vault.asked
  t.equal((await stand.embed('acme/own')).status, 200)
  t.equal(stand.vault.asked.length, length, 'it is released once for many calls')
  t.match(stand.vault.asked.at(-1), { operation: 'embeddings.create', by: { actor: { kind: 'key' } } })
  await stand.vault.put('acme_key', 'replaced', [UPSTREAM_HOST])
  await stand.embed('acme/own')
  t.equal(stand.upstream.calls.at(-1)?.headers['authorization'], 'Bearer replaced')
  await stand.vault.put('acme_key', 'replaced', ['elsewhere.example'])
  const sent = stand.upstream.calls.length
  const refused = await stand.embed('acme/own')
  t.same([refused.status, errorTypeOf(refused)], [502, 'credential_unavailable'])
  await stand.vault.remove('acme_key')
  t.equal((await stand.embed('acme/own')).status, 502)
  t.equal(stand.upstream.calls.length, sent, 'nothing was sent')
  await stand.vault.put('acme_key', CREDENTIAL, [UPSTREAM_HOST])
  t.equal((await stand.embed('acme/own')).status, 200, 'at once')
})

t.test(
  'life cycle: a draft fails validation, is corrected, validated and activated, answers calls, and is deleted',
  async (t) => {
    const stand = await openEndpoints(t, { fronts: 2 })
    const created = await stand.call('post', '/private-endpoints', {
      ...endpointBody(stand.baseUrl),
      upstream_model_id: 'wrong',
    })
    const path = `/private-endpoints/${String(created.body.data?.['id'])}`
    stand.upstream.script(refuses(404, 'The model `wrong` does not exist'))
    const failed = await stand.call('post', `${path}/validate`, { workspace_id: stand.workspaceId })
    t.match(failed.body.data, { passed: false })
    t.equal((await stand.call('post', `${path}/activate`)).status, 409)
    await stand.call('patch', path, { upstream_model_id: 'bge-m3' })
    t.match((await stand.call('post', `${path}/validate`, { workspace_id: stand.workspaceId })).body.data, {
      passed: true,
    })
    t.equal((await stand.call('post', `${path}/activate`)).status, 200)
    for (const nth of [0, 1]) t.match(usageOf(await stand.embed('acme/own', nth)), { is_byok: true })
    await stand.call('post', `${path}/disable`)
    for (const nth of [0, 1]) t.equal((await stand.embed('acme/own', nth)).status, 404)
  },
)

t.test(
  'an endpoint that points to its own front is called HOPS_MAX times, and then the catalogue answers',
  async (t) => {
    const stand = await openEndpoints(t)
    const { hostname, port } = new URL(stand.fronts[0] ?? '')
    // As through a load balancer: the gate cannot know that the address is its own.
    const asked: (string | null)[] = []
    const balancer = createServer((req, res) => {
      asked.push(String(req.headers['x-sluice-hops'] ?? null))
      const on = request(
        {
          host: hostname,
          port,
          method: req.method,
          path: req.url,
          headers: { ...req.headers, authorization: `Bearer ${KEY}` },
        },
        (answer) => {
          res.writeHead(answer.statusCode ?? 0, answer.headers)
          answer.pipe(res)
        },
      )
      req.pipe(on)
    })
    await new Promise<void>((listening) => balancer.listen(0, '127.0.0.1', listening))
    t.teardown(() => balancer.close())
    const baseUrl = `https://${UPSTREAM_HOST}:${(balancer.address() as AddressInfo).port}/api/v1`
    await stand.active({
      model_permaslug: 'acme/embed-1',
      upstream_model_id: 'acme/embed',
      base_url: baseUrl,
    })
    asked.length = 0
    t.equal((await stand.embed('acme/embed')).status, 200)
    t.same(
      asked,
      Array.from({ length: HOPS_MAX }, (_, nth) => String(nth + 1)),
    )
  },
)
