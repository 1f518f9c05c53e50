import t from 'tap'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { assemble, type FrontSettings } from '../../../bench/ladder/assemble.ts'
import { rungsOf, SUBJECT_NAMES } from '../../../bench/ladder/rungs.ts'
import { createKey } from '../../../src/server/store/keys/api-keys.ts'
import { openStore } from '../../../src/server/store/base/open.ts'
import { createOrganization } from '../../../src/server/store/workspaces/organizations.ts'
import { CLI } from '../../support/audit/audit.ts'
import { must } from '../../support/must.ts'
import { PROVIDER_KEY, standCatalogue, STAND_MODEL } from '../../support/nodes/stand.ts'
import { openTestDatabase } from '../../support/stores/postgres.ts'
import { openTestRedis } from '../../support/stores/redis.ts'
import type { Teardown } from '../../support/teardown.ts'
import { connected } from '../../support/wire/connected.ts'

const VECTOR = '[{"object":"embedding","index":0,"embedding":[0.25,0.5]}]'
const ANSWER = `{"object":"list","data":${VECTOR},"model":"m","usage":{"prompt_tokens":8,"total_tokens":8}}`
const BODY = JSON.stringify({ model: STAND_MODEL, input: 'a', encoding_format: 'float' })

/** Answers every request alike, as the bench's provider does. */
async function openProvider(t: Teardown): Promise<{ readonly origin: string; readonly bodies: string[] }> {
  const bodies: string[] = []
  const server = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (text: string) => (body += text))
    request.on('end', () => {
      bodies.push(body)
      response.writeHead(200, { 'content-type': 'application/json' }).end(ANSWER)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => void server.close().closeAllConnections())
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, bodies }
}

const provider = await openProvider(t)
const { url: databaseUrl } = await openTestDatabase(t)
const { socketPath } = await openTestRedis(t)
const store = openStore({ url: databaseUrl, poolMax: 2, applicationName: 'sluice-test' })
t.teardown(() => store.close())
await connected(store)
const { organization, workspace } = must(await createOrganization(store, { name: 'o' }))
const { key: apiKey } = must(
  await createKey(
    store,
    {
      kind: 'inference',
      name: 'k',
      organizationId: organization.id,
      workspaceId: workspace.id,
      rateLimitRpm: 1_000,
      expiresAt: null,
    },
    CLI,
  ),
)
const folder = t.testdir({})
const catalogFile = join(folder, 'catalog.json')
writeFileSync(catalogFile, JSON.stringify(standCatalogue(provider.origin, '0.00000002')))

/** The answer of a front of these parts to one call; asks again where the machine made the front late. */
async function asked(parts: readonly string[], authorization = `Bearer ${apiKey}`): Promise<Response> {
  for (;;) {
    const answer = await askedOnce(parts, authorization)
    if (answer.status !== 503) return answer
  }
}

async function askedOnce(parts: readonly string[], authorization: string): Promise<Response> {
  const settings: FrontSettings = {
    port: 0,
    parts,
    catalogFile,
    provider: provider.origin,
    providerKey: PROVIDER_KEY,
    databaseUrl,
    redis: { socketPath },
    apiKey,
    folder,
    spansTo: 'http://127.0.0.1:1',
  }
  const front = await assemble(settings)
  try {
    const headers = { authorization, 'content-type': 'application/json', connection: 'close' }
    const url = `http://127.0.0.1:${front.port}/api/v1/embeddings`
    const answer = await fetch(url, { method: 'POST', headers, body: BODY })
    return new Response(await answer.arrayBuffer(), answer)
  } finally {
    await front.close()
  }
}

const partsUpTo = (name: string): readonly string[] =>
  rungsOf(SUBJECT_NAMES).find(({ part }) => part.name === name)?.parts ?? []

t.test('the lowest front passes on what came and what comes back', async (t) => {
  const answer = await asked(partsUpTo('head'), 'Bearer nothing')
  t.same([answer.status, await answer.text(), provider.bodies.at(-1)], [200, ANSWER, BODY])
})

t.test('a front with access knows the caller by the key alone', async (t) => {
  t.equal((await asked(partsUpTo('access'), 'Bearer nothing')).status, 401)
  const rated = await asked(partsUpTo('rate'))
  t.equal(rated.headers.get('x-ratelimit-limit'), '1000')
})

t.test('a front with routing asks the provider in its own words, and answers with the vectors', async (t) => {
  const answer = await asked(partsUpTo('routing'))
  t.same([answer.status, await answer.text()], [200, VECTOR])
  t.same(JSON.parse(provider.bodies.at(-1) ?? ''), { model: 'bench-embed', input: 'a' })
})

t.test('the whole front answers as the product does, and its ledger has the call', async (t) => {
  const answer = await asked(partsUpTo('tracing'))
  t.equal(answer.status, 200)
  t.match(await answer.json(), { data: [{ embedding: [0.25, 0.5] }], usage: { prompt_tokens: 8 } })
  const rows = await store.sql<{ operation: string }[]>`SELECT operation FROM ledger`
  t.same(
    rows.map(({ operation }) => operation),
    ['embeddings.create'],
  )
})

t.test('money that is not written down leaves nothing in the ledger', async (t) => {
  t.equal((await asked(partsUpTo('journal'))).status, 200)
  const [row] = await store.sql<{ count: number }[]>`SELECT count(*)::int AS count FROM ledger`
  t.equal(row?.count, 1)
})
