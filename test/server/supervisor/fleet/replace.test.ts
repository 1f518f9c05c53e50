import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { openStore } from '../../../../src/server/store/base/open.ts'
import { NO_OPENSSL, selfSigned } from '../../../support/wire/certificate.ts'
import { catalogueFile } from '../../../support/models/catalogue.ts'
import { startLoad } from '../../../support/load/load.ts'
import {
  nodeSettings,
  runToEnd,
  sluice,
  startNode,
  until,
  type Settings,
  type TestNode,
} from '../../../support/nodes/node.ts'
import { startStand } from '../../../support/nodes/stand.ts'

// Whole nodes start here, on a machine that may be busy.
t.setTimeout(600_000)

t.test('a reload under load replaces every front and fails no request', async (t) => {
  const { DATABASE_URL = '' } = await nodeSettings(t)
  const stand = await startStand({ settings: { DATABASE_URL, SLUICE_FRONTS: '2' } })
  t.teardown(() => stand.stop())
  const before = new Set(stand.fronts())
  const load = await startLoad({
    host: '127.0.0.1',
    port: stand.port,
    connections: 8,
    durationMs: 120_000,
    // A closed loop, or a higher rate, would take the cores from starting fronts while the old ones stay.
    pace: { kind: 'open', ratePerS: 40 },
    requests: [stand.embeddings()],
  })
  process.kill(stand.pid, 'SIGHUP')
  await until('two new fronts', () => stand.fronts().filter((pid) => !before.has(pid)).length === 2)
  await until('the old fronts are gone', () => stand.fronts().every((pid) => !before.has(pid)))
  const result = await load.stop()
  t.same(Object.keys(result.statuses), ['200'])
  t.same(result.failures, [])
})

t.test('a node with a catalogue of its own', async (t) => {
  const catalogue = join(t.testdir({ 'catalog.json': '{"models":[]}' }), 'catalog.json')
  const settings: Settings = { ...(await nodeSettings(t)), SLUICE_CATALOG: catalogue }
  const starting = startNode(t, settings)
  const record = join(settings['SLUICE_DATA'] ?? '', 'processes.json')
  await until('a child is forked', () => existsSync(record))
  const pid = readFileSync(join(settings['SLUICE_DATA'] ?? '', 'supervisor.pid'), 'utf8').split('\n')[0]
  process.kill(Number(pid), 'SIGHUP')
  const node = await starting
  const untilOneFront = (): Promise<void> =>
    until('one front is left', () => node.pidsOf('front').length === 1)

  await t.test(
    'a reload that is asked for during the start is done after it, and each slot has one front',
    async () => {
      await until('it reloaded', () => eventOf(node, 'reloaded') !== undefined)
      await untilOneFront()
    },
  )

  await t.test('a front that is killed', (t) => killed(t, { node, settings, catalogue }))

  await t.test('sluice reload waits for the end of the roll and reports how it ended', async (t) => {
    const [before] = copiesIn(node.dataDir)
    writeFileSync(catalogue, '{"models":[] }')
    const done = await runToEnd({ ...settings, SLUICE_LOG_LEVEL: 'warn' }, sluice('reload', '--json'))
    t.match(done, { code: 0 })
    t.same(JSON.parse(done.stdout), { pid: node.pid, need_restart: [], catalog_file: catalogue })
    t.equal(copiesIn(node.dataDir).length, 1, 'the old copy is removed')
    t.not(copiesIn(node.dataDir)[0], before)
    const elsewhere = catalogueFile(t, { models: [] })
    const other = await runToEnd({ ...settings, SLUICE_CATALOG: elsewhere }, sluice('reload'))
    t.match(other, {
      code: 0,
      stdout: `now uses the new configuration, with the catalogue file ${catalogue}\n`,
    })
    t.match(
      other.stderr,
      `this shell names ${elsewhere}: restart the node with SLUICE_CATALOG=${elsewhere}\n`,
    )
    writeFileSync(catalogue, '{')
    const refused = await runToEnd(withoutCatalogue(settings), sluice('reload', '--json'))
    t.match(refused, { code: 1, stderr: /could not reload: SLUICE_CATALOG/ })
  })

  await t.test(
    'a front that cannot come up five times in a row stops the node with the reason',
    async (t) => {
      await untilOneFront()
      // A starting front reads this copy of the node, because the operator's file is not read again.
      const [copy = ''] = copiesIn(node.dataDir)
      writeFileSync(join(node.dataDir, copy), '{')
      await node.signal('front', 'SIGKILL')
      t.equal(await node.ended, 1)
      t.match(node.output(), /front 0 ended 5 times in a row before it was ready; .*the catalogue has/)
    },
  )
})

interface OwnCatalogue {
  readonly node: TestNode
  readonly settings: Settings
  readonly catalogue: string
}

async function killed(t: Test, { node, settings, catalogue }: OwnCatalogue): Promise<void> {
  const back = (times: number) => () =>
    node.lines().filter((line) => line['event'] === 'child_restarted').length === times

  await t.test('is replaced and named in the log', async (t) => {
    const [front = 0] = node.pidsOf('front')
    process.kill(front, 'SIGKILL')
    await until('it answers again', () => node.answers())
    await until('the log says so', back(1))
    t.match(eventOf(node, 'child_ended'), { role: 'supervisor', child: 'front', slot: 0, how: 'SIGKILL' })
  })

  await t.test('loses its row in the store at once, so that no revocation waits for it', async (t) => {
    const store = openStore({ url: settings['DATABASE_URL'] ?? '', poolMax: 1, applicationName: 'test' })
    t.teardown(() => store.close())
    const rows = async (): Promise<string[]> =>
      (await store.sql<{ id: string }[]>`SELECT id FROM fronts`).map(({ id }) => id)
    await until('the front stands in the store', async () => (await rows()).length === 1)
    const [dead = ''] = await rows()
    await node.signal('front', 'SIGKILL')
    await until('its row is gone', async () => !(await rows()).includes(dead))
    await until('its replacement has one', async () => (await rows()).length === 1)
    await until('it is back', back(2))
  })

  await t.test('comes back while an operator is editing the catalogue', async (t) => {
    writeFileSync(catalogue, '{')
    await node.signal('front', 'SIGKILL')
    await until('it is back', back(3))
    t.equal((await node.get('/api/v1/models/count')).status, 200)
  })
}

t.test('a reload of a configuration file', async (t) => {
  const file = join(t.testdir(), 'sluice.json')
  writeFileSync(file, '{"SLUICE_FRONTS":1}')
  const { SLUICE_FRONTS: _, ...others } = await nodeSettings(t)
  const settings = { ...others, SLUICE_CONFIG: file }
  const node = await startNode(t, settings)

  await t.test('with a mistake changes nothing, and the mistake is logged', async (t) => {
    const before = node.pidsOf('front')
    writeFileSync(file, '{"SLUICE_FRONTS":"many"}')
    process.kill(node.pid, 'SIGHUP')
    await until('it is refused', () => eventOf(node, 'reload_refused') !== undefined)
    t.match(eventOf(node, 'reload_refused'), { problems: [{ name: 'SLUICE_FRONTS' }] })
    t.same(node.pidsOf('front'), before)
  })

  await t.test(
    'is followed by the log of the supervisor as by those of the fronts, and brings another number of fronts',
    async (t) => {
      writeFileSync(file, '{"SLUICE_FRONTS":2,"SLUICE_LOG_LEVEL":"error"}')
      // By the command line, as an operator does it.
      t.match(await runToEnd(settings, sluice('reload')), {
        code: 0,
        stdout: /now uses the new configuration, with the shipped catalogue\n$/,
      })
      await until('it is ready with one more', async () =>
        (await node.admin('/readyz')).body.includes('"fronts":{"ready":2,"wanted":2,'),
      )
      t.equal(eventOf(node, 'reloaded'), undefined, 'which is no error')
      writeFileSync(file, '{"SLUICE_FRONTS":1,"SLUICE_LOG_LEVEL":"info"}')
      t.match(await runToEnd(settings, sluice('reload')), { code: 0 })
      await until('it says so', () => eventOf(node, 'reloaded') !== undefined)
    },
  )
})

t.test(
  'a certificate that is deleted cannot keep a front from coming back',
  { skip: NO_OPENSSL },
  async (t) => {
    const { certFile, keyFile } = selfSigned(t)
    const node = await startNode(t, {
      ...(await nodeSettings(t)),
      SLUICE_TLS_CERT: certFile,
      SLUICE_TLS_KEY: keyFile,
    })
    for (const copy of copiesIn(node.dataDir))
      t.equal(statSync(join(node.dataDir, copy)).mode & 0o777, 0o600, copy)
    t.equal(copiesIn(node.dataDir).length, 2)
    for (const file of [certFile, keyFile]) rmSync(file)
    await node.signal('front', 'SIGKILL')
    await until('it is back', () => eventOf(node, 'child_restarted') !== undefined)
  },
)

function withoutCatalogue({ SLUICE_CATALOG: _, ...others }: Settings): Settings {
  return others
}

function copiesIn(dataDir: string): readonly string[] {
  return readdirSync(dataDir)
    .filter((name) => name.startsWith('frozen-'))
    .sort()
}

function eventOf(node: TestNode, event: string): Record<string, unknown> | undefined {
  return node.lines().find((line) => line['event'] === event)
}
