import { spawnSync } from 'node:child_process'
import { readFileSync, readdirSync } from 'node:fs'
import { bareEnvironment } from '../../config.ts'

export interface ProcessIdentity {
  readonly pid: number
  /** Opaque; it distinguishes two processes that had the same pid one after the other. */
  readonly startedAt: string
}

/**
 * Identity of the process with a pid; null: no such process. A zombie counts as none: under a pid 1 that reaps late, a
 * zombie still answers `kill(pid, 0)` for seconds, although everything it held is already free.
 */
export function identityOf(pid: number): ProcessIdentity | null {
  return process.platform === 'linux' ? identityFromProc(pid) : identityFromPs(pid)
}

/** True when a record on disk has the form of an identity. */
export function isIdentity(value: unknown): value is ProcessIdentity {
  return (
    typeof value === 'object' &&
    value !== null &&
    'pid' in value &&
    typeof value.pid === 'number' &&
    'startedAt' in value &&
    typeof value.startedAt === 'string'
  )
}

/** True while the same process as that of `identity` runs. */
export function isRunning(identity: ProcessIdentity): boolean {
  return identityOf(identity.pid)?.startedAt === identity.startedAt
}

/**
 * Processes of Postgres whose command line holds `token`. Every user can read command lines; a working
 * directory is readable only for its owner, and not for the root of a container without the right to trace.
 */
export function postgresProcessesWith(token: string): number[] {
  const isMatch = (command: string) => command.includes(token) && /^(\S*\/postgres\s|postgres:)/.test(command)
  if (process.platform !== 'linux') {
    const lines = (spawnSync('ps', ['-axo', 'pid=,command='], { encoding: 'utf8' }).stdout ?? '').split('\n')
    return lines
      .map((line) => line.trim())
      .filter((line) => isMatch(line.replace(/^\d+\s+/, '')))
      .map(Number.parseFloat)
  }
  const pids = readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0)
  return pids.filter((pid) => isMatch(commandOf(pid)) && identityOf(pid) !== null)
}

/** @returns true when the process is gone within `timeoutMs` */
export async function waitUntilGone(identity: ProcessIdentity, timeoutMs: number): Promise<boolean> {
  const endsAt = performance.now() + timeoutMs
  while (isRunning(identity)) {
    if (performance.now() > endsAt) return false
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  return true
}

/** True when a debugger or a tracer is attached to the process, where the system shows this. */
export function isTraced(pid: number): boolean {
  try {
    return /^TracerPid:\s*[1-9]/m.test(readFileSync(`/proc/${pid}/status`, 'latin1'))
  } catch {
    return false
  }
}

/** Sends a signal; it is no error when the process is gone or belongs to another user. */
export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch (problem) {
    const code = (problem as NodeJS.ErrnoException).code
    if (code !== 'ESRCH' && code !== 'EPERM') throw problem
  }
}

function identityFromProc(pid: number): ProcessIdentity | null {
  let stat: string
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
  } catch {
    return null
  }
  // The command's name is in parentheses and may itself contain any character.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const [state] = fields
  const startTicks = fields[19]
  if (state === 'X' || (state === 'Z' && !hasThreads(pid))) return null
  return startTicks === undefined ? null : { pid, startedAt: `${bootId()}:${startTicks}` }
}

/**
 * True for a zombie with live threads. A killed process is a zombie as soon as its first thread has ended; the other
 * threads keep its sockets open a moment longer.
 */
function hasThreads(pid: number): boolean {
  try {
    return readdirSync(`/proc/${pid}/task`).length > 1
  } catch {
    return false
  }
}

let boot: string | undefined
/** The id of the boot. Start times are counted from the boot and may repeat after the next boot, while records on disk survive it. */
function bootId(): string {
  boot ??= readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim()
  return boot
}

function identityFromPs(pid: number): ProcessIdentity | null {
  // The instant as a text must be the same for every process of Sluice, in any time zone and language of its
  // shell.
  const { stdout } = spawnSync('ps', ['-o', 'state=,lstart=', '-p', String(pid)], {
    encoding: 'utf8',
    env: bareEnvironment(),
  })
  const [state, ...started] = (stdout ?? '').trim().split(/\s+/)
  return state === undefined || state === '' || state.startsWith('Z')
    ? null
    : { pid, startedAt: started.join(' ') }
}

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
  } catch {
    return ''
  }
}
