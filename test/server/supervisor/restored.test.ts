import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { openStore } from '../../../src/server/store/base/open.ts'
import { nodeSettings, startNode, until } from '../../support/nodes/node.ts'
import { runVerb } from '../../support/operator/verbs.ts'

// Whole nodes start here, on a machine that may be busy.
t.setTimeout(600_000)

t.test('a node whose Postgres was restored from before its last drain', async (t) => {
  const settings = await nodeSettings(t)
  const first = await startNode(t, settings)
  t.equal(await first.stop(), 0)
  const kept = Number(readFileSync(join(first.dataDir, 'money-count'), 'utf8'))
  t.ok(kept > 0, 'the drain left its number in the directory')
  const store = openStore({ url: settings['DATABASE_URL'] ?? '', poolMax: 1, applicationName: 'test' })
  t.teardown(() => store.close())
  await store.sql`UPDATE money_counts SET n = n - 1`
  const node = await startNode(t, settings)
  const readyz = async (): Promise<string> => (await node.admin('/readyz')).body

  await t.test('reports that it refuses paid calls, and the command to run', async (t) => {
    await until('it says so', async () => /"restore_not_accepted"/.test(await readyz()))
    t.match((await node.admin('/metrics')).body, /^sluice_money_steps_behind 1$/m)
    t.match((await runVerb(settings, ['doctor'])).stdout, /problem +money .* lacks 1 money entries/)
    t.equal((await node.get('/api/v1/models/count')).status, 200, 'other calls are served')
  })

  await t.test('goes on once that is accepted', async (t) => {
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
})
