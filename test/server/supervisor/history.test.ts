import t, { type Test } from 'tap'
import type { HistoryData } from '../../../src/schemas/operator/history.ts'
import { openStore, type Store } from '../../../src/server/store/base/open.ts'
import { firstKeys, nodeSettings, startNode, until } from '../../support/nodes/node.ts'
import { runVerb } from '../../support/operator/verbs.ts'
import { served } from '../../support/wire/served.ts'

t.setTimeout(600_000)

/** An operation that the test alone calls. */
const COUNTED = 'embeddings.list_models'
const CALLS = 7

const settings = await nodeSettings(t)
const node = await startNode(t, settings)
const { management_key: managementKey = '', inference_key: inferenceKey = '' } = firstKeys(node.dataDir)

/** Each once: one that is refused is counted too. */
async function call(): Promise<void> {
  const headers = { authorization: `Bearer ${inferenceKey}`, connection: 'close' }
  for (let nth = 0; nth < CALLS; nth++)
    await (await fetch(`${node.ready.url}/api/v1/embeddings/models`, { headers })).arrayBuffer()
}

async function history(query: string): Promise<HistoryData> {
  const { data } = await served(async () => {
    const answer = await fetch(`${node.ready.url}/api/v1/admin/history?${query}`, {
      headers: { authorization: `Bearer ${managementKey}`, connection: 'close' },
    })
    const { data } = (await answer.json()) as { data: HistoryData }
    return { status: answer.status, data }
  })
  return data
}

/** The store that the node used. */
function opened(t: Test): Store {
  const store = openStore({ url: settings['DATABASE_URL'] ?? '', poolMax: 1, applicationName: 'sluice-test' })
  t.teardown(() => store.close())
  return store
}

/** Calls of the last hour, by the second. */
async function counted(): Promise<number> {
  const { lines } = await history('by=operation&grain=second')
  const values = lines.find(({ name }) => name === COUNTED)?.values ?? []
  return values.reduce<number>((sum, value) => sum + (value ?? 0), 0)
}

t.test('a front that is replaced, and one that is killed, leave no hole in the sums', async (t) => {
  await call()
  t.equal((await runVerb(settings, ['reload'])).code, 0)
  await call()
  await until('both fronts have told', async () => (await counted()) === 2 * CALLS)
  await node.signal('front', 'SIGKILL')
  await until('another front answers', () => node.answers())
  await call()
  await until('the next front has told', async () => (await counted()) === 3 * CALLS)
})

t.test('the history has starts and reloads as events', async (t) => {
  const { events } = await history('metric=latency')
  t.same(
    events.map(({ kind }) => kind).filter((kind) => kind === 'start' || kind === 'reload'),
    ['start', 'reload'],
  )
})

t.test('a node that ends has written its hours for all nodes', async (t) => {
  t.equal(await node.stop(), 0)
  const { sql } = opened(t)
  const written = async (): Promise<number> => {
    const [row] = await sql<{ calls: number | null }[]>`
      SELECT sum(figures[1])::float8 AS calls FROM history_hours WHERE dimension = 'operation' AND name = ${COUNTED}`
    return row?.calls ?? 0
  }
  // An end waits for a slow store for a moment only, and leaves the hours to the next start.
  if ((await written()) === 0) await (await startNode(t, settings)).stop()
  t.equal(await written(), 3 * CALLS)
})

t.test('its next start goes on, and the hour is not counted twice', async (t) => {
  const next = await startNode(t, settings)
  t.equal(await counted(), 3 * CALLS)
  const { lines } = await history('by=operation&grain=hour')
  t.ok(lines.some(({ name }) => name === COUNTED))
  t.equal(await next.stop(), 0)
  const runs = await opened(t).sql`SELECT DISTINCT run FROM history_hours`
  t.equal(runs.length, 1)
})
