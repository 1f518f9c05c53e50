import t from 'tap'
import { newApiKey } from '../../../src/schemas/keys/api-keys.ts'
import { ratedKey } from '../../../bench/limits/owners.ts'
import { startProxy } from '../../../bench/peers/proxies.ts'
import type { ProxyKey } from '../../../bench/peers/settings.ts'
import type { Target } from '../../../bench/target.ts'
import { ROOT } from '../../support/source.ts'
import { startStand, STAND_MODEL, type Stand } from '../../support/nodes/stand.ts'
import { until } from '../../support/wait.ts'

const RATED_RPM = 1
const PATH = '/api/v1/embeddings'

/** One request, by what differs from a good one. */
interface Ask {
  readonly title: string
  readonly status: number
  readonly method?: string
  readonly path?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
}

const GOOD = { model: STAND_MODEL, input: 'The quick brown fox jumps over the lazy dog.' }
const STRANGE: readonly Ask[] = [
  { title: 'a good text', status: 200, body: GOOD },
  { title: 'a list of one text', status: 200, body: { ...GOOD, input: ['a'] } },
  { title: 'a list of tokens', status: 200, body: { ...GOOD, input: [1, 2, 3] } },
  { title: 'a large text', status: 200, body: { ...GOOD, input: 'a'.repeat(300_000) } },
  {
    title: 'vectors in base64, whose form the provider does not keep',
    status: 200,
    body: { ...GOOD, encoding_format: 'base64' },
  },
  {
    title: 'another number of texts than the provider answers',
    status: 502,
    body: { ...GOOD, input: ['a', 'b'] },
  },
  { title: 'a body without a type', status: 200, headers: { 'content-type': '' }, body: GOOD },
  { title: 'no key', status: 401, headers: { authorization: '' }, body: GOOD },
  { title: 'a key of another scheme', status: 401, headers: { authorization: 'Basic abc' }, body: GOOD },
  { title: 'a malformed key', status: 401, headers: { authorization: 'Bearer nothing' }, body: GOOD },
  {
    title: 'an unknown key',
    status: 401,
    headers: { authorization: `Bearer ${newApiKey('inference').key}` },
    body: GOOD,
  },
  { title: 'no JSON', status: 400, body: '{' },
  { title: 'an empty body', status: 400, body: '' },
  { title: 'JSON with a lone surrogate', status: 400, body: `{"model":"${STAND_MODEL}","input":"\\ud800"}` },
  { title: 'JSON that is nested too deep', status: 400, body: '['.repeat(100) + ']'.repeat(100) },
  { title: 'no input', status: 400, body: { model: STAND_MODEL } },
  { title: 'tokens that are not whole', status: 400, body: { ...GOOD, input: [1.5] } },
  { title: 'lists of two kinds', status: 400, body: { ...GOOD, input: ['a', 1] } },
  { title: 'an unknown model', status: 404, body: { ...GOOD, model: 'no/such' } },
  { title: 'a type that is not JSON', status: 400, headers: { 'content-type': 'text/plain' }, body: GOOD },
  { title: 'a compressed body', status: 400, headers: { 'content-encoding': 'gzip' }, body: GOOD },
  { title: 'another path', status: 404, path: '/api/v1/nothing', body: GOOD },
  { title: 'another method', status: 405, method: 'PUT', body: GOOD },
]

interface Stated {
  readonly status: number
  readonly type: string
  readonly issues: unknown
  readonly body: Readonly<Record<string, unknown>>
  readonly headers: Headers
}

async function ask(port: number, key: string, one: Ask): Promise<Stated> {
  const { body } = one
  const headers = {
    'content-type': 'application/json',
    authorization: `Bearer ${key}`,
    connection: 'close',
    ...one.headers,
  }
  const answer = await fetch(`http://127.0.0.1:${port}${one.path ?? PATH}`, {
    method: one.method ?? 'POST',
    headers: Object.entries(headers).filter(([, value]) => value !== ''),
    body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
  })
  const text = (await answer.json()) as Record<string, unknown>
  const { metadata } = (text['error'] ?? {}) as { metadata?: { error_type?: string; issues?: unknown } }
  return {
    status: answer.status,
    type: metadata?.error_type ?? '',
    issues: metadata?.issues ?? null,
    body: text,
    headers: answer.headers,
  }
}

let stand: Stand
let rated: string
const poor = newApiKey('inference').key
const peers: Target[] = []

t.before(async () => {
  stand = await startStand()
  rated = await ratedKey(stand, RATED_RPM)
  const keys: readonly ProxyKey[] = [
    { key: rated, kind: 'inference', limitRpm: RATED_RPM, limitNano: null },
    // Enough for one call at what it may cost at most, 60 tokens, and not for a second one after its 8 were
    // paid.
    { key: poor, kind: 'inference', limitRpm: null, limitNano: 1_250 },
  ]
  for (const kind of ['node', 'fastify'] as const) {
    const one = await startProxy(kind, stand, { root: ROOT, keys })
    if ('absent' in one) t.comment(`${kind}: ${one.absent}`)
    else peers.push(one)
  }
})

t.teardown(async () => {
  for (const peer of peers) await peer.stop()
  await stand.stop()
})

for (const one of STRANGE) {
  t.test(`${one.title}: peers answer as the product does`, async (t) => {
    const ours = await ask(stand.port, stand.keys.inference_key, one)
    t.equal(ours.status, one.status)
    for (const peer of peers) {
      const theirs = await ask(peer.port, stand.keys.inference_key, one)
      t.equal(theirs.status, ours.status, peer.name)
      t.equal(theirs.type, ours.type, peer.name)
      t.same(theirs.issues, ours.issues, peer.name)
      t.same(theirs.body['data'], ours.body['data'], peer.name)
      t.same(theirs.body['usage'], ours.body['usage'], peer.name)
      t.equal(theirs.body['model'], ours.body['model'], peer.name)
    }
  })
}

t.test('a management key is refused as the wrong kind by every peer', async (t) => {
  for (const { port } of [stand, ...peers]) {
    const text = await ask(port, stand.keys.management_key, { title: '', status: 0, body: GOOD })
    t.match(text, { status: 403, type: 'wrong_key_kind' })
  }
})

t.test('every peer refuses a key over its rate with the same headers', async (t) => {
  for (const one of [stand, ...peers]) {
    const { port } = one
    let key = rated
    let first = await ask(port, key, { title: '', status: 0, body: GOOD })
    // A Redis that is late with an answer counts as away: the key is refused then, as one that may be used up.
    if (one === stand)
      await until('a key is not over its rate', async () => {
        if (first.status !== 429) return true
        key = await ratedKey(stand, RATED_RPM)
        first = await ask(port, key, { title: '', status: 0, body: GOOD })
        return first.status !== 429
      })
    t.match(first, { status: 200 })
    t.equal(first.headers.get('x-ratelimit-limit'), String(RATED_RPM))
    const second = await ask(port, key, { title: '', status: 0, body: GOOD })
    t.match(second, { status: 429, type: 'rate_limited' })
    t.ok(Number(second.headers.get('retry-after')) > 0)
    t.equal(second.headers.get('x-ratelimit-remaining'), '0')
  }
})

t.test('the spend of a key adds up until its budget is used up', async (t) => {
  for (const { port } of peers) {
    const first = await ask(port, poor, { title: '', status: 0, body: GOOD })
    t.match(first, { status: 200, body: { usage: { cost: 1.6e-7 } } })
    const second = await ask(port, poor, { title: '', status: 0, body: GOOD })
    t.match(second, { status: 403, type: 'key_limit_exceeded' })
  }
})
