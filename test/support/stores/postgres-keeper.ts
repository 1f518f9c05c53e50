import { chmodSync, existsSync, mkdirSync, rmSync } from 'node:fs'
import { rm, statfs } from 'node:fs/promises'
import { connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import type { Sql } from 'postgres'
import { postgresAt } from '../../../src/server/store/base/open.ts'
import {
  startEmbeddedPostgres,
  type EmbeddedPostgres,
} from '../../../src/server/supervisor/postgres/embedded-postgres.ts'
import { migrate } from '../../../src/server/store/migrations/migrate.ts'
import { KEEPER_HOME, KEEPER_NAME, KEEPER_PATH } from './postgres-keeper-path.ts'
import { freePort } from '../nodes/spawned.ts'
import { REMOVAL } from '../teardown.ts'

/**
 * The process that owns the test cluster. The keeper lends databases over a socket, and ends when no database
 * is lent for this long: the next run within it finds the cluster, and a run does not make two.
 */
const IDLE_MS = 20_000
/** The cluster ends with its keeper: no crash, copy or standby reads what it writes. */
const SETTINGS = {
  fsync: 'off',
  full_page_writes: 'off',
  synchronous_commit: 'off',
  wal_level: 'minimal',
  max_wal_senders: '0',
  min_wal_size: '32MB',
  max_wal_size: '128MB',
  autovacuum: 'off',
  max_connections: '400',
}
/**
 * Decision: a cluster of tests lies in memory where the system lends that much of it. A copy of the template
 * is nearly 600 files: it takes 14 ms of CPU there, and 90 ms on a disk.
 */
const MEMORY_FOLDER = '/dev/shm'
const MEMORY_BYTES_MIN = 4 * 2 ** 30
const log = { debug() {}, info() {}, warn() {}, error() {} }

interface Cluster {
  /** Removed with the cluster. */
  readonly home: string
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
// The name is the lock: the process that has it is the keeper.
if (!(await hold())) process.exit(0)
const booting = boot()
/** Databases that stand ready, so that a test does not wait for a copy of the template. */
const READY_MAX = 4
/**
 * Returned databases that lie until the cluster is removed, 10 MB each. What exceeds them is dropped while no
 * test waits.
 */
const RETURNED_MAX = 32
const TEMPLATES = { migrated: 'template_migrated', empty: 'template0' } as const
type Kind = keyof typeof TEMPLATES

interface Request {
  readonly kind: Kind
  readonly answer: (database: string) => void
  readonly refuse: (problem: Error) => void
}

const requests: Request[] = []
const ready: Record<Kind, string[]> = { migrated: [], empty: [] }
const returned: string[] = []
let working: Promise<void> | null = null

function serve(socket: Socket): void {
  // Who comes now asks again until the next keeper is there.
  if (isEnding) return void socket.on('error', () => {}).destroy()
  clearTimeout(idle)
  leases++
  let lent: string | null = null
  let isGone = false
  socket.on('error', () => {})
  socket.once('data', (chunk: Buffer) => {
    const kind = chunk.toString().trim() === 'migrated' ? 'migrated' : 'empty'
    const request: Request = {
      kind,
      answer(database) {
        lent = database
        if (isGone) return void giveBack(database)
        void booting.then((cluster) => socket.write(`${urlOf(cluster, database)}\n`))
      },
      refuse: (problem) => refuse(socket, problem),
    }
    // A database that stands ready does not wait for the statement at work.
    const stands = ready[kind].shift()
    if (stands === undefined) requests.push(request)
    else request.answer(stands)
    work()
  })
  socket.once('close', () => {
    isGone = true
    if (lent !== null) giveBack(lent)
    if (--leases === 0) idle = setTimeout(() => void end(), IDLE_MS)
  })
  booting.catch((problem: Error) => refuse(socket, problem))
}

function refuse(socket: Socket, problem: Error): void {
  socket.end(`error: ${problem.message.replaceAll('\n', ' ')}\n`)
}

function giveBack(database: string): void {
  returned.push(database)
  work()
}

function work(): void {
  working ??= workOff()
    .catch(() => {})
    .finally(() => (working = null))
}

/**
 * One statement at a time. Tests that wait come first, then the databases that stand ready, then the drops.
 */
async function workOff(): Promise<void> {
  const { admin } = await booting
  for (;;) {
    const request = requests.shift()
    if (request !== undefined) await made(admin, request.kind).then(request.answer, request.refuse)
    else if (isEnding) return
    else if (ready.migrated.length < READY_MAX) ready.migrated.push(await made(admin, 'migrated'))
    else if (ready.empty.length === 0) ready.empty.push(await made(admin, 'empty'))
    else if (returned.length > RETURNED_MAX) await drop(admin, returned.shift() ?? '')
    else return
  }
}

async function drop(admin: Sql, database: string): Promise<void> {
  await admin.unsafe(`DROP DATABASE IF EXISTS ${database} WITH (FORCE)`).catch(() => {})
}

async function made(admin: Sql, kind: Kind): Promise<string> {
  const database = `test_${++count}`
  await admin.unsafe(`CREATE DATABASE ${database} TEMPLATE ${TEMPLATES[kind]} STRATEGY file_copy`)
  return database
}

async function boot(): Promise<Cluster> {
  const inMemory = await memoryHome()
  if (inMemory === null) return bootAt(KEEPER_HOME)
  // Programs that must be copied next to the data do not start where the folder may hold no programs.
  return bootAt(inMemory).catch(async () => {
    await rm(inMemory, REMOVAL)
    return bootAt(KEEPER_HOME)
  })
}

async function memoryHome(): Promise<string | null> {
  if (process.platform !== 'linux' || !existsSync(MEMORY_FOLDER)) return null
  const { bavail, bsize } = await statfs(MEMORY_FOLDER)
  const isRoomy = Math.min(bavail * bsize, process.availableMemory()) >= MEMORY_BYTES_MIN
  return isRoomy ? join(MEMORY_FOLDER, KEEPER_NAME) : null
}

async function bootAt(home: string): Promise<Cluster> {
  // Left by a keeper that was killed, and whose server may be ending.
  await rm(home, REMOVAL)
  const dataDir = join(home, 'data')
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  chmodSync(home, 0o755)
  const port = await freePort()
  const settings = { ...SETTINGS, listen_addresses: '127.0.0.1', port: String(port) }
  const running = await startEmbeddedPostgres({
    dataDir,
    log,
    settings,
    outsideDir: join(home, 'outside'),
  })
  const cluster = { home, running, port }
  const admin = postgresAt(urlOf(cluster, 'postgres'), { max: 1, onnotice: () => {} })
  await admin`CREATE DATABASE template_migrated TEMPLATE template0`
  await migrate(urlOf(cluster, 'template_migrated'), log)
  return { ...cluster, admin }
}

/** The name is held to the end: the next keeper makes its cluster where this one is removed. */
async function end(): Promise<void> {
  isEnding = true
  await working
  const cluster = await booting.catch(() => null)
  await cluster?.admin.end({ timeout: 1 })
  await cluster?.running.stop()
  if (cluster !== null) await rm(cluster.home, REMOVAL)
  process.exit(0)
}

async function hold(): Promise<boolean> {
  if (await mayListen()) return true
  if (process.platform === 'linux' || (await isAnswered())) return false
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
