import { readFileSync } from 'node:fs'
import { join } from 'node:path'
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

t.test('replacing and killing a front loses no calls from the sums', async (t) => {
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

t.test('a node writes its hours before it ends, for all nodes', async (t) => {
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

t.test('its next start, on a Postgres that was restored from before its last drain', async (t) => {
  const kept = Number(readFileSync(join(node.dataDir, 'money-count'), 'utf8'))
  t.ok(kept > 0, 'the drain left its number in the directory')
  await opened(t).sql`UPDATE money_counts SET n = n - 1`
  const next = await startNode(t, settings)
  const readyz = async (): Promise<string> => (await next.admin('/readyz')).body

  await t.test('continues the history, and counts the hour once', async (t) => {
    t.equal(await counted(), 3 * CALLS)
    const { lines } = await history('by=operation&grain=hour')
    t.ok(lines.some(({ name }) => name === COUNTED))
  })

  await t.test('reports that it refuses paid calls, and the command to run', async (t) => {
    await until('it says so', async () => /"restore_not_accepted"/.test(await readyz()))
    t.match((await next.admin('/metrics')).body, /^sluice_money_steps_behind 1$/m)
    t.match((await runVerb(settings, ['doctor'])).stdout, /problem +money .* lacks 1 money entries/)
    t.equal((await next.get('/api/v1/models/count')).status, 200, 'other calls are served')
  })

  await t.test('accepts paid calls once the restore is accepted', async (t) => {
    const { code, stdout } = await runVerb(settings, ['accept-restore'])
    t.match(
      { code, stdout },
      {
        code: 0,
        stdout: /^node \S+ accepts paid calls again; Postgres lacks 1 of its money entries\n$/,
      },
    )
    await until('it is ready', async () => !/restore_not_accepted/.test(await readyz()))
    t.match((await runVerb(settings, ['accept-restore'])).stdout, /^nothing to accept/)
  })

  t.equal(await next.stop(), 0)
  t.equal((await opened(t).sql`SELECT DISTINCT run FROM history_hours`).length, 1)
})
