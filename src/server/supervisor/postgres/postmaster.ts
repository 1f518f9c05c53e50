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

/** Milliseconds that a postmaster of a dead parent has to end by its death signal. */
const ORPHAN_MS = 3_000
/** Milliseconds of each step of a stop: fast, immediate, kill. */
const STOP_MS = 5_000
const START_MS = 30_000
/** Milliseconds that the last words of one that has ended are waited for. */
const WORDS_MS = 500
const TAIL_CHARS = 2_000
/** Names the socket, and nothing else: no port is opened. */
const SOCKET_PORT = '5432'
export const POSTGRES_SOCKET = `.s.PGSQL.${SOCKET_PORT}`

export interface PostmasterInput {
  readonly place: ClusterPlace
  readonly bin: string
  readonly setpriv: string | null
  readonly settings: Readonly<Record<string, string>>
  /** Belongs to the server's account; others cannot enter it. */
  readonly socketFolder: string
  readonly log: Log
}

/** A server that was up. */
export interface Postmaster {
  readonly child: ChildProcess
  /** Taken at its start: by its pid alone a stop might end a stranger who has that now. */
  readonly identity: ProcessIdentity
  /**
   * What it said last of itself. Its errors are left out: those are of statements, and may hold what callers
   * sent.
   */
  lastWords(): string
}

/** Starts the server and waits until it accepts connections. */
export async function startPostmaster(input: PostmasterInput): Promise<Postmaster> {
  // Postgres believes a lock file whose pid is somebody else's by now, or a zombie's.
  for (const name of [POSTGRES_SOCKET, `${POSTGRES_SOCKET}.lock`])
    await rm(join(input.socketFolder, name), { force: true })
  const child = launchPostmaster(input)
  // Until the loop turns nobody else can have the pid: it is not reaped yet.
  const identity = identityOf(child.pid ?? 0)
  let tail = ''
  child.stderr?.on('data', (chunk: Buffer) => (tail = (tail + chunk.toString()).slice(-TAIL_CHARS)))
  const ended = new Promise<string>((resolve) => {
    const tell = (code: number | null, by: string | null): void =>
      resolve(tail.trim() || `exit ${code ?? by}`)
    child.once('error', (problem) => resolve(problem.message))
    child.once('close', tell)
    // Its last words may still lie in the pipe, which its children may hold open.
    child.once('exit', (code, by) => void setTimeout(tell, WORDS_MS, code, by))
  })
  const problem =
    (await Promise.race([ended, untilReady(input.place.data, child)])) ?? (isOver(child) ? await ended : null)
  if (problem === null && identity !== null) return { child, identity, lastWords: () => ownWords(tail) }
  if (identity !== null) await stopPostmaster(identity)
  throw new EmbeddedPostgresError(`the server ended while starting (${problem})`)
}

/** Fast shutdown, then immediate, then by force. Resolves when the process is gone. */
export async function stopPostmaster(identity: ProcessIdentity): Promise<void> {
  for (const name of ['SIGINT', 'SIGQUIT', 'SIGKILL'] as const) {
    if (!isRunning(identity)) return
    signal(identity.pid, name)
    if (await waitUntilGone(identity, STOP_MS)) return
  }
}

/**
 * Makes way for a new server: ends one that an earlier supervisor left, and removes a lock file that Postgres
 * would wrongly believe in, because its pid is a zombie or somebody else's by now.
 */
export async function clearOrphan(data: string): Promise<void> {
  const pid = Number(lockLines(data)[0] ?? 0)
  if (!(pid > 0)) return
  const identity = identityOf(pid)
  const isOurs = identity !== null && postgresProcessesWith(clusterName(data)).includes(pid)
  if (isOurs && !(await waitUntilGone(identity, ORPHAN_MS))) await stopPostmaster(identity)
  // Without its lock file Postgres cannot see that children of a dead postmaster still write: they must be
  // gone first.
  for (const stray of postgresProcessesWith(clusterName(data))) {
    const left = identityOf(stray)
    signal(stray, 'SIGQUIT')
    if (left !== null && !(await waitUntilGone(left, STOP_MS))) signal(stray, 'SIGKILL')
  }
  await rm(join(data, 'postmaster.pid'), { force: true })
}

function launchPostmaster(input: PostmasterInput): ChildProcess {
  const settings = {
    // Whoever took a port of ours while the server is away would be sent its password.
    listen_addresses: '',
    port: SOCKET_PORT,
    unix_socket_directories: input.socketFolder,
    unix_socket_permissions: '0700',
    logging_collector: 'off',
    // Statements may carry what callers sent.
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

/** The last line of the lock file says `ready` when connections are accepted; `pg_ctl` reads the same. */
async function untilReady(data: string, child: ChildProcess): Promise<string | null> {
  const endsAt = performance.now() + START_MS
  while (performance.now() < endsAt) {
    // What the file says then is not about a server that runs.
    if (isOver(child)) return null
    const lines = lockLines(data)
    if (Number(lines[0]) === child.pid && lines[7]?.trim() === 'ready') return null
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  return `it was not ready after ${START_MS / 1000} s`
}

/** Whether its end has been told: a signal leaves no exit code. */
function isOver({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null
}

/** Stands in the command line of the server and of each of its children, and nowhere else on the machine. */
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
