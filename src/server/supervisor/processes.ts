import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

/** A process beyond the reuse of its pid. */
export interface ProcessId {
  readonly pid: number
  /** Boot and start time in the words of the operating system; equal for the same process only. */
  readonly startedAt: string
}

/** Milliseconds that a killed process may take to be gone. */
const GONE_MS_MAX = 5_000
const LOOK_PAUSE_MS = 20

/**
 * The process that has this pid now, or null when there is none. A zombie is none: under a first process that reaps
 * late it keeps its pid for seconds (facts: toolchain §4.6).
 */
export function identify(pid: number): ProcessId | null {
  return process.platform === 'linux' ? fromProc(pid) : fromPs(pid)
}

export function isRunning(id: ProcessId): boolean {
  return identify(id.pid)?.startedAt === id.startedAt
}

/** Kills those that still run and waits until all are gone. Throws, naming one, when it does not end within 5 s. */
export async function killAndWait(ids: readonly ProcessId[]): Promise<void> {
  for (const id of ids) if (isRunning(id)) signal(id.pid, 'SIGKILL')
  const giveUpAt = performance.now() + GONE_MS_MAX
  for (const id of ids) {
    while (isRunning(id)) {
      if (performance.now() > giveUpAt) throw new Error(`process ${id.pid} of an earlier start does not end`)
      await new Promise((resolve) => setTimeout(resolve, LOOK_PAUSE_MS))
    }
  }
}

/** False when there is no such process (any more) or it is not ours to signal. */
export function signal(pid: number, name: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, name)
  } catch {
    return false
  }
}

function fromProc(pid: number): ProcessId | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The second field is the program's name in brackets, which may hold blanks and brackets itself.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    if (fields[0] === 'Z' || fields[0] === 'X') return null
    return { pid, startedAt: `${bootId()}:${fields[19]}` }
  } catch {
    return null
  }
}

function fromPs(pid: number): ProcessId | null {
  const { status, stdout } = spawnSync('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], { encoding: 'utf8' })
  const line = stdout.trim()
  if (status !== 0 || line === '' || line.startsWith('Z')) return null
  return { pid, startedAt: line.replace(/^\S+\s+/, '') }
}

let boot: string | undefined
/** Start times count from the boot, so that they repeat after the next one. */
function bootId(): string {
  boot ??= readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
  return boot
}
