/** Embeddings under a workspace's own keys for providers of the catalogue. B1.3, C23. */
import t from 'tap'
import {
  openEndpoints,
  type EndpointsStand,
  type Answer,
} from '../../../support/endpoints/endpoints-front.ts'
import { INTERN_KEY, KEY, OTHER_KEY } from '../../../support/front.ts'
import { answers, refuses } from '../../../support/embeddings/provider-behaviours.ts'

const OWN = 'sk-own-canary-0123456789'
const OPERATORS = 'shipped-key'

/** Two callers of the workspace in turn: the failures of one alone open no breaker so soon. */
const inTurn = (nth: number) => ({ key: nth % 2 === 0 ? KEY : INTERN_KEY })
const put = ({ vault }: EndpointsStand, value = OWN, hosts: readonly string[] = ['localhost']) =>
  vault.put('keyed_api_key', value, hosts)
const typeOf = ({ body }: Answer): unknown => body.error?.metadata['error_type']
const usageOf = ({ body }: Answer): unknown => body.usage
const keysAt = ({ keyed }: EndpointsStand): readonly unknown[] =>
  keyed.calls.map(({ headers }) => headers['authorization'])

t.test(
  "a workspace's own key replaces the operator's on every front, but for no other workspace",
  async (t) => {
    const stand = await openEndpoints(t, { fronts: 2 })
    for (const nth of [0, 1]) t.match(usageOf(await stand.embed('acme/keyed', nth)), { is_byok: false })
    await put(stand)
    for (const nth of [0, 1])
      t.match(await stand.embed('acme/keyed', nth), {
        status: 200,
        body: { model: 'acme/keyed', usage: { is_byok: true } },
      })
    t.match(usageOf(await stand.embed('acme/keyed:floor')), { is_byok: true })
    t.match(usageOf(await stand.embed('acme/keyed', 0, { key: OTHER_KEY })), { is_byok: false })
    t.match(usageOf(await stand.embed('acme/embed')), { is_byok: false }, 'nor at other providers')
    t.same(
      keysAt(stand),
      [OPERATORS, OPERATORS, OWN, OWN, OWN, OPERATORS].map((key) => `Bearer ${key}`),
    )
  },
)

t.test('a provider without an operator key serves the workspaces that have their own key', async (t) => {
  const stand = await openEndpoints(t)
  t.equal(typeOf(await stand.embed('acme/no-key')), 'endpoint_unconfigured')
  await stand.vault.put('no_key_api_key', OWN, ['localhost'])
  t.match(await stand.embed('acme/no-key'), { status: 200, body: { usage: { is_byok: true } } })
  t.equal(typeOf(await stand.embed('acme/no-key', 0, { key: OTHER_KEY })), 'endpoint_unconfigured')
})

t.test('a provider that expects its key in another header gets the own key in that header', async (t) => {
  const stand = await openEndpoints(t)
  await stand.vault.put('azure_api_key', OWN, ['localhost'])
  t.match(await stand.embed('acme/azure'), { status: 200, body: { usage: { is_byok: true } } })
  t.match(stand.keyed.calls[0]?.headers, { 'api-key': OWN, authorization: undefined })
})

t.test('a key that is bound to other hosts is not used', async (t) => {
  const stand = await openEndpoints(t)
  await put(stand, OWN, ['a.localhost', 'localhost.example'])
  t.match(usageOf(await stand.embed('acme/keyed')), { is_byok: false })
  t.same(keysAt(stand), [`Bearer ${OPERATORS}`])
  t.same(stand.vault.asked, [])
})

t.test(
  'a key that is replaced or removed takes effect with the next call, and is released once for many calls',
  async (t) => {
    const stand = await openEndpoints(t)
    await put(stand)
    for (const _ of [1, 2, 3]) await stand.embed('acme/keyed')
    t.match(stand.vault.asked, [
      {
        name: 'keyed_api_key',
        host: 'localhost',
        operation: 'embeddings.create',
        by: { actor: { kind: 'key' } },
      },
    ])
    await put(stand, 'sk-other')
    await stand.embed('acme/keyed')
    await stand.vault.remove('keyed_api_key')
    t.match(usageOf(await stand.embed('acme/keyed')), { is_byok: false })
    t.same(
      keysAt(stand).slice(2),
      [OWN, 'sk-other', OPERATORS].map((key) => `Bearer ${key}`),
    )
  },
)

t.test(
  "reports a refused key as the workspace's own, and tries neither the operator's key nor another endpoint",
  async (t) => {
    const stand = await openEndpoints(t)
    await put(stand)
    for (const status of [401, 403]) {
      stand.keyed.script(refuses(status))
      const reported = await stand.embed('acme/keyed')
      t.same([reported.status, typeOf(reported)], [502, 'upstream_own_key'])
      t.match(reported.body.error, {
        message: /`keyed_api_key`.*operator's key was not tried.*answered 40[13]/,
        metadata: { provider_name: 'Keyed' },
      })
    }
    t.same([stand.keyed.calls.length, stand.shipped.calls.length], [2, 0])
  },
)

t.test('a refused key affects no other workspace, and its owner gets the reason each time', async (t) => {
  const stand = await openEndpoints(t)
  await put(stand)
  stand.keyed.usually((exchange) =>
    (exchange.call.headers['authorization'] === `Bearer ${OWN}` ? refuses(401) : answers())(exchange),
  )
  for (let nth = 0; nth < 30; nth++)
    t.equal(typeOf(await stand.embed('acme/keyed', 0, inTurn(nth))), 'upstream_own_key')
  t.match(await stand.embed('acme/keyed', 0, { key: OTHER_KEY, body: { provider: { only: ['keyed'] } } }), {
    status: 200,
  })
})

t.test(
  "other failures under a workspace's own key do not affect other workspaces, and fall back as usual",
  async (t) => {
    const stand = await openEndpoints(t)
    await put(stand)
    stand.keyed.usually((exchange) =>
      (exchange.call.headers['authorization'] === `Bearer ${OWN}` ? refuses(500) : answers())(exchange),
    )
    for (let nth = 0; nth < 30; nth++)
      t.match(usageOf(await stand.embed('acme/keyed', 0, inTurn(nth))), { is_byok: false })
    t.ok(stand.keyed.calls.length < 30, 'for itself it is passed over')
    t.match(await stand.embed('acme/keyed', 0, { key: OTHER_KEY, body: { provider: { only: ['keyed'] } } }), {
      status: 200,
    })
  },
)

t.test('names a secret that cannot be released or is no valid key, and sends nothing', async (t) => {
  const stand = await openEndpoints(t)
  await put(stand, 'canary\r\nx-canary: 1')
  for (const _ of [1, 2]) {
    const reported = await stand.embed('acme/keyed')
    t.same([reported.status, typeOf(reported)], [400, 'provider_key_unfit'])
    t.match(reported.body.error?.message, /`keyed_api_key`/)
  }
  await put(stand)
  stand.vault.isBroken = true
  t.equal(typeOf(await stand.embed('acme/keyed')), 'provider_key_unfit')
  t.same([stand.keyed.calls.length, stand.shipped.calls.length], [0, 0])
})

t.test('with an own key, tries private endpoints of a model before those of the catalogue', async (t) => {
  const stand = await openEndpoints(t)
  await stand.active({ model_permaslug: 'acme/keyed' })
  await put(stand)
  t.match(usageOf(await stand.embed('acme/keyed')), { is_byok: true })
  t.equal(stand.keyed.calls.length, 0)
  stand.upstream.script(refuses(500))
  t.match(usageOf(await stand.embed('acme/keyed')), { is_byok: true })
  t.same(keysAt(stand), [`Bearer ${OWN}`])
})

t.test('no key appears in replies or logs, whatever the provider says about it', async (t) => {
  const stand = await openEndpoints(t)
  await put(stand)
  const replies: string[] = []
  for (const key of [undefined, OTHER_KEY]) {
    for (const status of [400, 401, 429, 500]) {
      stand.keyed.script(({ call, ...more }) =>
        refuses(status, `no: ${String(call.headers['authorization'])}`)({ call, ...more }),
      )
      const { body, headers } = await stand.embed('acme/keyed', 0, {
        ...(key !== undefined && { key }),
        body: { provider: { only: ['keyed'] } },
      })
      replies.push(JSON.stringify([body, [...headers]]))
    }
  }
  t.equal(stand.keyed.calls.length, 8)
  t.ok(stand.lines.length > 0)
  t.notMatch(replies.join() + stand.lines.join(), new RegExp(`canary|${OPERATORS}`))
})
