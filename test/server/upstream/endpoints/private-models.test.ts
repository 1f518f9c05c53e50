import t from 'tap'
import { fail, ok, type Outcome } from '../../../../src/schemas/failures.ts'
import { Secret } from '../../../../src/schemas/vault/secret.ts'
import type { Endpoint, OwnWay, Provider, ResolvedModel } from '../../../../src/server/ports/models/models.ts'
import type {
  PrivateEndpoint,
  WorkspaceModels,
} from '../../../../src/server/ports/endpoints/private-endpoints.ts'
import type { SecretBinding } from '../../../../src/server/ports/vault/secret-rows.ts'
import { listOwn } from '../../../../src/server/catalogue/own-models.ts'
import {
  WORKSPACE_MODELS_CACHED_MAX,
  createPrivateModels,
} from '../../../../src/server/upstream/endpoints/private-models.ts'
import { gate } from '../../../support/gate.ts'
import { testFeed, testKey } from '../../../support/keys/key-store.ts'
import { flatPrices } from '../../../support/inference/bounded-endpoints.ts'
import { must, present } from '../../../support/must.ts'
import { RELEASED_CREDENTIAL_MS } from '../../../../src/server/upstream/endpoints/released-credentials.ts'
import { RELOADS_MS_MAX } from '../../../../src/server/caches/live-loads.ts'

const GRACE_MS = 1_000
const { record: KEY } = testKey()

function endpoint(id: string, more: Partial<PrivateEndpoint> = {}): PrivateEndpoint {
  return {
    id,
    organizationId: 'o',
    workspaceId: 'w',
    status: 'active',
    modelPermaslug: 'acme/own',
    providerSlug: 'custom',
    upstreamModelId: 'm',
    baseUrl: 'https://a.example/v1',
    declaredRegion: null,
    declaredZdr: null,
    pricing: null,
    secretName: 's',
    forms: null,
    speaks: ['embeddings'],
    createdAt: new Date(0),
    ...more,
  }
}

const PROVIDER: Provider = {
  slug: 'shipped',
  name: 'Shipped',
  protocol: 'openai',
  baseUrl: 'https://API.shipped.example/v1',
  apiKeyEnv: 'A',
  timeoutMs: 1,
  rename: {},
  video: null,
}
const AT: Endpoint = {
  tag: 'shipped/m',
  provider: PROVIDER,
  upstreamModel: 'm',
  prices: flatPrices({ promptNanoPerMillion: 1 }),
  isUnpriced: false,
  quantization: null,
  isZdr: null,
  mayTrain: null,
  isDistillable: null,
  contextLength: null,
  supportedParameters: [],
  video: null,
  text: null,
}
const CALLED = {
  id: 'shipped/m',
  canonicalSlug: 'shipped/m',
  isEmbedding: true,
  isUnpriced: false,
  inputModalities: ['text'],
  video: null,
  endpoints: [AT, { ...AT, tag: 'b' }],
} as unknown as ResolvedModel

/** The call for which credentials are released. */
const CALL = { key: 'k', requestId: null, operation: 'chat.create' }

function stand(
  rows: () => Promise<Outcome<readonly PrivateEndpoint[]>>,
  bindings: () => readonly SecretBinding[] = () => [],
) {
  const feed = testFeed()
  const clock = { ms: 0 }
  const asked = { rows: 0, releases: 0 }
  let value = 'first'
  const models = createPrivateModels({
    rows: { active: () => (asked.rows++, rows()) },
    bindings: { among: () => Promise.resolve(ok(bindings())) },
    releases: {
      async release() {
        asked.releases++
        if (value === 'bug') throw new Error('a bug')
        return value === '' ? fail('secret_not_released') : ok(new Secret(value))
      },
    },
    catalogue: { resolve: (id) => (id === CALLED.id ? CALLED : null), providers: [PROVIDER] },
    listOwn: (own) => listOwn(own, () => clock.ms),
    feed,
    graceMs: GRACE_MS,
    now: () => clock.ms,
  })
  const tell = (kind: 'private_endpoint' | 'vault', id = 'w'): void => feed.tell({ n: 1, kind, id })
  const known = async (): Promise<WorkspaceModels | null> => {
    const found = models.of(KEY)
    return found instanceof Promise ? must(await found) : found
  }
  return { models, feed, clock, asked, tell, known, setValue: (text: string) => void (value = text) }
}

const wayOf = (models: WorkspaceModels | null): OwnWay =>
  present(models?.resolve('acme/own')?.endpoints[0]?.ownWay)

t.test('a workspace without endpoints is queried once, and then served from the cache', async (t) => {
  const { models, asked, known, clock } = stand(() => Promise.resolve(ok([])))
  t.equal(await known(), null)
  t.equal(models.of(KEY), null)
  t.equal(asked.rows, 1)
  clock.ms = 10 * GRACE_MS
  t.equal(await known(), null)
  t.equal(asked.rows, 2, 'beyond the grace only the store knows')
})

t.test('the next call reads a change of its workspace, and none of other workspaces', async (t) => {
  let rows: readonly PrivateEndpoint[] = []
  const { models, tell, known, asked } = stand(() => Promise.resolve(ok(rows)))
  await known()
  rows = [endpoint('1')]
  tell('private_endpoint', 'elsewhere')
  t.equal(models.of(KEY), null)
  tell('vault', 'elsewhere')
  t.equal(models.of(KEY), null)
  tell('private_endpoint')
  t.equal((await known())?.resolve('ACME/Own')?.id, 'acme/own')
  rows = []
  tell('private_endpoint')
  t.equal(await known(), null)
  t.equal(asked.rows, 3)
})

t.test('rows that were read before a change are not kept', async (t) => {
  const held = gate()
  let rows: readonly PrivateEndpoint[] = [endpoint('1')]
  let isHeld = true
  const { tell, known, asked } = stand(async () => {
    const read = rows
    if (isHeld) await held.opened
    return ok(read)
  })
  const first = known()
  rows = []
  isHeld = false
  tell('private_endpoint')
  held.open()
  t.equal(await first, null)
  t.equal(asked.rows, 2)
})

t.test('each change of the workspace during a read repeats it, and other changes do not', async (t) => {
  const made = stand(() => {
    if (made.asked.rows <= 10) made.tell('vault')
    made.tell('private_endpoint', 'elsewhere')
    made.feed.tell({ n: 1, kind: 'workspace', id: 'w' })
    return Promise.resolve(ok([endpoint('1')]))
  })
  t.ok(await made.known())
  t.equal(made.asked.rows, 11)
})

t.test('a workspace that changes during every read until the deadline fails with busy', async (t) => {
  const made = stand(() => {
    made.tell('private_endpoint')
    made.clock.ms += RELOADS_MS_MAX / 10
    return Promise.resolve(ok([]))
  })
  t.match(await made.models.of(KEY), { ok: false, failure: { name: 'busy' } })
})

t.test(
  'serves calls while the change feed keeps losing track, and drops the released credentials at once',
  async (t) => {
    const made = stand(() => {
      made.feed.tell({ kind: 'everything' })
      return Promise.resolve(ok([endpoint('1')]))
    })
    const way = wayOf(await made.known())
    must(await way.release(CALL))
    t.equal(way.released, null)
    t.ok(made.models.of(KEY) instanceof Promise)
  },
)

t.test('cached endpoints expire with the grace period, and when the change feed loses track', async (t) => {
  const { models, known, asked, feed, clock } = stand(() => Promise.resolve(ok([endpoint('1')])))
  await known()
  clock.ms = GRACE_MS
  t.notOk(models.of(KEY) instanceof Promise)
  clock.ms = GRACE_MS + 1
  t.ok(models.of(KEY) instanceof Promise)
  await known()
  clock.ms = 0
  feed.tell({ kind: 'everything' })
  await known()
  t.equal(asked.rows, 3)
})

t.test('reports an unavailable store, and queries it again at the next call', async (t) => {
  let isAway = true
  const { models, known } = stand(() =>
    Promise.resolve(isAway ? fail('store_unavailable') : ok([endpoint('1')])),
  )
  t.match(await models.of(KEY), { ok: false, failure: { name: 'store_unavailable' } })
  isAway = false
  t.ok(await known())
})

t.test(
  'a credential is released once for the calls of a minute, also for calls that come together',
  async (t) => {
    const { known, asked, clock, setValue } = stand(() => Promise.resolve(ok([endpoint('1')])))
    const way = wayOf(await known())
    t.equal(way.destination?.workspaceId, 'w', 'and the gate gets its workspace')
    t.equal(way.released, null)
    const [one, other] = await Promise.all([way.release(CALL), way.release(CALL)])
    t.equal(must(one), must(other))
    t.equal(way.released, must(one))
    t.equal(asked.releases, 1)
    clock.ms = RELEASED_CREDENTIAL_MS
    t.equal(way.released, null)
    t.equal(must(await way.release(CALL)), must(one), 'the same value is the same object')
    setValue('second')
    t.equal(must(await way.release(CALL)).reveal(), 'second')
  },
)

t.test('a cached credential is dropped at every change of the vault, also for running calls', async (t) => {
  const { known, tell, setValue, asked } = stand(() => Promise.resolve(ok([endpoint('1')])))
  const way = wayOf(await known())
  await way.release(CALL)
  setValue('')
  tell('vault')
  t.equal(way.released, null)
  t.match(await way.release(CALL), { ok: false, failure: { name: 'secret_not_released' } })
  t.match(await wayOf(await known()).release(CALL), { ok: false })
  t.equal(asked.releases, 3)
})

t.test('a release that threw fails its own call and no later one', async (t) => {
  const { known, setValue } = stand(() => Promise.resolve(ok([endpoint('1')])))
  const way = wayOf(await known())
  setValue('bug')
  await t.rejects(way.release(CALL), { message: 'a bug' })
  setValue('second')
  t.ok((await way.release(CALL)).ok)
})

t.test('a release during which the vault changed serves its own call and no other', async (t) => {
  const { known, tell } = stand(() => Promise.resolve(ok([endpoint('1')])))
  const way = wayOf(await known())
  const releasing = way.release(CALL)
  tell('vault')
  t.ok((await releasing).ok)
  t.equal(way.released, null)
})

t.test(
  'endpoints of one slug are tried cheapest first, then oldest; those without a price last',
  async (t) => {
    const priced = (id: string, prompt: string): PrivateEndpoint =>
      endpoint(id, { pricing: { prompt, completion: '0' } })
    const rows = [
      endpoint('free'),
      priced('dear', '0.000002'),
      priced('cheap', '0.000001'),
      priced('cheap-too', '0.000001'),
    ]
    const { known } = stand(() => Promise.resolve(ok(rows)))
    const tags = (await known())?.resolve('acme/own')?.endpoints.map(({ tag }) => tag)
    t.same(
      tags,
      ['cheap', 'cheap-too', 'dear', 'free'].map((id) => `private/${id}`),
    )
  },
)

t.test('a provider has one of a few names in metrics and preferences, for any slug spelling', async (t) => {
  const { known } = stand(() =>
    Promise.resolve(
      ok([endpoint('1', { providerSlug: 'OpenAI-Compatible' }), endpoint('2', { providerSlug: 'gone' })]),
    ),
  )
  t.same(
    (await known())?.resolve('acme/own')?.endpoints.map(({ provider }) => provider.slug),
    ['openai-compatible'],
  )
})

t.test('caches WORKSPACE_MODELS_CACHED_MAX workspaces, and evicts the least recently used', async (t) => {
  const { models, asked } = stand(() => Promise.resolve(ok([])))
  const ask = (workspaceId: string) => models.of({ ...KEY, workspaceId })
  for (let nth = 0; nth <= WORKSPACE_MODELS_CACHED_MAX; nth++) await ask(`w${nth}`)
  t.equal(ask('w1'), null)
  t.ok(ask('w0') instanceof Promise)
  t.equal(asked.rows, WORKSPACE_MODELS_CACHED_MAX + 2)
})

t.test('a workspace with a key for a provider uses it, as long as it exists', async (t) => {
  let bindings: readonly SecretBinding[] = []
  const { models, known, tell } = stand(
    () => Promise.resolve(ok([])),
    () => bindings,
  )
  for (const hosts of [['api.shipped.example.'], ['shipped.example'], ['eu.api.shipped.example']]) {
    bindings = [{ name: 'shipped_api_key', hosts }]
    tell('vault')
    t.equal(await known(), null, `not when it is bound to ${String(hosts)}`)
  }
  bindings = [{ name: 'shipped_api_key', hosts: ['a.example', 'api.shipped.example'] }]
  t.equal(models.of(KEY), null, 'no change has been published yet')
  tell('vault')
  const own = await known()
  const ways = own?.resolve(CALLED.id)?.endpoints.map(({ ownWay }) => ownWay)
  t.match(ways, [{ destination: null, secretName: 'shipped_api_key' }, {}])
  t.equal(ways?.[0], ways?.[1], 'one release for all of its endpoints')
  t.equal(own?.resolve(CALLED.id), own?.resolve(CALLED.id))
  bindings = []
  tell('vault')
  t.equal(await known(), null)
})

t.test('a front that lost the change feed queries the store for new keys of a workspace', async (t) => {
  let bindings: readonly SecretBinding[] = []
  const { known, clock } = stand(
    () => Promise.resolve(ok([])),
    () => bindings,
  )
  t.equal(await known(), null)
  bindings = [{ name: 'shipped_api_key', hosts: ['api.shipped.example'] }]
  clock.ms = GRACE_MS + 1
  t.ok((await known())?.resolve(CALLED.id)?.endpoints[0]?.ownWay)
})
