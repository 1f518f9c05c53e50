import { chmod, mkdir, readFile, realpath, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { ChildProcess } from 'node:child_process'
import type { Log } from '../../ports/observe.ts'
import { writePrivate } from '../data-directory/own-folder.ts'
import {
  identityOf,
  isIdentity,
  isRunning,
  postgresProcessesWith,
  type ProcessIdentity,
  signal,
  waitUntilGone,
} from '../fleet/process-state.ts'
import { makeSocketFolder } from '../data-directory/socket-folder.ts'
import { findSetpriv, launch, stepDownAccount } from '../fleet/step-down.ts'
import { HOLDER_FILE, noteOwner, OUTSIDE_DIR } from './outside-clusters.ts'
import {
  findPostgresBinaries,
  POSTGRES_ENVIRONMENT,
  shippedMajor,
  EmbeddedPostgresError,
} from './postgres-binaries.ts'
import {
  checkClusterVersion,
  type ClusterPlace,
  ensureCluster,
  placeCluster,
  POSTGRES_DATABASE,
  POSTGRES_USER,
} from './postgres-cluster.ts'

/** Milliseconds before a server that died is started again; doubled each time, up to RESTART_MS_MAX. */
const RESTART_MS = 200
/** Longest milliseconds before a server that died is started again. */
const RESTART_MS_MAX = 5_000

/**
 * Settings of a server that serves one node and is often idle. Reads need no separate processes (three by default), and
 * no process starts subscriptions, which a node does not have. The writer of the log wakes every 2 s instead of five
 * times a second: calls wait for their own commits, and a crash of the machine may undo heartbeats and removals of the
 * last 6 s, which are repeated. Tables to vacuum are looked for every 2 minutes.
 */
const LEAN = {
  io_method: 'sync',
  max_logical_replication_workers: '0',
  wal_writer_delay: '2s',
  autovacuum_naptime: '2min',
} as const

export interface EmbeddedPostgresOptions {
  /** An existing directory of mode 0700. */
  readonly dataDir: string
  readonly log: Log
  /** Further server settings: `{ fsync: 'off' }`. */
  readonly settings?: Readonly<Record<string, string>>
  /** Folder of clusters that are stored outside of the data directory; only tests set it. */
  readonly outsideDir?: string
}

export interface EmbeddedPostgres {
  /** URL with user, password and database, and the folder of the socket as `host`, in the form of libpq. */
  readonly url: string
  readonly clusterFolder: string
  stop(): Promise<void>
}

/**
 * Starts the Postgres that comes with the product, with SCRAM on a Unix socket that only its account and this
 * process can reach, and keeps it running: a server that dies is started again on the same socket. The server
 * ends with this process, also after `kill -9` (Linux with `setpriv`). Failures (thrown): EmbeddedPostgresError
 * with the reason.
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const { log, outsideDir = OUTSIDE_DIR } = options
  const settings: Readonly<Record<string, string>> = { ...LEAN, ...options.settings }
  const dataDir = await realpath(options.dataDir)
  const setpriv = findSetpriv()
  if (setpriv === null)
    log.warn('postgres.no_death_signal', {
      effect: 'killing this process with SIGKILL may leave Postgres running until the next start',
    })
  const isRoot = process.getuid?.() === 0
  const account = stepDownAccount()
  if (isRoot && account === null)
    throw new EmbeddedPostgresError(
      'Postgres refuses to run as root, and there is no user `postgres` or `nobody`',
    )
  if (isRoot) await openOutsideDir(outsideDir)
  const place = await placeCluster({ dataDir, outsideDir, account })
  await claim(place.folder)
  if (dirname(place.folder) !== dataDir) noteOwner(place.folder, dataDir)
  const bin = await findPostgresBinaries({
    account: place.account,
    setpriv,
    cacheDir: isRoot ? outsideDir : dataDir,
  })
  const { password } = await ensureCluster(place, { bin, setpriv, isSynced: settings['fsync'] !== 'off' })
  await checkClusterVersion(place, shippedMajor())
  await clearOrphan(place.data)
  const at = join(place.folder, 'socket')
  const socketFolder = makeSocketFolder({ at, socket: `${POSTGRES_SOCKET}.lock`, account: place.account })
  const keeper = new Keeper({ place, bin, setpriv, settings, log, socketFolder })
  await keeper.start()
  const host = encodeURIComponent(socketFolder)
  return {
    url: `postgres://${POSTGRES_USER}:${password}@localhost/${POSTGRES_DATABASE}?host=${host}`,
    clusterFolder: place.folder,
    async stop() {
      await keeper.stop()
      await rm(socketFolder, { recursive: true, force: true })
      await rm(join(place.folder, HOLDER_FILE), { force: true })
    },
  }
}

/** Keeps one server running until `stop`. */
class Keeper {
  readonly #input: PostmasterInput
  #running: Postmaster | null = null
  #isStopping = false
  #restart: NodeJS.Timeout | null = null
  #starting: Promise<void> | null = null

  constructor(input: PostmasterInput) {
    this.#input = input
  }

  async start(): Promise<void> {
    this.#watch(await startPostmaster(this.#input))
  }

  async stop(): Promise<void> {
    this.#isStopping = true
    if (this.#restart !== null) clearTimeout(this.#restart)
    await this.#starting
    if (this.#running !== null) await stopPostmaster(this.#running.identity)
  }

  #watch(running: Postmaster): void {
    const { child } = running
    this.#running = running
    // Neither the server nor its pipe keeps this process alive: the caller decides when this process ends.
    child.unref()
    const pipe = child.stderr
    if (pipe !== null && 'unref' in pipe && typeof pipe.unref === 'function') pipe.unref()
    child.once('exit', (code, by) => {
      if (this.#isStopping) return
      this.#running = null
      // The last output may still be in the pipe.
      setImmediate(() =>
        this.#input.log.error('postgres.died', { code, signal: by, lastWords: running.lastWords() }),
      )
      this.#startAgain(RESTART_MS)
    })
  }

  #startAgain(afterMs: number): void {
    this.#restart = setTimeout(() => {
      this.#starting = this.#tryAgain(afterMs)
    }, afterMs)
  }

  async #tryAgain(afterMs: number): Promise<void> {
    try {
      await clearOrphan(this.#input.place.data)
      this.#watch(await startPostmaster(this.#input))
      this.#input.log.info('postgres.restarted')
    } catch (problem) {
      this.#input.log.error('postgres.restart_failed', { reason: (problem as Error).message })
      if (!this.#isStopping) this.#startAgain(Math.min(afterMs * 2, RESTART_MS_MAX))
    }
  }
}

/**
 * Claims the cluster: a second supervisor would treat the first one's server as an orphan and end it. The
 * claim of the data directory is not enough: a copy of a directory that root made names the same cluster.
 */
async function claim(folder: string): Promise<void> {
  const holder = await holderOf(folder)
  if (holder !== null && holder.pid !== process.pid && isRunning(holder)) {
    throw new EmbeddedPostgresError(`process ${holder.pid} uses the cluster ${folder}`)
  }
  writePrivate(folder, HOLDER_FILE, JSON.stringify(identityOf(process.pid)))
}

/** The holder of a claim. An unreadable claim was cut off when its supervisor ended, and has no holder. */
async function holderOf(folder: string): Promise<ProcessIdentity | null> {
  try {
    const value: unknown = JSON.parse(await readFile(join(folder, HOLDER_FILE), 'utf8'))
    return isIdentity(value) ? value : null
  } catch {
    return null
  }
}

/**
 * Creates the folder outside of the data directory. Root runs programs from it and keeps data in it, so that
 * no other user may write to it.
 */
async function openOutsideDir(path: string): Promise<void> {
  await mkdir(path, { recursive: true, mode: 0o755 }).catch((cause: unknown) => {
    throw new EmbeddedPostgresError(`${path} cannot be created`, { cause })
  })
  const { uid, mode } = await stat(path)
  if (uid !== 0 || (mode & 0o022) !== 0) throw new EmbeddedPostgresError(`other users can write to ${path}`)
  // A umask of 077 would have closed the folder to the account.
  await chmod(path, 0o755)
}

/** Milliseconds that a postmaster has to end by its death signal after its parent died. */
const ORPHAN_MS = 3_000
/** Milliseconds of each step of a stop: fast, immediate, kill. */
const STOP_MS = 5_000
/** Milliseconds until a new server must accept connections. */
const START_MS = 30_000
/** Milliseconds to wait for the last output of an ended server. */
const WORDS_MS = 500
/** Characters of the server's last output that are kept. */
const TAIL_CHARS = 2_000
/** Names the socket file only: the server opens no port. */
const SOCKET_PORT = '5432'
/** Name of the socket file. */
export const POSTGRES_SOCKET = `.s.PGSQL.${SOCKET_PORT}`

interface PostmasterInput {
  readonly place: ClusterPlace
  readonly bin: string
  readonly setpriv: string | null
  readonly settings: Readonly<Record<string, string>>
  /** Folder of the server's account; others cannot enter it. */
  readonly socketFolder: string
  readonly log: Log
}

/** A server that accepted connections. */
export interface Postmaster {
  readonly child: ChildProcess
  /** Taken at the server's start: a stop by the pid alone might end another process that has got the pid since. */
  readonly identity: ProcessIdentity
  /** The last output about the server itself. Errors of statements are left out: they may contain data of callers. */
  lastWords(): string
}

/** Starts the server and waits until it accepts connections. */
export async function startPostmaster(input: PostmasterInput): Promise<Postmaster> {
  // Postgres trusts a lock file whose pid has passed to another process or to a zombie.
  for (const name of [POSTGRES_SOCKET, `${POSTGRES_SOCKET}.lock`])
    await rm(join(input.socketFolder, name), { force: true })
  const child = launchPostmaster(input)
  // No other process can get the pid before the event loop continues: the child is not reaped yet.
  const identity = identityOf(child.pid ?? 0)
  let tail = ''
  child.stderr?.on('data', (chunk: Buffer) => (tail = (tail + chunk.toString()).slice(-TAIL_CHARS)))
  const ended = new Promise<string>((resolve) => {
    const tell = (code: number | null, by: string | null): void =>
      resolve(tail.trim() || `exit ${code ?? by}`)
    child.once('error', (problem) => resolve(problem.message))
    child.once('close', tell)
    // The last output may still be in the pipe, which children of the server may keep open.
    child.once('exit', (code, by) => void setTimeout(tell, WORDS_MS, code, by))
  })
  const problem =
    (await Promise.race([ended, untilReady(input.place.data, child)])) ?? (isOver(child) ? await ended : null)
  if (problem === null && identity !== null) return { child, identity, lastWords: () => ownWords(tail) }
  if (identity !== null) await stopPostmaster(identity)
  throw new EmbeddedPostgresError(`the server exited during startup (${problem})`)
}

/** Stops the server: fast shutdown, then immediate, then by force. Resolves when the process is gone. */
export async function stopPostmaster(identity: ProcessIdentity): Promise<void> {
  for (const name of ['SIGINT', 'SIGQUIT', 'SIGKILL'] as const) {
    if (!isRunning(identity)) return
    signal(identity.pid, name)
    if (await waitUntilGone(identity, STOP_MS)) return
  }
}

/**
 * Makes room for a new server: ends a server that an earlier supervisor left, and removes a lock file that Postgres
 * would wrongly trust, because its pid now belongs to a zombie or another process.
 */
export async function clearOrphan(data: string): Promise<void> {
  const pid = Number(lockLines(data)[0] ?? 0)
  if (!(pid > 0)) return
  const identity = identityOf(pid)
  const isOurs = identity !== null && postgresProcessesWith(clusterName(data)).includes(pid)
  if (isOurs && !(await waitUntilGone(identity, ORPHAN_MS))) await stopPostmaster(identity)
  // Without its lock file Postgres cannot see that children of a dead postmaster still write: they must end
  // first.
  for (const stray of postgresProcessesWith(clusterName(data))) {
    const left = identityOf(stray)
    signal(stray, 'SIGQUIT')
    if (left !== null && !(await waitUntilGone(left, STOP_MS))) signal(stray, 'SIGKILL')
  }
  await rm(join(data, 'postmaster.pid'), { force: true })
}

function launchPostmaster(input: PostmasterInput): ChildProcess {
  const settings = {
    // Another process could take such a port while the server is down, and would receive its password.
    listen_addresses: '',
    port: SOCKET_PORT,
    unix_socket_directories: input.socketFolder,
    unix_socket_permissions: '0700',
    logging_collector: 'off',
    // Statements may contain data of callers.
    log_min_error_statement: 'panic',
    log_min_messages: 'warning',
    ...input.settings,
    cluster_name: clusterName(input.place.data),
  }
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  return launch(join(input.bin, 'postgres'), ['-D', input.place.data, ...flags], {
    account: input.place.account,
    setpriv: input.setpriv,
    deathSignal: 'INT',
    options: { cwd: '/', env: POSTGRES_ENVIRONMENT, stdio: ['ignore', 'ignore', 'pipe'] },
  })
}

function ownWords(text: string): string {
  return text
    .split('\n')
    .filter((line) => /\b(LOG|FATAL|PANIC):  /.test(line))
    .join('\n')
}

/** The last line of the lock file is `ready` when the server accepts connections; `pg_ctl` reads the same line. */
async function untilReady(data: string, child: ChildProcess): Promise<string | null> {
  const endsAt = performance.now() + START_MS
  while (performance.now() < endsAt) {
    // After the child's end the file no longer describes a running server.
    if (isOver(child)) return null
    const lines = lockLines(data)
    if (Number(lines[0]) === child.pid && lines[7]?.trim() === 'ready') return null
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  return `Postgres was not ready after ${START_MS / 1000} s`
}

/** True when the end of the child was reported: a signal leaves no exit code. */
function isOver({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null
}

/** A name in the command line of the server and of each of its children, unique on the machine. */
function clusterName(data: string): string {
  return `sluice-${createHash('sha256').update(data).digest('hex').slice(0, 16)}`
}

function lockLines(data: string): string[] {
  try {
    return readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n')
  } catch {
    return []
  }
}
