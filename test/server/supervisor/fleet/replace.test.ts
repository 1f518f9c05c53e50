import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { openStore } from '../../../../src/server/store/base/open.ts'
import { NO_OPENSSL, selfSigned } from '../../../support/wire/certificate.ts'
import { catalogueFile } from '../../../support/models/catalogue.ts'
import { startLoad, type RunningLoad } from '../../../support/load/load.ts'
import {
  firstKeys,
  nodeSettings,
  startNode,
  until,
  type Settings,
  type TestNode,
} from '../../../support/nodes/node.ts'
import { runVerb } from '../../../support/operator/verbs.ts'

// Whole nodes start here, on a machine that may be busy.
t.setTimeout(600_000)

t.test('a node with a catalogue and a file of settings of its own', async (t) => {
  const own = await startHungUp(t)
  const { node, settings, catalogue } = own

  await t.test('delays a reload requested during the start until it is done, with one front', async () => {
    await until('it reloaded', () => eventsOf(node, 'reloaded').length === 1)
    await untilFronts(node, 1)
  })
  await t.test('replaces a front that is killed while an operator edits the catalogue', (t) => killed(t, own))
  await t.test('logs an error in the settings file, and changes nothing', (t) => mistaken(t, own))
  await t.test('reloads under load to another number of fronts and back, and fails no request', (t) =>
    reloads(t, own),
  )
  await t.test('refuses to reload a catalogue with mistakes', async (t) => {
    writeFileSync(catalogue, '{')
    const refused = await runVerb(withoutCatalogue(settings), ['reload', '--json'])
    t.match(refused, { code: 1, stderr: /could not reload: SLUICE_CATALOG/ })
  })
  await t.test('stops with the reason when a front cannot come up five times in a row', async (t) => {
    await untilFronts(node, 1)
    // A starting front reads this copy of the node, because the operator's file is not read again.
    const [copy = ''] = copiesIn(node.dataDir)
    writeFileSync(join(node.dataDir, copy), '{')
    await node.signal('front', 'SIGKILL')
    t.equal(await node.ended, 1)
    t.match(node.output(), /front 0 ended 5 times in a row before it was ready; .*the catalogue has/)
  })
})

interface OwnFiles {
  readonly node: TestNode
  readonly settings: Settings
  /** Files of the operator. */
  readonly catalogue: string
  readonly file: string
}

/** A node that is asked to reload as soon as it has forked a child. */
async function startHungUp(t: Test): Promise<OwnFiles> {
  const folder = t.testdir({ 'catalog.json': '{"models":[]}', 'sluice.json': '{"SLUICE_FRONTS":1}' })
  const [catalogue, file] = [join(folder, 'catalog.json'), join(folder, 'sluice.json')]
  const { SLUICE_FRONTS: _, ...others } = await nodeSettings(t)
  const settings = { ...others, SLUICE_CATALOG: catalogue, SLUICE_CONFIG: file }
  const starting = startNode(t, settings)
  const dataDir = others['SLUICE_DATA'] ?? ''
  await until('a child is forked', () => existsSync(join(dataDir, 'processes.json')))
  const [pid] = readFileSync(join(dataDir, 'supervisor.pid'), 'utf8').split('\n')
  process.kill(Number(pid), 'SIGHUP')
  return { node: await starting, settings, catalogue, file }
}

async function killed(t: Test, { node, settings, catalogue }: OwnFiles): Promise<void> {
  const store = openStore({ url: settings['DATABASE_URL'] ?? '', poolMax: 1, applicationName: 'test' })
  t.teardown(() => store.close())
  const rows = async (): Promise<string[]> =>
    (await store.sql<{ id: string }[]>`SELECT id FROM fronts`).map(({ id }) => id)
  await until('the front stands in the store', async () => (await rows()).length === 1)
  const [dead = ''] = await rows()
  writeFileSync(catalogue, '{')
  await node.signal('front', 'SIGKILL')
  // At once, so that no revocation waits for it.
  await until('its row is gone', async () => !(await rows()).includes(dead))
  await until('the log says so', () => eventsOf(node, 'child_restarted').length === 1)
  t.match(eventsOf(node, 'child_ended').at(-1), {
    role: 'supervisor',
    child: 'front',
    slot: 0,
    how: 'SIGKILL',
  })
  await until('its replacement has a row', async () => (await rows()).length === 1)
  await until('it answers again', () => node.answers())
}

async function mistaken(t: Test, { node, file }: OwnFiles): Promise<void> {
  const before = node.pidsOf('front')
  writeFileSync(file, '{"SLUICE_FRONTS":"many"}')
  process.kill(node.pid, 'SIGHUP')
  await until('it is refused', () => eventsOf(node, 'reload_refused').length === 1)
  t.match(eventsOf(node, 'reload_refused'), [{ problems: [{ name: 'SLUICE_FRONTS' }] }])
  t.same(node.pidsOf('front'), before)
}

async function reloads(t: Test, own: OwnFiles): Promise<void> {
  const { node, settings, catalogue, file } = own
  const load = await startCalls(node)
  const [before] = copiesIn(node.dataDir)
  writeFileSync(catalogue, '{"models":[] }')
  writeFileSync(file, '{"SLUICE_FRONTS":2,"SLUICE_LOG_LEVEL":"error"}')
  const done = await runVerb({ ...settings, SLUICE_LOG_LEVEL: 'warn' }, ['reload', '--json'])
  t.match(done, { code: 0 })
  t.same(JSON.parse(done.stdout), { pid: node.pid, need_restart: [], catalog_file: catalogue })
  t.equal(copiesIn(node.dataDir).length, 1, 'the old copy is removed')
  t.not(copiesIn(node.dataDir)[0], before)
  await until('it is ready with one more', async () =>
    (await node.admin('/readyz')).body.includes('"fronts":{"ready":2,"wanted":2,'),
  )
  t.equal(eventsOf(node, 'reloaded').length, 1, 'the supervisor logs errors alone, as the fronts do')

  writeFileSync(file, '{"SLUICE_FRONTS":1,"SLUICE_LOG_LEVEL":"info"}')
  const elsewhere = catalogueFile(t, { models: [] })
  t.match(await runVerb({ ...settings, SLUICE_CATALOG: elsewhere }, ['reload']), {
    code: 0,
    stdout: `now uses the new configuration, with the catalogue file ${catalogue}\n`,
    stderr: `this shell names ${elsewhere}: restart the node with SLUICE_CATALOG=${elsewhere}\n`,
  })
  await until('it says so', () => eventsOf(node, 'reloaded').length === 2)
  const result = await load.stop()
  t.same(Object.keys(result.statuses), ['200'])
  t.same(result.failures, [])
}

function startCalls({ ready, dataDir }: TestNode): Promise<RunningLoad> {
  const authorization = `Bearer ${firstKeys(dataDir)['inference_key'] ?? ''}`
  return startLoad({
    host: '127.0.0.1',
    port: Number(new URL(ready.url).port),
    connections: 8,
    durationMs: 600_000,
    // A closed loop, or a higher rate, would take the cores from starting fronts while the old ones stay.
    pace: { kind: 'open', ratePerS: 40 },
    requests: [{ method: 'GET', path: '/api/v1/models/count', headers: { authorization }, body: '' }],
  })
}

t.test(
  'deleting the certificate does not prevent a front from restarting',
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
    await until('it is back', () => eventsOf(node, 'child_restarted').length === 1)
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

function eventsOf(node: TestNode, event: string): readonly Record<string, unknown>[] {
  return node.lines().filter((line) => line['event'] === event)
}

function untilFronts(node: TestNode, count: number): Promise<void> {
  return until(`it has ${count} fronts`, () => node.pidsOf('front').length === count)
}
