/** Postgres and Redis as an operator would run them next to the node, to be stopped and brought back. */
import { spawn, type ChildProcess } from 'node:child_process'
import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findPostgresBinaries } from '../../../src/server/supervisor/postgres/postgres-binaries.ts'
import {
  ensureCluster,
  placeCluster,
  POSTGRES_DATABASE,
  POSTGRES_USER,
} from '../../../src/server/supervisor/postgres/postgres-cluster.ts'
import {
  clearOrphan,
  POSTGRES_SOCKET,
  startPostmaster,
  stopPostmaster,
  type Postmaster,
} from '../../../src/server/supervisor/postgres/embedded-postgres.ts'
import { makeSocketFolder } from '../../../src/server/supervisor/data-directory/socket-folder.ts'
import { findSetpriv, stepDownAccount } from '../../../src/server/supervisor/fleet/step-down.ts'
import { plainEnvironment } from '../load/load.ts'
import { freePort, hasEnded, stopServer, untilListening } from './spawned.ts'
import { openTestDatabase } from '../stores/postgres.ts'
import { REMOVAL } from '../teardown.ts'

export interface OutsideStore {
  readonly url: string
  /** Ends it at once, as a machine that fails; resolves when it is gone. */
  kill(): Promise<void>
  /** Brings it back at the same address. */
  start(): Promise<void>
  /** Ends it for good and removes its data. */
  close(): Promise<void>
}

export interface OutsideRedis extends OutsideStore {
  /** Scripts that it has carried out: a step of a rate limit each. */
  scripts(): Promise<number>
  /** It keeps its connections and answers nothing, until `resume`. */
  pause(): void
  resume(): void
}

const log = { debug() {}, info() {}, warn() {}, error() {} }
const SETTINGS = { fsync: 'off', full_page_writes: 'off', max_connections: '200' }
const SYNCED = { fsync: 'on', full_page_writes: 'on' }

/** A database of the test cluster, which must not be stopped: other tests use it. */
export async function lentPostgres(): Promise<OutsideStore> {
  const closers: (() => unknown)[] = []
  const { url } = await openTestDatabase({ teardown: (close) => closers.push(close) })
  const refuse = (): Promise<never> => Promise.reject(new Error('the test cluster is not to be ended'))
  return { url, kill: refuse, start: refuse, close: async () => closers.forEach((close) => close()) }
}

/**
 * The Postgres of the product's own binaries on a port that it keeps. @param isSynced its commits outlive the
 * machine
 */
export async function outsidePostgres({ isSynced = false } = {}): Promise<OutsideStore> {
  const home = await mkdtemp(join(tmpdir(), 'sluice-postgres-'))
  await chmod(home, 0o755)
  const [dataDir, outsideDir] = [join(home, 'data'), join(home, 'outside')]
  await mkdir(dataDir, { mode: 0o700 })
  await mkdir(outsideDir, { mode: 0o755 })
  const setpriv = findSetpriv()
  const place = await placeCluster({ dataDir, outsideDir, account: stepDownAccount() })
  const bin = await findPostgresBinaries({ account: place.account, setpriv, cacheDir: outsideDir })
  const { password } = await ensureCluster(place, { bin, setpriv, isSynced: false })
  const port = await freePort()
  const settings = { ...SETTINGS, ...(isSynced && SYNCED), listen_addresses: '127.0.0.1', port: String(port) }
  const socketFolder = makeSocketFolder({
    at: join(place.folder, 'socket'),
    socket: POSTGRES_SOCKET,
    account: place.account,
  })
  const launch = (): Promise<Postmaster> =>
    startPostmaster({ place, bin, setpriv, settings, socketFolder, log })
  let running: Postmaster | null = await launch()
  return {
    url: `postgres://${POSTGRES_USER}:${password}@127.0.0.1:${port}/${POSTGRES_DATABASE}`,
    async kill() {
      const identity = running?.identity
      running = null
      if (identity === undefined) return
      process.kill(identity.pid, 'SIGQUIT')
      await stopPostmaster(identity)
    },
    async start() {
      await clearOrphan(place.data)
      running ??= await launch()
    },
    async close() {
      if (running !== null) await stopPostmaster(running.identity)
      await rm(home, REMOVAL)
    },
  }
}

/** A real redis-server on a port that it keeps; null when none is on the PATH. */
export async function outsideRedis(): Promise<OutsideRedis | null> {
  // A spawn of an absent program reports by an event; looking for it first keeps that out of the way.
  if (!(await isOnPath('redis-server'))) return null
  const home = await mkdtemp(join(tmpdir(), 'sluice-redis-'))
  const port = await freePort()
  const launch = async (): Promise<ChildProcess | null> => {
    const args = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--dir', home]
    const child = spawn('redis-server', args, { stdio: 'ignore', env: plainEnvironment() })
    const isThere = await untilListening(port, { child, output: () => '' }).then(
      () => true,
      () => false,
    )
    return isThere ? child : null
  }
  let running = await launch()
  const kill = async (): Promise<void> => {
    const ending = running
    running = null
    if (ending === null || hasEnded(ending)) return
    ending.kill('SIGKILL')
    await new Promise((resolve) => ending.once('exit', resolve))
  }
  return {
    url: `redis://127.0.0.1:${port}`,
    kill,
    scripts: () => scriptsOf(port),
    pause: () => void running?.kill('SIGSTOP'),
    resume: () => void running?.kill('SIGCONT'),
    async start() {
      running ??= await launch()
    },
    async close() {
      if (running !== null) await stopServer(running)
      await rm(home, REMOVAL)
    },
  }
}

function scriptsOf(port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.end('INFO commandstats\r\n'))
    let stated = ''
    socket
      .setEncoding('utf8')
      .on('data', (text: string) => (stated += text))
      .once('error', reject)
    socket.once('end', () =>
      resolve(
        [...stated.matchAll(/cmdstat_eval(?:sha)?:calls=(\d+)/g)].reduce(
          (sum, match) => sum + Number(match[1]),
          0,
        ),
      ),
    )
  })
}

export function isOnPath(name: string): Promise<boolean> {
  return new Promise((resolve) => {
    const child = spawn(name, ['--version'], { stdio: 'ignore', env: plainEnvironment() })
    child.once('error', () => resolve(false))
    child.once('exit', () => resolve(true))
  })
}
