import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { ChildProcess } from 'node:child_process'
import type { Log } from '../../ports/observe.ts'
import { POSTGRES_ENVIRONMENT } from './postgres-binaries.ts'
import type { ClusterPlace } from './postgres-cluster.ts'
import { EmbeddedPostgresError } from './postgres-error.ts'
import {
  identityOf,
  isRunning,
  postgresProcessesWith,
  signal,
  waitUntilGone,
  type ProcessIdentity,
} from '../fleet/process-state.ts'
import { launch } from '../fleet/step-down.ts'

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

export interface PostmasterInput {
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
  /**
   * Taken at the server's start: a stop by the pid alone might end another process that has the pid by now.
   */
  readonly identity: ProcessIdentity
  /**
   * The last output about the server itself. Errors are left out: they concern statements and may contain
   * data of callers.
   */
  lastWords(): string
}

/** Starts the server and waits until it accepts connections. */
export async function startPostmaster(input: PostmasterInput): Promise<Postmaster> {
  // Postgres trusts a lock file whose pid belongs to another process by now, or to a zombie.
  for (const name of [POSTGRES_SOCKET, `${POSTGRES_SOCKET}.lock`])
    await rm(join(input.socketFolder, name), { force: true })
  const child = launchPostmaster(input)
  // Until the event loop turns no other process can have the pid: the child is not reaped yet.
  const identity = identityOf(child.pid ?? 0)
  let tail = ''
  child.stderr?.on('data', (chunk: Buffer) => (tail = (tail + chunk.toString()).slice(-TAIL_CHARS)))
  const ended = new Promise<string>((resolve) => {
    const tell = (code: number | null, by: string | null): void =>
      resolve(tail.trim() || `exit ${code ?? by}`)
    child.once('error', (problem) => resolve(problem.message))
    child.once('close', tell)
    // The last output may still be in the pipe, which the server's children may hold open.
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
 * Makes room for a new server: ends a server that an earlier supervisor left, and removes a lock file that
 * Postgres would wrongly trust, because its pid belongs to a zombie or another process by now.
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
    // A process that took such a port while the server is away would receive its password.
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

/**
 * The last line of the lock file is `ready` when the server accepts connections; `pg_ctl` reads the same
 * line.
 */
async function untilReady(data: string, child: ChildProcess): Promise<string | null> {
  const endsAt = performance.now() + START_MS
  while (performance.now() < endsAt) {
    // After the child's end the file does not describe a running server.
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
