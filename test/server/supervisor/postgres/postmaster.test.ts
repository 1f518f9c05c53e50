import { execFileSync, spawn, type ChildProcessByStdio } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import t from 'tap'
import { findPostgresBinaries } from '../../../../src/server/supervisor/postgres/postgres-binaries.ts'
import { placeCluster } from '../../../../src/server/supervisor/postgres/postgres-cluster.ts'
import {
  POSTGRES_SOCKET,
  startPostmaster,
  stopPostmaster,
} from '../../../../src/server/supervisor/postgres/embedded-postgres.ts'
import { identityOf, postgresProcessesWith } from '../../../../src/server/supervisor/fleet/process-state.ts'
import { makeSocketFolder } from '../../../../src/server/supervisor/data-directory/socket-folder.ts'
import { findSetpriv, stepDownAccount } from '../../../../src/server/supervisor/fleet/step-down.ts'
import { clusterHome } from '../../../support/nodes/cluster-home.ts'
import { keptLog } from '../../../support/log.ts'
import { until } from '../../../support/wait.ts'
import { temporaryFolder } from '../../../support/temporary-folder.ts'

/** The lock file that Postgres leaves, with a pid that the test chose. */
function lock(data: string, pid: number): void {
  writeFileSync(
    join(data, 'postmaster.pid'),
    [pid, data, 1_700_000_000, 5432, '', '127.0.0.1', '', 'ready', ''].join('\n'),
  )
}

/**
 * Runs under the account of the server, because Postgres itself recognizes a process of another user as
 * foreign.
 */
function asServer(
  t: Parameters<typeof clusterHome>[0],
  script: string,
): ChildProcessByStdio<null, Readable, null> {
  const { uid, gid } = stepDownAccount() ?? { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 }
  const child = spawn('sh', ['-c', script], { stdio: ['ignore', 'pipe', 'ignore'], cwd: '/', uid, gid })
  t.teardown(() => void child.kill('SIGKILL'))
  return child
}

/** A dead process that its parent does not reap. */
async function zombie(t: Parameters<typeof clusterHome>[0]): Promise<number> {
  const [pid] = (await once(asServer(t, 'sleep 0.1 & echo $!; exec sleep 600').stdout, 'data')) as [Buffer]
  return Number(pid.toString())
}

/**
 * A program that is killed. After we have seen its end, its lock file still says ready, as a child may write
 * it late.
 */
function deadServer(t: { teardown(done: () => void): unknown }): {
  readonly home: string
  readonly data: string
} {
  const home = temporaryFolder(t, 'dead')
  const [data, sleeper] = [join(home, 'data'), join(home, 'sleeper')]
  mkdirSync(data)
  writeFileSync(
    join(home, 'postgres'),
    `#!/bin/sh
pid=$$
(
  while kill -0 $pid 2>/dev/null; do :; done
  printf '%s\\n' $pid ${data} 1700000000 5432 '' '' '' ready > ${data}/postmaster.pid
  exec sleep 600
) &
echo $! > ${sleeper}
kill -9 $pid
`,
    { mode: 0o755 },
  )
  t.teardown(() => void process.kill(Number(readFileSync(sleeper, 'utf8')), 'SIGKILL'))
  return { home, data }
}

t.test(
  'a lock file of a zombie does not stop a start',
  { skip: process.platform !== 'linux' && 'needs /proc' },
  async (t) => {
    const home = clusterHome(t)
    const first = await home.start()
    await first.stop()
    const pid = await zombie(t)
    await until(() => identityOf(pid) === null)
    t.ok(process.kill(pid, 0), 'the system still knows the pid')
    lock(join(first.clusterFolder, 'data'), pid)
    await t.resolves(home.start())
  },
)

t.test('a lock file whose pid belongs to another program does not stop a start', async (t) => {
  const home = clusterHome(t)
  const first = await home.start()
  await first.stop()
  lock(join(first.clusterFolder, 'data'), asServer(t, 'exec sleep 600').pid ?? 0)
  await t.resolves(home.start())
})

t.test('a server that outlived its supervisor is ended before the next one starts', async (t) => {
  const home = clusterHome(t)
  await (await home.start()).stop()
  const account = stepDownAccount()
  const place = await placeCluster({ ...home, account })
  const bin = await findPostgresBinaries({
    account: place.account,
    setpriv: findSetpriv(),
    cacheDir: home.outsideDir,
  })
  // Without setpriv, as on a machine that has none: nothing ends it with its parent.
  const socketFolder = makeSocketFolder({
    at: join(place.folder, 'socket'),
    socket: POSTGRES_SOCKET,
    account: place.account,
  })
  const orphan = await startPostmaster({
    place,
    bin,
    setpriv: null,
    settings: {},
    socketFolder,
    log: keptLog(),
  })
  await t.resolves(home.start())
  t.equal(identityOf(orphan.identity.pid), null)
})

t.test('a server that was killed right after it became ready counts as not started', async (t) => {
  const { home, data } = deadServer(t)
  const input = {
    place: { folder: home, data, account: null },
    bin: home,
    setpriv: null,
    settings: {},
    socketFolder: home,
    log: keptLog(),
  }
  await t.rejects(startPostmaster(input), /the server exited during startup \(exit SIGKILL\)/)
})

t.test('a stop does not signal another process that has the pid of a server that is gone', async (t) => {
  const stranger = asServer(t, 'echo up; exec sleep 600')
  await once(stranger.stdout, 'data')
  const { pid = 0 } = stranger
  await stopPostmaster({ pid, startedAt: 'before' })
  t.not(identityOf(pid), null)
})

t.test('children of Postgres are found by the token in their command line', async (t) => {
  const { clusterFolder } = await clusterHome(t).start({ fsync: 'off', cluster_name: 'ignored' })
  const commands = execFileSync('ps', ['-axo', 'command='], { encoding: 'utf8' })
  const [, name = 'none'] =
    new RegExp(`postgres -D ${clusterFolder}/data .*cluster_name=(\\S+)`).exec(commands) ?? []
  t.ok(postgresProcessesWith(name).length > 3)
})
