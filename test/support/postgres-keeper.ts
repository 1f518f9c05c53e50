import { chmodSync, mkdirSync, rmSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import type { Sql } from 'postgres'
import { postgresAt } from '../../src/server/store/open.ts'
import { startEmbeddedPostgres, type EmbeddedPostgres } from '../../src/server/supervisor/embedded-postgres.ts'
import { migrate } from '../../src/server/store/migrate.ts'
import { KEEPER_HOME, KEEPER_PATH } from './postgres-keeper-path.ts'
import { freePort } from './spawned.ts'
import { REMOVAL } from './teardown.ts'

/** The process that owns the test cluster. It lends databases over a socket, and ends when nobody has one any more. */
const IDLE_MS = 3_000
const SETTINGS = { fsync: 'off', full_page_writes: 'off', synchronous_commit: 'off', max_connections: '200' }
const log = { debug() {}, info() {}, warn() {}, error() {} }

interface Cluster {
  readonly running: EmbeddedPostgres
  /** Tests put relays before it, which a socket would not let them. */
  readonly port: number
  readonly admin: Sql
}

let leases = 0
let count = 0
let isEnding = false
let idle: NodeJS.Timeout | undefined
const server = createServer(serve)
// The name is the lock: whoever has it is the keeper.
if (!(await hold())) process.exit(0)
const booting = boot()
/** One at a time: a template cannot be copied while somebody looks at it. */
let queue: Promise<unknown> = booting.catch(() => {})

function serve(socket: Socket): void {
  // Who comes now asks again until the next keeper is there.
  if (isEnding) return void socket.on('error', () => {}).destroy()
  clearTimeout(idle)
  leases++
  const database = `test_${++count}`
  socket.on('error', () => {})
  socket.once('data', (chunk: Buffer) => {
    const template = chunk.toString().trim() === 'migrated' ? 'template_migrated' : 'template0'
    queue = queue.then(() => lend(socket, database, template))
  })
  socket.once('close', () => {
    queue = queue.then(() => takeBack(database))
    if (--leases === 0) idle = setTimeout(() => void end(), IDLE_MS)
  })
}

async function lend(socket: Socket, database: string, template: string): Promise<void> {
  try {
    const cluster = await booting
    await cluster.admin.unsafe(`CREATE DATABASE ${database} TEMPLATE ${template} STRATEGY file_copy`)
    socket.write(`${urlOf(cluster, database)}\n`)
  } catch (problem) {
    socket.end(`error: ${(problem as Error).message.replaceAll('\n', ' ')}\n`)
  }
}

async function takeBack(database: string): Promise<void> {
  const cluster = await booting.catch(() => null)
  await cluster?.admin.unsafe(`DROP DATABASE IF EXISTS ${database} WITH (FORCE)`).catch(() => {})
}

async function boot(): Promise<Cluster> {
  // Left by a keeper that was killed, and whose server may be ending.
  await rm(KEEPER_HOME, REMOVAL)
  const dataDir = join(KEEPER_HOME, 'data')
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  chmodSync(KEEPER_HOME, 0o755)
  const port = await freePort()
  const settings = { ...SETTINGS, listen_addresses: '127.0.0.1', port: String(port) }
  const running = await startEmbeddedPostgres({ dataDir, log, settings, outsideDir: join(KEEPER_HOME, 'outside') })
  const cluster = { running, port }
  const admin = postgresAt(urlOf(cluster, 'postgres'), { max: 1, onnotice: () => {} })
  await admin`CREATE DATABASE template_migrated TEMPLATE template0`
  await migrate(urlOf(cluster, 'template_migrated'), log)
  return { ...cluster, admin }
}

/** The name is held to the end: the next keeper makes its cluster where this one is removed. */
async function end(): Promise<void> {
  isEnding = true
  await queue.catch(() => {})
  const cluster = await booting.catch(() => null)
  await cluster?.admin.end({ timeout: 1 })
  await cluster?.running.stop()
  await rm(KEEPER_HOME, REMOVAL)
  process.exit(0)
}

async function hold(): Promise<boolean> {
  if (await mayListen()) return true
  if (process.platform === 'linux' || await isAnswered()) return false
  rmSync(KEEPER_PATH, { force: true })
  return mayListen()
}

function mayListen(): Promise<boolean> {
  return new Promise((resolve) => {
    server.once('error', () => resolve(false))
    server.listen(KEEPER_PATH, () => resolve(true))
  })
}

function isAnswered(): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(KEEPER_PATH)
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
    socket.once('connect', () => socket.destroy())
  })
}

function urlOf({ running, port }: Pick<Cluster, 'running' | 'port'>, database: string): string {
  const url = new URL(running.url)
  url.search = ''
  url.host = `127.0.0.1:${port}`
  url.pathname = `/${database}`
  return url.href
}
