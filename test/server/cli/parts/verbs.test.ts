import { spawn, spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import t from 'tap'
import { openDataDirectory } from '../../../../src/server/supervisor/data-directory/data-directory.ts'
import { startEmbeddedPostgres } from '../../../../src/server/supervisor/postgres/embedded-postgres.ts'
import { plainEnvironment } from '../../../support/load/load.ts'
import { keptLog } from '../../../support/log.ts'
import { nodeSettings, runToEnd, sluice } from '../../../support/nodes/node.ts'
import { runVerb } from '../../../support/operator/verbs.ts'
import { ROOT } from '../../../support/source.ts'
import { pause } from '../../../support/wait.ts'

t.setTimeout(600_000)

t.test('a key created without a limit gets the operator’s default limit', async (t) => {
  const settings = { ...(await nodeSettings(t, { hasTables: false })), SLUICE_RATE_LIMIT_RPM: '1200' }
  await runVerb(settings, ['migrate'])
  await runVerb(settings, ['organizations', 'create', '--name', 'Acme'])
  const create = [
    'keys',
    'create',
    '--name',
    'one',
    '--kind',
    'inference',
    '--workspace',
    'default',
    '--json',
  ]
  const made = await runVerb(settings, create)
  t.match(JSON.parse(made.stdout), { rate_limit_rpm: 1200 }, made.stderr)
})

t.test('migrate starts the embedded Postgres and stops it afterwards', async (t) => {
  const settings = await nodeSettings(t, { isEmbedded: true })
  const { code, stdout, stderr } = await runVerb(settings, ['migrate', '--json'])
  t.equal(code, 0, stderr)
  t.match(JSON.parse(stdout), { migration: Number })
  t.equal((await runVerb(settings, ['organizations', 'list'])).code, 0)
})

t.test('doctor reports no problem on a machine that can run a node', async (t) => {
  const { code, stdout } = await runVerb(await nodeSettings(t, { isEmbedded: true }), ['doctor', '--json'])
  const { ok, findings } = JSON.parse(stdout) as { ok: boolean; findings: { level: string }[] }
  // A missing feature that a node can do without is a warning.
  t.same([code, ok, findings.filter(({ level }) => level === 'problem')], [0, true, []])
  t.match(findings, [
    { check: 'platform', level: 'ok' },
    { check: 'front_end', level: 'ok' },
  ])
})

t.test('doctor names the folder of the embedded Postgres, in the data directory or elsewhere', async (t) => {
  const settings = await nodeSettings(t, { isEmbedded: true })
  await runVerb(settings, ['migrate'])
  const record = JSON.parse(readFileSync(join(settings['SLUICE_DATA'] ?? '', 'postgres.json'), 'utf8')) as {
    cluster: string
  }
  const folder = resolve(settings['SLUICE_DATA'] ?? '', record.cluster)
  const { findings } = JSON.parse((await runVerb(settings, ['doctor', '--json'])).stdout) as {
    findings: { check: string }[]
  }
  t.match(
    findings.find(({ check }) => check === 'postgres'),
    { level: 'ok', detail: `embedded in ${folder}; the node is not running` },
  )
})

t.test('doctor fails with a fix for each problem that prevents a node from working', async (t) => {
  const settings = { ...(await nodeSettings(t)), DATABASE_URL: 'postgres://nobody:hunter2@127.0.0.1:1/none' }
  const { code, stdout } = await runVerb(settings, ['doctor', '--json'])
  t.equal(code, 1)
  const { findings } = JSON.parse(stdout) as { findings: { level: string; fix?: string }[] }
  t.match(
    findings.filter(({ level }) => level === 'problem'),
    [{ check: 'postgres', fix: /DATABASE_URL/ }],
  )
  t.ok(findings.every(({ level, fix }) => level === 'ok' || fix !== undefined))
  t.notMatch(stdout, /hunter2/)
})

t.test('without a verb it serves; an unknown verb is an error, and --help lists the verbs', async (t) => {
  const broken = { SLUICE_PORT: 'none' }
  t.match(await runToEnd(broken, sluice()), { code: 2, stdout: '', stderr: /^SLUICE_PORT: expected/ })
  t.match(await runToEnd(broken, sluice('srve')), { code: 2, stdout: '', stderr: /unknown command 'srve'/ })
  t.match(await runToEnd(broken, sluice('--help')), { code: 0, stdout: /^Usage: sluice [^]* serve / })
})

t.test('config print shows every effective setting, with secrets masked', async (t) => {
  const settings = { DATABASE_URL: 'postgres://sluice:hunter2@db.example/sluice', SLUICE_FRONTS: '3' }
  const { code, stdout } = await runVerb(settings, ['config', 'print'])
  t.equal(code, 0)
  t.match(stdout, /^SLUICE_FRONTS +3 {2}\(environment\)$/m)
  t.match(stdout, /^DATABASE_URL +postgres:\/\/\*\*\*@db\.example\/sluice/m)
  t.notMatch(stdout, /hunter2/)
})

t.test('writes all output to a pipe that is read late, and accepts a reader that closes early', async (t) => {
  const [file = '', ...args] = [`${ROOT}bin/sluice`, 'openapi']
  const late = spawn(process.execPath, [file, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: plainEnvironment(),
  })
  // By then it would have ended, if it did not wait for its reader.
  await pause(1_500)
  const chunks: Buffer[] = []
  for await (const chunk of late.stdout) chunks.push(chunk as Buffer)
  const text = Buffer.concat(chunks).toString()
  t.match(JSON.parse(text), { openapi: '3.1.0' })
  t.ok(text.length > 128 * 1024)
  const left = spawnSync('sh', ['-c', `"${process.execPath}" "${file}" openapi | head -c 10`], {
    encoding: 'utf8',
    env: plainEnvironment(),
  })
  t.same([left.stdout.length, left.stderr], [10, ''])
})

t.test('reload reports that no node is running', async (t) => {
  const { code, stderr } = await runVerb(await nodeSettings(t), ['reload', '--json'])
  t.equal(code, 1)
  t.match(JSON.parse(stderr), { error: 'failed', message: /no running node uses/ })
})

t.test(
  'reload and scale do not signal another command that uses the data directory, because a signal would end it',
  async (t) => {
    const settings = await nodeSettings(t, { isEmbedded: true })
    const data = await openDataDirectory(settings['SLUICE_DATA'] ?? '', keptLog(), { isVerb: true })
    t.teardown(() => data.release())
    let signals = 0
    const count = (): void => void signals++
    process.on('SIGHUP', count)
    t.teardown(() => void process.off('SIGHUP', count))
    const { code, stderr } = await runVerb(settings, ['reload', '--json'])
    t.same([code, signals], [1, 0])
    t.match(JSON.parse(stderr), {
      message: /no running node uses .*: another command uses the data directory/,
    })
    const scale = await runVerb(settings, ['scale', '--fronts', '2', '--json'])
    t.match(JSON.parse(scale.stderr), {
      message: /no running node uses .*: another command uses the data directory/,
    })
    const list = await runVerb(settings, ['keys', 'list', '--json'])
    t.match(JSON.parse(list.stderr), { message: /^another command uses / })
    const restore = await runVerb(settings, ['restore', 'backup', '--json'])
    t.match(JSON.parse(restore.stderr), { message: /^another command is using .*: set SLUICE_DATA/ })
  },
)

t.test('reload refuses a catalogue that the node would refuse', async (t) => {
  const file = join(t.testdir({ 'bad.json': '{"models":[{"id":"nameless"}]}' }), 'bad.json')
  const { code, stderr } = await runVerb({ ...(await nodeSettings(t)), SLUICE_CATALOG: file }, [
    'reload',
    '--json',
  ])
  t.equal(code, 1)
  t.match(JSON.parse(stderr), { message: /the catalogue has mistakes/ })
})

t.test('a read-only verb creates no installation', async (t) => {
  const settings = await nodeSettings(t, { isEmbedded: true })
  const dataDir = join(t.testdir(), 'absent')
  const { code, stderr } = await runVerb({ ...settings, SLUICE_DATA: dataDir }, ['keys', 'list', '--json'])
  t.equal(code, 1)
  t.match(JSON.parse(stderr), { message: /no data directory/ })
  t.notOk(existsSync(dataDir))
})

t.test('a read-only verb writes nothing to an empty data directory', async (t) => {
  const settings = await nodeSettings(t, { isEmbedded: true })
  const dataDir = t.testdir({})
  const { code, stderr } = await runVerb({ ...settings, SLUICE_DATA: dataDir }, ['keys', 'list', '--json'])
  t.equal(code, 1)
  t.match(JSON.parse(stderr), { message: /no database in the data directory/ })
  t.same(readdirSync(dataDir), [])
})

t.test('a read-only verb never migrates a database, not even the embedded one', async (t) => {
  const settings = await nodeSettings(t, { isEmbedded: true })
  const dataDir = settings['SLUICE_DATA'] ?? ''
  await mkdir(dataDir, { mode: 0o700 })
  await (await startEmbeddedPostgres({ dataDir, log: keptLog() })).stop()
  // The file that a node leaves in every data directory.
  await writeFile(join(dataDir, 'node-id'), 'n')
  const listed = await runVerb(settings, ['keys', 'list', '--json'])
  t.match([listed.code, listed.stderr], [1, /not migrated yet/])
})

t.test('bad usage is one line of JSON with --json', async (t) => {
  const { code, stderr } = await runVerb({}, ['keys', 'create', '--name', 'x', '--kind', 'foo', '--json'])
  t.equal(code, 2)
  t.match(JSON.parse(stderr), { error: 'usage', message: /--kind/ })
})

for (const args of [['nonsense'], ['keys', 'create'], ['serve', '--loud']]) {
  t.test(`\`sluice ${args.join(' ')}\` is bad usage: exit code 2`, async (t) => {
    t.equal((await runVerb({}, [...args])).code, 2)
  })
}

t.test('--version and --help exit with 0', async (t) => {
  t.match(await runToEnd({}, sluice('--version')), { code: 0, stdout: /^\d+\.\d+\.\d+/ })
  const help = await runToEnd({}, sluice('--help'))
  t.equal(help.code, 0)
  for (const verb of ['serve', 'migrate', 'doctor', 'reload', 'keys', 'models', 'catalog', 'openapi'])
    t.match(help.stdout, verb)
  t.notMatch(help.stdout, /runner|spare/)
})
