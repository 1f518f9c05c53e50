import { spawnSync } from 'node:child_process'
import { readFileSync, readdirSync } from 'node:fs'
import { bareEnvironment } from '../../config.ts'

export interface ProcessIdentity {
  readonly pid: number
  /** Opaque; two processes that had the same pid one after the other differ in it. */
  readonly startedAt: string
}

/**
 * Who runs under a pid now, or null when nobody does. A zombie is nobody: under a pid 1 that reaps late it
 * still answers `kill(pid, 0)` for seconds, and what it held is already free.
 */
export function identityOf(pid: number): ProcessIdentity | null {
  return process.platform === 'linux' ? identityFromProc(pid) : identityFromPs(pid)
}

/** Whether a record on disk is one. */
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

/** True while the very process that `identity` was taken of runs. */
export function isRunning(identity: ProcessIdentity): boolean {
  return identityOf(identity.pid)?.startedAt === identity.startedAt
}

/**
 * Processes of Postgres whose command line holds `token`. Command lines can be read by everyone; a working
 * directory only by its owner, and not by the root of a container without the right to trace.
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

/** @returns true when it is gone within `timeoutMs` */
export async function waitUntilGone(identity: ProcessIdentity, timeoutMs: number): Promise<boolean> {
  const endsAt = performance.now() + timeoutMs
  while (isRunning(identity)) {
    if (performance.now() > endsAt) return false
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  return true
}

/** Whether a debugger or a tracer has the process, where the system tells. */
export function isTraced(pid: number): boolean {
  try {
    return /^TracerPid:\s*[1-9]/m.test(readFileSync(`/proc/${pid}/status`, 'latin1'))
  } catch {
    return false
  }
}

/** Sends a signal; a process that is gone, or not ours, is no failure. */
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
  // The command's name stands in parentheses and may itself hold any character.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const [state] = fields
  const startTicks = fields[19]
  if (state === 'X' || (state === 'Z' && !hasThreads(pid))) return null
  return startTicks === undefined ? null : { pid, startedAt: `${bootId()}:${startTicks}` }
}

/**
 * A killed process is a zombie as soon as its first thread is; the others hold its sockets a moment longer.
 */
function hasThreads(pid: number): boolean {
  try {
    return readdirSync(`/proc/${pid}/task`).length > 1
  } catch {
    return false
  }
}

let boot: string | undefined
/**
 * Start times count from the boot, so that they repeat after the next one, and records on disk outlive both.
 */
function bootId(): string {
  boot ??= readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim()
  return boot
}

function identityFromPs(pid: number): ProcessIdentity | null {
  // The instant as a text must be the same to every process of ours, whatever time zone and language its
  // shell has.
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
