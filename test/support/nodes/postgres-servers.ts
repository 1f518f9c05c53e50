/** Real servers of Postgres that fail over, are demoted and run out of connections, as an operator's may. */
import { spawnSync } from 'node:child_process'
import { appendFileSync, existsSync, rmSync, writeFileSync } from 'node:fs'
import { chmod, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { openStore, type Sql } from '../../../src/server/store/base/open.ts'
import { findPostgresBinaries } from '../../../src/server/supervisor/postgres/postgres-binaries.ts'
import {
  ensureCluster,
  placeCluster,
  POSTGRES_USER,
  type ClusterPlace,
} from '../../../src/server/supervisor/postgres/postgres-cluster.ts'
import {
  clearOrphan,
  POSTGRES_SOCKET,
  startPostmaster,
  stopPostmaster,
  type Postmaster,
} from '../../../src/server/supervisor/postgres/embedded-postgres.ts'
import { signal } from '../../../src/server/supervisor/fleet/process-state.ts'
import { makeSocketFolder } from '../../../src/server/supervisor/data-directory/socket-folder.ts'
import { findSetpriv, stepDownAccount } from '../../../src/server/supervisor/fleet/step-down.ts'
import { tree } from '../load/process-cpu.ts'
import type { Teardown } from '../teardown.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { until } from '../wait.ts'
import { freePort } from './spawned.ts'

/** Role of the nodes: limits of connections do not hold a superuser. */
export const NODE_ROLE = 'node'
export const NODE_PASSWORD = 'node-password'
/** Database of the nodes. */
export const NODE_DATABASE = 'node'
/** The time-outs, which a pooler does not pass on. */
const ROLE_SETTINGS = [
  "statement_timeout = '10s'",
  "lock_timeout = '5s'",
  "idle_in_transaction_session_timeout = '10s'",
]
const SETTINGS = { fsync: 'off', listen_addresses: '127.0.0.1', max_connections: '200' }
const log = { debug() {}, info() {}, warn() {}, error() {} }

export interface PostgresServer {
  readonly port: number
  /** An empty one that belongs to the role of the nodes. */
  addDatabase(name: string): Promise<void>
  /** Runs a statement as the superuser, on a connection of its own. */
  admin<T>(run: (sql: Sql) => Promise<T>): Promise<T>
  /** Fast: a standby gets all that was written. */
  stop(): Promise<void>
  /** SIGQUIT: the server does no more than end. */
  kill(): Promise<void>
  /** Its processes stand still, as on a machine that died: connections stay open without an answer. */
  freeze(): void
  /** @param of the primary that it follows as a standby; `nobody`: as a standby that follows no server */
  start(of?: PostgresServer | 'nobody'): Promise<void>
  /** Ends being a standby; resolves when it accepts writes. */
  promote(): Promise<void>
  /** A stopped copy of this server, which is stopped for it. */
  copy(): Promise<PostgresServer>
}

/** A server with an empty database that belongs to the role of the nodes. */
export async function startPostgresServer(t: Teardown): Promise<PostgresServer> {
  const home = temporaryFolder(t, 'postgres-server')
  const server = await make(t, home)
  await server.start()
  await server.admin(async (sql) => {
    await sql.unsafe(`CREATE ROLE ${NODE_ROLE} LOGIN PASSWORD '${NODE_PASSWORD}'`)
    for (const setting of ROLE_SETTINGS) await sql.unsafe(`ALTER ROLE ${NODE_ROLE} SET ${setting}`)
  })
  await server.addDatabase(NODE_DATABASE)
  return server
}

/** A URL that names all of them and asks for the one that takes writes. */
export function urlOfAll(servers: readonly Pick<PostgresServer, 'port'>[]): string {
  const places = servers.map(({ port }) => `127.0.0.1:${port}`).join(',')
  return `postgres://${NODE_ROLE}:${NODE_PASSWORD}@${places}/${NODE_DATABASE}?target_session_attrs=read-write`
}

/** A URL with the role of the nodes; the port is that of a server or of a pooler. */
export function nodeUrlAt(port: number, database = NODE_DATABASE): string {
  return `postgres://${NODE_ROLE}:${NODE_PASSWORD}@127.0.0.1:${port}/${database}`
}

/** Where a server lies, and what runs it. */
interface Home {
  readonly place: ClusterPlace
  readonly bin: string
  readonly setpriv: string | null
  readonly password: string
  readonly port: number
}

async function make(t: Teardown, home: string): Promise<PostgresServer> {
  await chmod(home, 0o755)
  const [dataDir, outsideDir] = [join(home, 'data'), join(home, 'outside')]
  await mkdir(dataDir, { mode: 0o700 })
  await mkdir(outsideDir, { mode: 0o755 })
  const setpriv = findSetpriv()
  const place = await placeCluster({ dataDir, outsideDir, account: stepDownAccount() })
  const bin = await findPostgresBinaries({ account: place.account, setpriv, cacheDir: outsideDir })
  const { password } = await ensureCluster(place, { bin, setpriv, isSynced: false })
  return serverOf(t, { place, bin, setpriv, password, port: await freePort() })
}

function serverOf(t: Teardown, home: Home): PostgresServer {
  const { place, password, port } = home
  let running: Postmaster | null = null
  const signalAll = (name: NodeJS.Signals): void => {
    for (const { pid } of running === null ? [] : tree(running.identity.pid)) signal(pid, name)
  }
  t.teardown(async () => {
    signalAll('SIGCONT')
    if (running !== null) await stopPostmaster(running.identity)
  })
  const end = async (byForce: boolean): Promise<void> => {
    const ending = running
    running = null
    if (ending === null) return
    if (byForce) process.kill(ending.identity.pid, 'SIGQUIT')
    await stopPostmaster(ending.identity)
  }
  return {
    port,
    addDatabase: (name) =>
      asSuperuser(home, async (sql) => void (await sql.unsafe(`CREATE DATABASE ${name} OWNER ${NODE_ROLE}`))),
    admin: (run) => asSuperuser(home, run),
    stop: () => end(false),
    kill: () => end(true),
    freeze: () => signalAll('SIGSTOP'),
    async start(of) {
      await clearOrphan(place.data)
      follow(place, of === undefined || of === 'nobody' ? of : conninfoOf(of, password))
      running ??= await launch(home)
    },
    async promote() {
      await this.admin((sql) => sql`SELECT pg_promote(false)`)
      await until('the standby accepts writes', () => this.admin(isPrimary))
    },
    async copy() {
      await end(false)
      const folder = temporaryFolder(t, 'postgres-server')
      await chmod(folder, 0o755)
      const data = join(folder, 'data')
      const { status, stderr } = spawnSync('cp', ['-Rp', place.data, data], { encoding: 'utf8' })
      if (status !== 0) throw new Error(`the cluster could not be copied: ${stderr}`)
      return serverOf(t, { ...home, place: { ...place, folder, data }, port: await freePort() })
    },
  }
}

/** Makes the cluster a standby for its next start, or none. */
function follow({ data }: ClusterPlace, conninfo: string | undefined): void {
  const signal = join(data, 'standby.signal')
  if (conninfo === undefined) return rmSync(signal, { force: true })
  writeFileSync(signal, '')
  const line = conninfo === 'nobody' ? "primary_conninfo = ''" : `primary_conninfo = '${conninfo}'`
  const file = join(data, 'postgresql.auto.conf')
  if (!existsSync(file)) throw new Error(`${file} is not there`)
  appendFileSync(file, `${line}\n`)
}

function conninfoOf({ port }: PostgresServer, password: string): string {
  return `host=127.0.0.1 port=${port} user=${POSTGRES_USER} password=${password}`
}

function launch({ place, bin, setpriv, port }: Home): Promise<Postmaster> {
  const socketFolder = makeSocketFolder({
    at: join(place.folder, 'socket'),
    socket: POSTGRES_SOCKET,
    account: place.account,
  })
  const settings = { ...SETTINGS, port: String(port) }
  return startPostmaster({ place, bin, setpriv, settings, socketFolder, log })
}

async function asSuperuser<T>({ port, password }: Home, run: (sql: Sql) => Promise<T>): Promise<T> {
  const url = `postgres://${POSTGRES_USER}:${password}@127.0.0.1:${port}/postgres`
  const store = openStore({ url, poolMax: 1, applicationName: 'sluice-prove' })
  try {
    return await run(store.sql)
  } finally {
    await store.close()
  }
}

async function isPrimary(sql: Sql): Promise<boolean> {
  const [row] = await sql<{ isStandby: boolean }[]>`SELECT pg_is_in_recovery() AS "isStandby"`
  return row?.isStandby === false
}
