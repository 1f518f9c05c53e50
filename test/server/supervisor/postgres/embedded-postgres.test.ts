import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { postgresAt } from '../../../../src/server/store/base/open.ts'
import {
  startEmbeddedPostgres,
  type EmbeddedPostgres,
} from '../../../../src/server/supervisor/postgres/embedded-postgres.ts'
import { identityOf } from '../../../../src/server/supervisor/fleet/process-state.ts'
import { findSetpriv } from '../../../../src/server/supervisor/fleet/step-down.ts'
import { clusterHome, type ClusterHome } from '../../../support/nodes/cluster-home.ts'
import { keptLog } from '../../../support/log.ts'
import { pause, until } from '../../../support/wait.ts'

// Clusters are made here, on a machine that may be busy.
t.setTimeout(600_000)

/**
 * A cluster that is made once, for all tests that are not about the making. Each starts a server of it and
 * stops that.
 */
const made = clusterHome(t)

const HOST = fileURLToPath(new URL('../../../support/stores/postgres-host.js', import.meta.url))
const NO_DEATH_SIGNAL = findSetpriv() === null ? 'no setpriv: a hard kill may leave Postgres here' : false

async function ask(url: string, query: string): Promise<unknown> {
  const sql = postgresAt(url, { max: 1, onnotice: () => {} })
  try {
    const [row] = await sql.unsafe(query).values()
    return row?.[0]
  } finally {
    await sql.end()
  }
}

function host({ dataDir, outsideDir }: ClusterHome): ChildProcess {
  return fork(HOST, [dataDir, outsideDir], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    execArgv: [],
    env: {},
  })
}

function postmasterOf(clusterFolder: string): number {
  return Number(readFileSync(join(clusterFolder, 'data/postmaster.pid'), 'utf8').split('\n')[0])
}

function clusterOf({ dataDir }: ClusterHome): string {
  const { cluster } = JSON.parse(readFileSync(join(dataDir, 'postgres.json'), 'utf8')) as { cluster: string }
  return cluster.startsWith('/') ? cluster : join(dataDir, cluster)
}

async function started(t: Test): Promise<EmbeddedPostgres> {
  const server = await made.start()
  t.teardown(() => server.stop())
  return server
}

async function untilGone(pid: number): Promise<void> {
  await until(() => identityOf(pid) === null)
}

t.test('the server accepts only its own password, in files that only their owner may read', async (t) => {
  const { url, clusterFolder } = await started(t)
  await t.rejects(ask(url.replace(/:[^:@/]+@/, ':wrong@'), 'SELECT 1'), { code: '28P01' })
  t.equal(statSync(join(clusterFolder, 'password')).mode & 0o777, 0o600)
  t.equal(statSync(join(made.dataDir, 'postgres.json')).mode & 0o777, 0o600)
})

t.test('the server opens no port, and only its account may enter the folder of its socket', async (t) => {
  const { url, clusterFolder } = await started(t)
  t.equal(await ask(url, 'SHOW listen_addresses'), '')
  const folder = statSync(String(await ask(url, 'SHOW unix_socket_directories')))
  t.equal(folder.mode & 0o777, 0o700)
  t.equal(folder.uid, statSync(join(clusterFolder, 'data')).uid)
  t.notMatch(url, /:\d+\//, 'the address names none that somebody else could take')
})

t.test('a cluster whose path is too long for a socket has its socket in another folder', async (t) => {
  const home = clusterHome(t)
  const deep = join(home.outsideDir, 'd'.repeat(60), 'e'.repeat(60))
  const dataDir = join(home.dataDir, 'd'.repeat(60), 'e'.repeat(60))
  for (const path of [deep, dataDir]) mkdirSync(path, { recursive: true })
  const server = await startEmbeddedPostgres({
    dataDir,
    outsideDir: deep,
    log: keptLog(),
    settings: { fsync: 'off' },
  })
  t.teardown(() => server.stop())
  const folder = String(await ask(server.url, 'SHOW unix_socket_directories'))
  t.notOk(folder.startsWith(server.clusterFolder))
  t.equal(statSync(folder).mode & 0o777, 0o700)
  await server.stop()
  t.notOk(existsSync(folder))
})

t.test('a second start finds the data and the password of the first', async (t) => {
  const first = await started(t)
  await ask(first.url, 'CREATE TABLE kept_by_a_stop AS SELECT 42 AS n')
  await first.stop()
  const second = await started(t)
  t.equal(await ask(second.url, 'SELECT n FROM kept_by_a_stop'), 42)
  t.equal(new URL(second.url).password, new URL(first.url).password)
})

t.test(
  'a parent that is killed leaves no server, and the next start works',
  { skip: NO_DEATH_SIGNAL },
  async (t) => {
    const parent = host(made)
    const [url] = (await once(parent, 'message')) as [string]
    await ask(url, 'CREATE TABLE kept_by_a_kill AS SELECT 42 AS n')
    const pid = postmasterOf(clusterOf(made))
    parent.kill('SIGKILL')
    await untilGone(pid)
    t.equal(await ask((await started(t)).url, 'SELECT n FROM kept_by_a_kill'), 42)
  },
)

for (const afterMs of [150, 400]) {
  t.test(
    `killing the parent ${afterMs} ms into the first start leaves no partial cluster`,
    { skip: NO_DEATH_SIGNAL },
    async (t) => {
      const home = clusterHome(t)
      const parent = host(home)
      await pause(afterMs)
      parent.kill('SIGKILL')
      await once(parent, 'exit')
      const { url, clusterFolder } = await home.start()
      t.equal(await ask(url, 'SELECT 1'), 1)
      t.same(
        readdirSync(clusterFolder).filter((name) => name.includes('.new-')),
        [],
      )
    },
  )
}

t.test('a server that is killed is up again on the same address', async (t) => {
  const { url, clusterFolder } = await started(t)
  const pid = postmasterOf(clusterFolder)
  process.kill(pid, 'SIGKILL')
  await untilGone(pid)
  let answer: unknown = null
  for (; answer === null; await pause(20)) answer = await ask(url, 'SELECT 1').catch(() => null)
  t.equal(answer, 1)
  t.not(postmasterOf(clusterFolder), pid)
})

t.test('the log has the last words of a server that died', async (t) => {
  const [{ dataDir, outsideDir }, log] = [made, keptLog()]
  const server = await startEmbeddedPostgres({ dataDir, outsideDir, log, settings: { fsync: 'off' } })
  t.teardown(() => server.stop())
  process.kill(postmasterOf(server.clusterFolder), 'SIGQUIT')
  await until(() => log.events.some(({ event }) => event === 'postgres.died'))
  const [died] = log.events.filter(({ event }) => event === 'postgres.died')
  t.match(died?.fields['lastWords'], /LOG: {2}received immediate shutdown request/)
})

t.test('a truncated claim of the cluster counts as no claim', async (t) => {
  const { clusterFolder, stop } = await started(t)
  await stop()
  writeFileSync(join(clusterFolder, 'supervisor.json'), '{"pid":1')
  await t.resolves(started(t))
})

t.test(
  'an unreadable cluster record is refused with its file name, and no empty cluster is started',
  async (t) => {
    const first = await started(t)
    await first.stop()
    const record = join(made.dataDir, 'postgres.json')
    const kept = readFileSync(record)
    t.teardown(() => writeFileSync(record, kept))
    writeFileSync(record, '{"clus')
    await t.rejects(made.start(), /postgres\.json cannot be read: restore the file/)
  },
)

t.test('a cluster that a living process uses is refused to another one', async (t) => {
  const parent = host(made)
  await once(parent, 'message')
  await t.rejects(made.start(), /process \d+ uses the cluster/)
  parent.disconnect()
  await once(parent, 'exit')
})

t.test('a stop leaves no process, no lock file and no claim', async (t) => {
  const server = await started(t)
  const pid = postmasterOf(server.clusterFolder)
  await server.stop()
  t.equal(identityOf(pid), null)
  t.notOk(existsSync(join(server.clusterFolder, 'data/postmaster.pid')))
  t.notOk(existsSync(join(server.clusterFolder, 'supervisor.json')))
})

t.test('a data directory whose cluster is missing is refused, and no empty cluster is started', async (t) => {
  const first = await started(t)
  await first.stop()
  const away = `${first.clusterFolder}-away`
  renameSync(first.clusterFolder, away)
  t.teardown(() => renameSync(away, first.clusterFolder))
  await t.rejects(made.start(), /refers to the data in .* which no longer exists/)
})
