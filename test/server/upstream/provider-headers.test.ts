import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { HOPS_MAX } from '../../../src/schemas/models/provider-limits.ts'
import { keyHeaderOf, plainHeaders } from '../../../src/server/upstream/provider-headers.ts'
import {
  openEmbeddings,
  PROVIDER_KEY,
  type EmbeddingsFront,
} from '../../support/embeddings/embeddings-front.ts'
import { KEY } from '../../support/front.ts'
import { refuses } from '../../support/embeddings/provider-behaviours.ts'

const AZURE_KEY = 'azure-key-0123456789'
const HEADERS = { 'Api-Key': { env: 'AZURE_KEY' }, 'x-portkey-provider': 'openai' }

t.test(
  'a provider gets the headers of the catalogue, also those from variables, whose values callers never read',
  async (t) => {
    const firstProvider = { api_key_env: undefined, headers: HEADERS }
    const front = await openEmbeddings(t, { firstProvider, settings: { AZURE_KEY } })
    t.equal((await front.post({ model: 'acme/free', input: 'x' })).status, 200)
    t.match(front.first.calls[0]?.headers, {
      'api-key': AZURE_KEY,
      'x-portkey-provider': 'openai',
      authorization: undefined,
    })
    front.first.script(refuses(400, `The key ${AZURE_KEY} of openai may not do this`))
    const { status, text } = await front.post({ model: 'acme/free', input: 'x' })
    t.equal(status, 400)
    t.match(text, /of openai may not/)
    t.notMatch(text + JSON.stringify(front.log.events), new RegExp(AZURE_KEY))
  },
)

t.test('a provider with a header from a missing variable counts as not configured', async (t) => {
  const front = await openEmbeddings(t, { firstProvider: { headers: HEADERS } })
  t.match(await front.post({ model: 'acme/free', input: 'x' }), {
    status: 404,
    body: { error: { metadata: { error_type: 'endpoint_unconfigured' } } },
  })
})

t.test("under a workspace's own key, no credential of the operator is sent", async (t) => {
  const headers = [
    { name: 'api-key', value: 'k', env: null },
    { name: 'x-a', value: '', env: 'A' },
    { name: 'x-portkey-provider', value: 'openai', env: null },
  ]
  const provider = {
    slug: 'p',
    name: 'P',
    protocol: 'openai' as const,
    baseUrl: '',
    apiKeyEnv: 'K',
    timeoutMs: 1,
    rename: {},
    video: null,
    headers,
  }
  t.same(plainHeaders(provider), { sent: ['x-portkey-provider', 'openai'], secrets: [] })
})

t.test('sends a workspace key in the header that the catalogue uses for the operator key', async (t) => {
  const provider = {
    slug: 'p',
    name: 'P',
    protocol: 'openai' as const,
    baseUrl: '',
    apiKeyEnv: null,
    timeoutMs: 1,
    rename: {},
    video: null,
  }
  const keyed = (name: string, env: string | null) =>
    keyHeaderOf({ ...provider, headers: [{ name, value: '', env }] })?.('own')
  t.same(keyed('api-key', 'AZURE_KEY'), ['api-key', 'own'])
  t.same(keyed('authorization', 'A'), ['authorization', 'Bearer own'])
  t.equal(keyed('x-portkey-provider', 'P'), undefined, 'a header that carries no key')
  t.equal(keyed('api-key', null), undefined, 'a text of the catalogue')
  const both = { ...provider, apiKeyEnv: 'K', headers: [{ name: 'api-key', value: '', env: 'A' }] }
  t.equal(keyHeaderOf(both), null, "the protocol's header carries it")
})

/** A load balancer before the front, for one model: its address does not show that it leads to this node. */
async function openCircle(t: {
  teardown(run: () => void): void
}): Promise<{ readonly front: EmbeddingsFront; readonly hops: readonly unknown[] }> {
  const hops: unknown[] = []
  let port = 0
  const balancer = createServer((req, res) => {
    hops.push(req.headers['x-sluice-hops'])
    const headers = {
      authorization: `Bearer ${KEY}`,
      'content-type': 'application/json',
      'x-sluice-hops': String(req.headers['x-sluice-hops']),
    }
    const on = request(
      { host: '127.0.0.1', port, method: 'POST', path: '/api/v1/embeddings', headers },
      (answer) => {
        res.writeHead(answer.statusCode ?? 0, { 'content-type': 'application/json' })
        answer.pipe(res)
      },
    )
    req.resume().on('end', () => on.end('{"model":"acme/one","input":"x"}'))
  })
  await new Promise<void>((listening) => balancer.listen(0, '127.0.0.1', listening))
  t.teardown(() => balancer.close())
  const front = await openEmbeddings(t as never, {
    oneAt: `http://127.0.0.1:${(balancer.address() as AddressInfo).port}`,
  })
  port = front.port
  return { front, hops }
}

t.test(
  'a provider that loops back to this node is called HOPS_MAX + 1 times, and then the call fails',
  async (t) => {
    const { front, hops } = await openCircle(t)
    const { status, body } = await front.post({ model: 'acme/one', input: 'x' })
    t.equal(status, 502)
    t.equal(body.error?.metadata['error_type'], 'upstream_failed')
    t.same(
      hops,
      Array.from({ length: HOPS_MAX + 1 }, (_, nth) => String(nth + 1)),
    )
    t.notMatch(JSON.stringify(body), PROVIDER_KEY)
  },
)

t.test('beyond the last hop a model of this node is still served', async (t) => {
  const front = await openEmbeddings(t)
  const far = { 'x-sluice-hops': String(HOPS_MAX + 1) }
  t.equal((await front.post({ model: 'sluice/lexical-1', input: 'x' }, far)).status, 200)
  t.match(await front.post({ model: 'acme/one', input: 'x' }, far), {
    status: 502,
    body: { error: { metadata: { error_type: 'hops_exceeded' } } },
  })
})
