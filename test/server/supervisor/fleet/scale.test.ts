import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import t, { type Test } from 'tap'
import { openStore } from '../../../../src/server/store/base/open.ts'
import { lateRows } from '../../../support/stores/late-rows.ts'
import { nodeSettings, startNode, until, type Settings, type TestNode } from '../../../support/nodes/node.ts'
import { runVerb } from '../../../support/operator/verbs.ts'

// Whole nodes start here, on a machine that may be busy.
t.setTimeout(600_000)

t.test('a running node', async (t) => {
  const running = await startRunning(t)
  await t.test('gets more fronts and threads, and shows them', (t) => grows(t, running))
  await t.test('refuses an impossible number, and gives the reason', (t) => refuses(t, running))
  await t.test('runs a scale request after the reload in progress, and later reloads keep its number', (t) =>
    waitsForReload(t, running),
  )
  await t.test(
    'restarts a front that is killed while fronts are added, and then reports that all serve',
    (t) => bringsBack(t, running),
  )
  await t.test(
    'adopts a changed number from the settings file, and lists settings that need a restart',
    (t) => takesFile(t, running),
  )
  await t.test('ends the waiting command when the node is killed while it adds fronts', (t) =>
    dies(t, running),
  )
})

interface Running {
  /** The file of settings, which the node reads again at a reload. */
  readonly file: string
  readonly settings: Settings
  readonly node: TestNode
}

async function startRunning(t: Test): Promise<Running> {
  const file = join(t.testdir(), 'sluice.json')
  writeFileSync(file, '{"SLUICE_FRONTS":1,"SLUICE_WORKERS":1}')
  const { SLUICE_FRONTS: _, SLUICE_WORKERS: __, ...others } = await nodeSettings(t)
  const settings = { ...others, SLUICE_CONFIG: file }
  return { file, settings, node: await startNode(t, settings) }
}

async function grows(t: Test, { node, settings }: Running): Promise<void> {
  const [first] = node.pidsOf('front')
  t.same(await scaled(settings, '--fronts', '2', '--workers', '2'), {
    pid: node.pid,
    fronts: 2,
    workers: 2,
    before: { fronts: 1, workers: 1 },
  })
  t.ok(node.pidsOf('front').includes(first ?? 0), 'the one that has what it should have stays')
  await untilShown(node, TWO_OF_ONE)
  const lines = [
    'fronts_ready 2',
    'fronts_wanted 2',
    'fronts_configured 1',
    'workers_ready 2',
    'workers_wanted 2',
    'workers_configured 1',
  ]
  // A front that stands still for some heartbeats is not ready meanwhile.
  await until('the metrics tell of it', async () => {
    const { body } = await node.admin('/metrics')
    return lines.every((line) => body.includes(`sluice_${line}\n`))
  })
  await until('doctor tells of it', async () =>
    (await runVerb(settings, ['doctor'])).stdout.includes(
      'fronts: 2, worker threads: 2, runners: 1; configured: SLUICE_FRONTS=1 SLUICE_WORKERS=1\n',
    ),
  )
}

async function refuses(t: Test, { node, settings }: Running): Promise<void> {
  const over = await runVerb(settings, ['scale', '--fronts', '257'])
  t.match(over, { code: 1, stderr: /was not scaled: fronts: a whole number from 1 to 256/ })
  const connections = await runVerb(settings, ['scale', '--fronts', '256', '--json'])
  t.match(connections, {
    code: 1,
    stderr: /256 fronts and 1 runners may need \d+ connections; Postgres allows \d+ by its max_connections/,
  })
  t.match(await runVerb(settings, ['scale']), {
    code: 2,
    stderr: /give --fronts, --workers, or both/,
  })
  t.match(await runVerb(settings, ['scale', '--workers', 'many']), { code: 2 })
  await untilShown(node, TWO_OF_ONE)
}

async function waitsForReload(t: Test, { node, settings }: Running): Promise<void> {
  const logged = (): readonly unknown[] =>
    node
      .lines()
      .map(({ event }) => event)
      .filter((event) => event === 'reloaded' || event === 'scaled')
  process.kill(node.pid, 'SIGHUP')
  process.kill(node.pid, 'SIGHUP')
  await until('the reload began', () => node.pidsOf('front').length > 2)
  t.match(await scaled(settings, '--fronts', '1'), { fronts: 1, before: { fronts: 2 } })
  await until('the log has both requests', () => logged().filter((one) => one === 'scaled').length === 2)
  t.ok(logged().includes('reloaded') && logged().indexOf('reloaded') < logged().lastIndexOf('scaled'))
  await until('one is left and serves', async () => {
    const { ready, wanted } = (await shown(node)).fronts
    return ready === 1 && wanted === 1 && node.pidsOf('front').length === 1
  })
  t.ok(await node.answers())
}

async function bringsBack(t: Test, { node, settings }: Running): Promise<void> {
  const [first = 0] = node.pidsOf('front')
  const growing = scaled(settings, '--fronts', '2', '--workers', '3')
  await until('a second front comes up', () => node.pidsOf('front').length === 2)
  process.kill(first, 'SIGKILL')
  t.match(await growing, { fronts: 2, workers: 3 })
  await until('all serve', async () => (await shown(node)).fronts.ready === 2)
  t.notOk(node.pidsOf('front').includes(first))
  t.ok(await node.answers())
}

async function takesFile(t: Test, { file, node, settings }: Running): Promise<void> {
  writeFileSync(file, '{"SLUICE_FRONTS":3,"SLUICE_WORKERS":1,"SLUICE_ADMIN_HOST":"127.0.0.2"}')
  const { code, stdout } = await runVerb(settings, ['reload', '--json'])
  t.equal(code, 0)
  t.match(JSON.parse(stdout), { pid: node.pid, need_restart: ['SLUICE_ADMIN_HOST'] })
  await until('three serve', async () =>
    isDeepStrictEqual((await shown(node)).fronts, { ready: 3, wanted: 3, configured: 3 }),
  )
  const named = (): readonly unknown[] =>
    node.lines().filter(({ event }) => event === 'settings_need_restart')
  await until('the log names it', () => named().length > 0)
  t.match(named(), [{ settings: ['SLUICE_ADMIN_HOST'], fix: 'restart' }])
}

async function dies(t: Test, { node, settings }: Running): Promise<void> {
  const store = openStore({ url: settings['DATABASE_URL'] ?? '', poolMax: 1, applicationName: 'sluice-test' })
  t.teardown(() => store.close())
  // No front is added before the node is killed: each is known in the store first.
  await lateRows(store, 'fronts', 60)
  const growing = runVerb(settings, ['scale', '--fronts', '4'])
  await until('it is taken', () => inputsIn(node.dataDir).some((text) => text.includes('taken')))
  await node.killHard()
  t.match(await growing, { code: 1, stderr: /exited before the scaling finished/ })
  t.match(await runVerb(settings, ['scale', '--fronts', '2']), {
    code: 1,
    stderr: /no running node uses/,
  })
}

function inputsIn(dataDir: string): readonly string[] {
  return readdirSync(dataDir)
    .filter((name) => /^scale-.*\.json$/.test(name))
    .map((name) => readFileSync(join(dataDir, name), 'utf8'))
}

async function scaled(settings: Settings, ...args: readonly string[]): Promise<Record<string, unknown>> {
  const { code, stdout, stderr } = await runVerb(settings, ['scale', ...args, '--json'])
  if (code !== 0) throw new Error(stderr)
  return JSON.parse(stdout) as Record<string, unknown>
}

interface Shown {
  readonly fronts: { readonly ready: number; readonly wanted: number }
  readonly workers: { readonly ready: number; readonly wanted: number }
}

const TWO_OF_ONE = {
  fronts: { ready: 2, wanted: 2, configured: 1 },
  workers: { ready: 2, wanted: 2, configured: 1 },
}

/** A front that stands still for some heartbeats is not ready meanwhile. */
async function untilShown(node: TestNode, wanted: object): Promise<void> {
  await until(`the node shows ${JSON.stringify(wanted)}`, async () =>
    isDeepStrictEqual(await shown(node), wanted),
  )
}

async function shown(node: TestNode): Promise<Shown> {
  const { fronts, workers } = JSON.parse((await node.admin('/readyz')).body) as Shown
  return { fronts, workers }
}
