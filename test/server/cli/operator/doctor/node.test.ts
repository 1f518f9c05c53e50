import { spawnSync } from 'node:child_process'
import { chmodSync, copyFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { descriptors, DESCRIPTORS_MIN } from '../../../../../src/server/cli/operator/doctor/examine.ts'
import type { Finding } from '../../../../../src/server/cli/operator/doctor/finding.ts'
import { listenerMigrationIsOn } from '../../../../../src/server/supervisor/checks.ts'
import { plainEnvironment } from '../../../../support/load/load.ts'
import { nodeSettings, sluice, startNode, until, type Settings } from '../../../../support/nodes/node.ts'
import { openTestDatabase } from '../../../../support/stores/postgres.ts'
import { REDIS_KINDS } from '../../../../support/stores/redis.ts'
import { ROOT } from '../../../../support/source.ts'
import { openFolder } from '../../../../support/files/storage.ts'
import { runVerb } from '../../../../support/operator/verbs.ts'

t.setTimeout(600_000)

/** Features that the machine may lack even when the node is well. */
const whyNeverWell =
  [
    REDIS_KINDS.includes('child') ? '' : 'this machine has no redis-server',
    listenerMigrationIsOn() ? '' : 'tcp_migrate_req is off here',
    ...descriptors({ running: null }, 0).map(({ fix = '' }) => fix),
  ].find((why) => why !== '') ?? false

const NOBODY = 65_534
const nobodyAlone = ['-n', '--', 'setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups', '--']
const mayTry =
  process.getuid?.() === 0 &&
  spawnSync('unshare', [...nobodyAlone, 'test', '-r', join(ROOT, 'bin/sluice')]).status === 0

/** For as long as the file runs: the cluster of tests would end between two of them. */
const database = await openTestDatabase(t)

/** Judged strictly: a warning counts. */
async function reported(settings: Settings): Promise<{
  readonly code: number | null
  readonly found: readonly Finding[]
  readonly all: readonly Finding[]
}> {
  const { code, stdout } = await runVerb(settings, ['doctor', '--strict', '--json'])
  const { ok, findings } = JSON.parse(stdout) as { ok: boolean; findings: readonly Finding[] }
  if (ok !== (code === 0)) throw new Error(stdout)
  return { code, found: findings.filter(({ level }) => level !== 'ok'), all: findings }
}

/** Checks in which a machine is found that is too busy. */
const OF_LOAD: readonly string[] = ['load', 'postgres', 'redis']

/** Of a running node, when the machine is not so busy that this is a finding. */
async function reportedAtRest(settings: Settings): ReturnType<typeof reported> {
  let seen: Awaited<ReturnType<typeof reported>> = { code: null, found: [], all: [] }
  await until('nothing is said of its load', async () => {
    seen = await reported(settings)
    return !seen.found.some(({ check }) => OF_LOAD.includes(check))
  })
  return seen
}

t.test(
  "warns of a fresh node's first keys and root key, and reports no problem once both are handled",
  { skip: whyNeverWell },
  async (t) => {
    const settings = await nodeSettings(t)
    const node = await startNode(t, settings)
    const fresh = await reportedAtRest(settings)
    t.same(
      [fresh.code, fresh.found.map(({ check, level }) => `${level} ${check}`)],
      [1, ['warning root_key', 'warning first_keys']],
    )
    const lenient = await runVerb(settings, ['doctor', '--json'])
    t.match(
      [lenient.code, JSON.parse(lenient.stdout)],
      [0, { ok: true, findings: fresh.all.map(() => ({})) }],
    )
    t.match(
      fresh.all.filter(({ check }) => check === 'port'),
      [{ detail: / is in use by the node \(pid \d+\)$/ }, { level: 'ok' }],
    )
    rmSync(join(node.dataDir, 'first-keys.json'))
    t.match(await runVerb(settings, ['backup', join(await openFolder(t), 'b')]), { code: 0 })
    const { code, found, all } = await reportedAtRest(settings)
    t.same([code, found], [0, []])
    t.match(
      all.find(({ check }) => check === 'root_key'),
      { detail: /\/root-key; backup recorded on \d{4}-\d\d-\d\d$/ },
    )
    t.match(
      all.find(({ check }) => check === 'postgres'),
      { detail: /^external, version \d+\.\d+, answers in [\d.]+ ms$/ },
    )
    await until('no problems found', async () =>
      (await runVerb(settings, ['doctor'])).stdout.endsWith('\nno problems found\n'),
    )
  },
)

t.test(
  'reports findings for another user, too few descriptors and no permission to change kernel settings',
  { skip: !mayTry && 'only root can try, with unshare' },
  async (t) => {
    const folder = await openFolder(t)
    chmodSync(folder, 0o755)
    mkdirSync(join(folder, 'theirs'), { mode: 0o700 })
    mkdirSync(join(folder, 'readable'), { mode: 0o755 })
    const run = (settings: Settings): readonly Finding[] => {
      const command = [
        ...nobodyAlone,
        'bash',
        '-c',
        `ulimit -n ${DESCRIPTORS_MIN - 1}; exec "$@"`,
        'bash',
        ...sluice('doctor', '--strict', '--json'),
      ]
      const { stdout, status } = spawnSync('unshare', command, {
        env: { ...plainEnvironment(), HOME: '/', ...settings },
        encoding: 'utf8',
      })
      t.equal(status, 1)
      return (JSON.parse(stdout) as { findings: readonly Finding[] }).findings
    }
    const theirs = run({ SLUICE_DATA: join(folder, 'theirs') })
    t.match(
      theirs.find(({ check }) => check === 'data_directory'),
      { level: 'problem', detail: /cannot be read: EACCES/, fix: /run doctor as the user/ },
    )
    const found = run({
      SLUICE_DATA: join(folder, 'readable/data'),
      SLUICE_OBJECTS: join(folder, 'readable'),
      SLUICE_HOST: '0.0.0.0',
      SLUICE_PORT: '80',
    })
    const of = (check: string): Finding | undefined => found.find((finding) => finding.check === check)
    t.match(of('data_directory'), {
      level: 'problem',
      detail: /readable\/data cannot be created in .*readable \(EACCES\)$/,
      fix: /SLUICE_DATA/,
    })
    t.match(of('storage'), {
      level: 'problem',
      detail: /readable cannot be written \(EACCES\)$/,
      fix: /SLUICE_OBJECTS/,
    })
    t.match(of('port'), {
      level: 'problem',
      detail: /cannot listen on 0\.0\.0\.0:80: this user may not use the port/,
      fix: /1024 or more.*CAP_NET_BIND_SERVICE/,
    })
    t.match(of('descriptors'), {
      level: 'warning',
      detail: `a front can open ${DESCRIPTORS_MIN - 1} descriptors: enough for 5119 connections in addition to 2048 streams`,
      fix: /LimitNOFILE=/,
    })
    t.match(of('listener_migration'), { level: 'warning', fix: /^sysctl -w net\.ipv4\.tcp_migrate_req=1/ })
  },
)

t.test('warns that rate-limit state is lost on restart when no redis-server is on the PATH', async (t) => {
  const settings = { ...(await nodeSettings(t, { isEmbedded: true })), PATH: '/nowhere' }
  t.match(
    (await reported(settings)).all.find(({ check }) => check === 'redis'),
    { level: 'warning', detail: /no redis-server on the PATH/, fix: /install redis/ },
  )
})

t.test('root keys are backed up after `vault confirm-root` saw a copy, or after a backup', async (t) => {
  const folder = await openFolder(t)
  const [key, other] = [`${'5'.repeat(64)}\n`, `${'6'.repeat(64)}\n`]
  const [file, copy, short] = [join(folder, 'keys'), join(folder, 'copy'), join(folder, 'short')]
  writeFileSync(file, other + key)
  copyFileSync(file, copy)
  writeFileSync(short, key)
  const own = { DATABASE_URL: database.url, SLUICE_ROOT_KEY_FILE: file, SLUICE_OBJECTS: folder }
  const settings: Settings = { ...(await nodeSettings(t, { isEmbedded: true })), ...own }
  const [dataDir, backup] = [settings['SLUICE_DATA'] ?? '', join(folder, 'b')]
  const of = async (): Promise<Finding | undefined> =>
    (await reported(settings)).all.find(({ check }) => check === 'root_key')
  const confirm = (path: string, input = '') => runVerb(settings, ['vault', 'confirm-root', path], input)
  t.match(await of(), { level: 'warning', detail: /keys; 1 more \(.*; no backup of 2 root keys/ })
  t.match(await confirm(copy), { code: 1, stderr: /does not exist: start the node once/ })
  t.match(await runVerb(settings, ['backup', backup]), {
    code: 0,
    stdout: /could not be recorded in .*confirm-root/,
  })
  mkdirSync(dataDir, { mode: 0o700 })
  t.match(await runVerb(settings, ['backup', join(dataDir, 'b')]), { code: 0 })
  t.match(await confirm(join(dataDir, 'b')), { code: 1, stderr: /would be lost together with the key/ })
  t.match(await confirm(file), { code: 1, stderr: /would be lost together with the key/ })
  t.match(await confirm(short), {
    code: 1,
    stderr: /short does not contain root key [0-9a-f]{16}: nothing was recorded/,
  })
  t.match(await confirm('-', 'no key at all'), {
    code: 1,
    stderr: /standard input, key 1: expected 32 bytes/,
  })
  t.match(await confirm(join(folder, 'absent')), { code: 1, stderr: /absent cannot be read/ })
  t.match(await of(), { level: 'warning' })
  t.match(await confirm(backup), { code: 0, stdout: /^recorded: / })
  t.match(await of(), { level: 'ok' })
  rmSync(join(dataDir, 'root-key-copies.json'))
  t.match(await confirm('-', other + key), {
    code: 0,
    stdout: /^recorded: root keys [0-9a-f]{16}, [0-9a-f]{16} are backed up$/m,
  })
  t.match(await of(), { level: 'ok', detail: /; backup recorded on \d{4}-\d\d-\d\d$/ })
  writeFileSync(file, `${'7'.repeat(64)}\n${other}${key}`)
  t.match(await of(), { level: 'warning', detail: /no backup of root key [0-9a-f]{16}:/ })
})
