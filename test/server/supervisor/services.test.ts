import t from 'tap'
import { readFrom, type Config } from '../../../src/server/config.ts'
import { connectionBudget } from '../../../src/server/store/base/connection-budget.ts'
import { migrate } from '../../../src/server/store/migrations/migrate.ts'
import { openStore } from '../../../src/server/store/base/open.ts'
import { openDataDirectory } from '../../../src/server/supervisor/data-directory/data-directory.ts'
import { holdLog } from '../../../src/server/supervisor/held-log.ts'
import { checkConnections, startServices } from '../../../src/server/supervisor/services.ts'
import { SILENT } from '../../support/log.ts'
import { nodeSettings } from '../../support/nodes/node.ts'

// A cluster is made here, on a machine that may be busy.
t.setTimeout(600_000)

t.test(
  'the embedded Postgres has connections for 64 fronts, also for a reload that doubles them',
  async (t) => {
    const { SLUICE_DATA = '' } = await nodeSettings(t, { isEmbedded: true })
    const undone: (() => Promise<void>)[] = []
    const data = await openDataDirectory(SLUICE_DATA, SILENT)
    const generation = {
      config: withFronts(64),
      settings: {},
      unknown: [],
      frozen: {},
      providerKeys: {},
      misplaced: null,
      advice: [],
    }
    const services = await startServices(generation, {
      data,
      log: holdLog(SILENT),
      undo: (step) => undone.push(step),
      reach: (url) => Promise.resolve({ isAway: false, url }),
      wait: { isEnding: () => false, say: () => undefined },
    })
    t.teardown(async () => {
      for (const step of undone.reverse()) await step()
      data.release()
    })
    await migrate(services.databaseUrl, SILENT)
    const store = openStore({ url: services.databaseUrl, poolMax: 1, applicationName: 'test' })
    undone.push(() => store.close())
    const given = { connections: (wanted: number) => connectionBudget(store.sql, data.node, wanted) }
    await checkConnections(given, { config: withFronts(64) }, services.postgres)
    await checkConnections(given, { config: withFronts(128) }, services.postgres)
    await t.rejects(checkConnections(given, { config: withFronts(256) }, services.postgres), {
      message:
        /need 5137 connections; Postgres allows 2589 by its max_connections, .*: restart the node to get more connections, or lower SLUICE_FRONTS/,
    })
  },
)

t.test(
  'a Postgres of the operator with too few connections is refused with its setting and the number needed',
  async (t) => {
    const given = {
      connections: () =>
        Promise.resolve({ fits: false, available: 97, by: 'max_connections' as const, elsewhere: 10 }),
    }
    await t.rejects(checkConnections(given, { config: withFronts(9) }, 'external'), {
      message:
        '9 fronts and 1 runners may need 197 connections; Postgres allows 97 by its max_connections, and other nodes use 10: ' +
        'raise its max_connections or lower SLUICE_FRONTS',
    })
  },
)

t.test('a Postgres whose limits cannot be read is refused with its reason', async (t) => {
  const given = { connections: () => Promise.reject(new Error('too many connections for role "sluice"')) }
  await t.rejects(checkConnections(given, { config: withFronts(1) }, 'external'), {
    message: /DATABASE_URL: too many connections for role "sluice"/,
  })
})

function withFronts(fronts: number): Config {
  const reading = readFrom({ SLUICE_FRONTS: String(fronts) })
  if (!reading.ok) throw new Error('bad settings')
  return reading.generation.config
}
