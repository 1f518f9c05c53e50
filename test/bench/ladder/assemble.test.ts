import t from 'tap'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { CHAT_ANSWER } from '../../../bench/chat/paced-answers.ts'
import { bodyOf, catalogue, MODELS } from '../../../bench/chat/subjects.ts'
import { assemble, type FrontSettings } from '../../../bench/ladder/assemble.ts'
import { rungsOf, SUBJECT_NAMES, type LadderCall } from '../../../bench/ladder/rungs.ts'
import { createKey } from '../../support/keys/make-keys.ts'
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
const STREAM = CHAT_ANSWER.begin + CHAT_ANSWER.text + CHAT_ANSWER.end

/** Answers every request of a kind alike, as the bench's providers do. */
async function openProvider(
  t: Teardown,
): Promise<{ readonly port: number; readonly origin: string; readonly bodies: string[] }> {
  const bodies: string[] = []
  const server = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (text: string) => (body += text))
    request.on('end', () => {
      bodies.push(body)
      const isChat = request.url === '/v1/chat/completions'
      const isStream = isChat && body.includes('"stream":true')
      response.writeHead(200, { 'content-type': isStream ? 'text/event-stream' : 'application/json' })
      response.end(isStream ? STREAM : isChat ? CHAT_ANSWER.whole : ANSWER)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => void server.close().closeAllConnections())
  const { port } = server.address() as AddressInfo
  return { port, origin: `http://127.0.0.1:${port}`, bodies }
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
    { organizationId: organization.id, workspaceId: workspace.id, rateLimitRpm: 1_000 },
    CLI,
  ),
)
const folder = t.testdir({})
const catalogFile = join(folder, 'catalog.json')
writeFileSync(catalogFile, JSON.stringify(standCatalogue(provider.origin, '0.00000002')))
const chatCatalogFile = join(folder, 'chat.json')
writeFileSync(chatCatalogFile, JSON.stringify(catalogue(provider.port)))

interface Asked {
  readonly call?: LadderCall
  readonly authorization?: string
}

/** The answer of a front of these parts to one call; asks again where the machine made the front late. */
async function asked(parts: readonly string[], more: Asked = {}): Promise<Response> {
  for (;;) {
    const answer = await askedOnce(parts, more)
    if (answer.status !== 503) return answer
  }
}

async function askedOnce(
  parts: readonly string[],
  { call = 'embeddings', authorization = `Bearer ${apiKey}` }: Asked,
): Promise<Response> {
  const isChat = call !== 'embeddings'
  const settings: FrontSettings = {
    port: 0,
    call,
    parts,
    catalogFile: isChat ? chatCatalogFile : catalogFile,
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
    const url = `http://127.0.0.1:${front.port}/api/v1/${isChat ? 'chat/completions' : 'embeddings'}`
    const answer = await fetch(url, { method: 'POST', headers, body: isChat ? chatBody(call) : BODY })
    return new Response(await answer.arrayBuffer(), answer)
  } finally {
    await front.close()
  }
}

function chatBody(call: LadderCall): string {
  return bodyOf('chat', { model: MODELS.chat, isStream: call === 'event', events: null })
}

const partsUpTo = (name: string, call: LadderCall = 'embeddings'): readonly string[] =>
  rungsOf(SUBJECT_NAMES, call).find(({ part }) => part.name === name)?.parts ?? []

t.test('the lowest front forwards requests and answers unchanged', async (t) => {
  const answer = await asked(partsUpTo('head'), { authorization: 'Bearer nothing' })
  t.same([answer.status, await answer.text(), provider.bodies.at(-1)], [200, ANSWER, BODY])
})

t.test('a front with access identifies the caller by the key alone', async (t) => {
  t.equal((await asked(partsUpTo('access'), { authorization: 'Bearer nothing' })).status, 401)
  const rated = await asked(partsUpTo('rate'))
  t.equal(rated.headers.get('x-ratelimit-limit'), '1000')
})

t.test('a front with routing sends the form of the provider, and returns the vectors', async (t) => {
  const answer = await asked(partsUpTo('routing'))
  t.equal(answer.status, 200)
  t.match(await answer.json(), { data: JSON.parse(VECTOR) as unknown[] })
  t.same(JSON.parse(provider.bodies.at(-1) ?? ''), { model: 'bench-embed', input: 'a' })
})

t.test('the whole front answers as the product does, and writes the call to its ledger', async (t) => {
  const answer = await asked(partsUpTo('tracing'))
  t.equal(answer.status, 200)
  t.match(await answer.json(), { data: [{ embedding: [0.25, 0.5] }], usage: { prompt_tokens: 8 } })
  const rows = await store.sql<{ operation: string }[]>`SELECT operation FROM ledger`
  t.same(
    rows.map(({ operation }) => operation),
    ['embeddings.create'],
  )
})

t.test('a front without the ledger part writes no row to the ledger', async (t) => {
  t.equal((await asked(partsUpTo('journal'))).status, 200)
  const [row] = await store.sql<{ count: number }[]>`SELECT count(*)::int AS count FROM ledger`
  t.equal(row?.count, 1)
})

t.test('the lowest front of chat forwards an answer and a stream unchanged', async (t) => {
  const whole = await asked(partsUpTo('head', 'whole'), { call: 'whole', authorization: 'Bearer nothing' })
  t.same([whole.status, await whole.text()], [200, CHAT_ANSWER.whole])
  const event = await asked(partsUpTo('body', 'event'), { call: 'event' })
  t.same([event.status, await event.text()], [200, STREAM])
  t.equal(provider.bodies.at(-1), chatBody('event'))
})

t.test('a front of chat with routing forwards the events of the endpoint', async (t) => {
  for (const rung of ['routing', 'egress']) {
    const event = await asked(partsUpTo(rung, 'event'), { call: 'event' })
    const text = await event.text()
    t.equal(text.split('"content":"x').length, 2, rung)
    t.match(text, /"model":"bench\/chat".*\[DONE\]/s, rung)
    t.match(JSON.parse(provider.bodies.at(-1) ?? ''), { model: 'bench-model', stream: true })
    const whole = await asked(partsUpTo(rung, 'whole'), { call: 'whole' })
    t.match(await whole.json(), { model: 'bench/chat', usage: {} }, rung)
  }
})

t.test('the whole front of chat charges for a stream and keeps its record', async (t) => {
  const event = await asked(partsUpTo('requests', 'event'), { call: 'event' })
  t.match(await event.text(), /"cost":[\d.]+.*\[DONE\]/s)
  const [paid] = await store.sql<{ count: number }[]>`
    SELECT count(*)::int AS count FROM ledger WHERE operation = 'chat.create'`
  const [kept] = await store.sql<{ count: number }[]>`SELECT count(*)::int AS count FROM generation_records`
  t.same([paid?.count, kept?.count], [1, 1])
})
