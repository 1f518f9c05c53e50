import t from 'tap'
import { openStore } from '../../../src/server/store/base/open.ts'
import { nodeSettings, runToEnd, startNode, until } from '../../support/nodes/node.ts'
import { openPooler } from '../../support/stores/pooler.ts'

// Whole nodes start here, on a machine that may be busy.
t.setTimeout(600_000)

t.test('a node behind a pooler in transaction mode', async (t) => {
  const settings = await nodeSettings(t, { hasTables: false })
  const url = settings['DATABASE_URL'] ?? ''
  const pooler = await openPooler(t, url, { mode: 'transaction' })
  const pooled = { ...settings, DATABASE_URL: pooler.url }

  await t.test('is refused, with the SQL commands for its role', async (t) => {
    const { code, stderr } = await runToEnd(pooled)
    t.equal(code, 1)
    t.match(
      stderr,
      /^DATABASE_URL points to a pooler in transaction mode.*ALTER ROLE \w+ SET lock_timeout = '5000';/m,
    )
    t.notMatch(stderr, /^ {4}at /m)
  })

  await t.test('starts and serves when the timeouts are set in Postgres', async (t) => {
    const store = openStore({ url, poolMax: 1, applicationName: 'test' })
    t.teardown(() => store.close())
    const name = new URL(url).pathname.slice(1)
    for (const limit of ['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout'])
      await store.sql.unsafe(`ALTER DATABASE "${name}" SET ${limit} = '5s'`)
    pooler.reconnect()
    const node = await startNode(t, pooled)
    await until('it answers', () => node.answers())
    t.equal((await node.get('/api/v1/models/count')).status, 200)
    t.equal((await node.admin('/readyz')).status, 200)
    t.equal(await node.stop(), 0)
  })
})
