import { chmodSync, mkdirSync, rmSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import type { Sql } from 'postgres'
import { postgresAt } from '../../../src/server/store/base/open.ts'
import {
  startEmbeddedPostgres,
  type EmbeddedPostgres,
} from '../../../src/server/supervisor/postgres/embedded-postgres.ts'
import { migrate } from '../../../src/server/store/migrations/migrate.ts'
import { KEEPER_HOME, KEEPER_PATH } from './postgres-keeper-path.ts'
import { freePort } from '../nodes/spawned.ts'
import { REMOVAL } from '../teardown.ts'

/**
 * The process that owns the test cluster. It lends databases over a socket, and ends when nobody has one any
 * more.
 */
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
/** Databases that stand ready, so that a test does not wait for a copy of the template. */
const READY_MAX = 4
const TEMPLATES = { migrated: 'template_migrated', empty: 'template0' } as const
type Kind = keyof typeof TEMPLATES

interface Request {
  readonly kind: Kind
  readonly answer: (database: string) => void
  readonly refuse: (problem: Error) => void
}

const requests: Request[] = []
const ready: string[] = []
const returned: string[] = []
/** One statement at a time: a template cannot be copied while another session uses it. */
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
    requests.push({
      kind,
      answer(database) {
        lent = database
        if (isGone) return void giveBack(database)
        void booting.then((cluster) => socket.write(`${urlOf(cluster, database)}\n`))
      },
      refuse: (problem) => refuse(socket, problem),
    })
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
 * Tests that wait come first, then the databases that stand ready; what was given back is dropped when
 * nothing else is to be done.
 */
async function workOff(): Promise<void> {
  const { admin } = await booting
  for (;;) {
    const request = requests.shift()
    if (request !== undefined) {
      const stands = request.kind === 'migrated' ? ready.shift() : undefined
      if (stands !== undefined) request.answer(stands)
      else await made(admin, request.kind).then(request.answer, request.refuse)
    } else if (isEnding) {
      return
    } else if (ready.length < READY_MAX) {
      ready.push(await made(admin, 'migrated'))
    } else {
      const database = returned.shift()
      if (database === undefined) return
      await admin.unsafe(`DROP DATABASE IF EXISTS ${database} WITH (FORCE)`).catch(() => {})
    }
  }
}

async function made(admin: Sql, kind: Kind): Promise<string> {
  const database = `test_${++count}`
  await admin.unsafe(`CREATE DATABASE ${database} TEMPLATE ${TEMPLATES[kind]} STRATEGY file_copy`)
  return database
}

async function boot(): Promise<Cluster> {
  // Left by a keeper that was killed, and whose server may be ending.
  await rm(KEEPER_HOME, REMOVAL)
  const dataDir = join(KEEPER_HOME, 'data')
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  chmodSync(KEEPER_HOME, 0o755)
  const port = await freePort()
  const settings = { ...SETTINGS, listen_addresses: '127.0.0.1', port: String(port) }
  const running = await startEmbeddedPostgres({
    dataDir,
    log,
    settings,
    outsideDir: join(KEEPER_HOME, 'outside'),
  })
  const cluster = { running, port }
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
  await rm(KEEPER_HOME, REMOVAL)
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
