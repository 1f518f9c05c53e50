import { chmodSync, mkdirSync, rmSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import postgres, { type Sql } from 'postgres'
import { startEmbeddedPostgres, type EmbeddedPostgres } from '../../src/server/supervisor/embedded-postgres.ts'
import { migrate } from '../../src/server/store/migrate.ts'
import { KEEPER_HOME, KEEPER_PATH } from './postgres-keeper-path.ts'

/** The process that owns the test cluster. It lends databases over a socket, and ends when nobody has one any more. */
const IDLE_MS = 3_000
const SETTINGS = { fsync: 'off', full_page_writes: 'off', synchronous_commit: 'off', max_connections: '200' }
const log = { debug() {}, info() {}, warn() {}, error() {} }

interface Cluster {
  readonly running: EmbeddedPostgres
  readonly admin: Sql
}

let leases = 0
let count = 0
let idle: NodeJS.Timeout | undefined
const server = createServer(serve)
// The name is the lock: whoever has it is the keeper.
if (!(await hold())) process.exit(0)
const booting = boot()
/** One at a time: a template cannot be copied while somebody looks at it. */
let queue: Promise<unknown> = booting.catch(() => {})

function serve(socket: Socket): void {
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
    const { admin, running } = await booting
    await admin.unsafe(`CREATE DATABASE ${database} TEMPLATE ${template} STRATEGY file_copy`)
    socket.write(`${urlOf(running, database)}\n`)
  } catch (problem) {
    socket.end(`error: ${(problem as Error).message.replaceAll('\n', ' ')}\n`)
  }
}

async function takeBack(database: string): Promise<void> {
  const cluster = await booting.catch(() => null)
  await cluster?.admin.unsafe(`DROP DATABASE IF EXISTS ${database} WITH (FORCE)`).catch(() => {})
}

async function boot(): Promise<Cluster> {
  // Left by a keeper that was killed.
  rmSync(KEEPER_HOME, { recursive: true, force: true })
  const dataDir = join(KEEPER_HOME, 'data')
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  chmodSync(KEEPER_HOME, 0o755)
  const running = await startEmbeddedPostgres({ dataDir, log, settings: SETTINGS, outsideDir: join(KEEPER_HOME, 'outside') })
  const admin = postgres(running.url, { max: 1, onnotice: () => {} })
  await admin`CREATE DATABASE template_migrated TEMPLATE template0`
  await migrate(urlOf(running, 'template_migrated'), log)
  return { running, admin }
}

async function end(): Promise<void> {
  server.close()
  await queue.catch(() => {})
  const cluster = await booting.catch(() => null)
  await cluster?.admin.end({ timeout: 1 })
  await cluster?.running.stop()
  rmSync(KEEPER_HOME, { recursive: true, force: true })
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

function urlOf(running: EmbeddedPostgres, database: string): string {
  const url = new URL(running.url)
  url.pathname = `/${database}`
  return url.href
}
