/**
 * Resident memory of a process and everything below it, as Linux counts it: pages that processes share count
 * in each.
 */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { tree, type ProcessRow } from './process-cpu.ts'

/** By what the processes are, largest first. */
export type MemoryByRole = ReadonlyMap<string, number>

export interface MemoryWatch {
  /** Bytes at the last look. */
  readonly nowBytes: number
  /** Most bytes at once since the start. */
  readonly peakBytes: number
  /** What the peak was made of. */
  readonly peakByRole: MemoryByRole
  byRole(): MemoryByRole
  stop(): void
}

/** A look at all processes of the system costs milliseconds of CPU: the tree is read again this often. */
const TREE_MS = 500

/**
 * Looks every so many milliseconds until it is stopped.
 * @param bytesOf what counts of a process, by its id and role
 */
export function watchMemory(root: number, everyMs = 100, bytesOf: BytesOf = residentBytes): MemoryWatch {
  let rows = tree(root)
  let rowsAt = performance.now()
  let nowBytes = 0
  let peakBytes = 0
  let peakByRole: MemoryByRole = new Map()
  const look = (): void => {
    if (performance.now() - rowsAt >= TREE_MS) [rows, rowsAt] = [tree(root), performance.now()]
    const byRole = memoryOf(rows, bytesOf)
    nowBytes = [...byRole.values()].reduce((sum, bytes) => sum + bytes, 0)
    if (nowBytes <= peakBytes) return
    peakBytes = nowBytes
    peakByRole = byRole
  }
  const timer = setInterval(look, everyMs)
  look()
  return {
    get nowBytes() {
      return nowBytes
    },
    get peakBytes() {
      return peakBytes
    },
    get peakByRole() {
      return peakByRole
    },
    byRole: () => memoryOf(tree(root), bytesOf),
    stop: () => clearInterval(timer),
  }
}

export function memoryByRole(root: number): MemoryByRole {
  return memoryOf(tree(root))
}

type BytesOf = (pid: number, role: string) => number

function memoryOf(rows: readonly ProcessRow[], bytesOf: BytesOf = residentBytes): MemoryByRole {
  const byRole = new Map<string, number>()
  for (const { pid, arguments: words } of rows) {
    const role = roleOf(words.join(' '))
    byRole.set(role, (byRole.get(role) ?? 0) + bytesOf(pid, role))
  }
  return new Map([...byRole].sort(([, a], [, b]) => b - a))
}

export function roleOf(line: string): string {
  return (
    /\bsluice (?:front|runner|spare|child)\b|postgres|redis|bin\/sluice serve/.exec(line)?.[0] ??
    line.slice(0, 30)
  )
}

/** Bytes of the tree with shared pages counted once (PSS); slower to read. */
export function proportionalBytes(root: number): number {
  return tree(root).reduce((sum, { pid }) => sum + proportionOf(pid), 0)
}

export function proportionOf(pid: number): number {
  try {
    return (
      Number(/^Pss:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'latin1'))?.[1] ?? 0) * 1_024
    )
  } catch {
    return 0
  }
}

/** Bytes of memory that is no page of a file and of no other process; 0 when it has ended. */
export function privateBytes(pid: number): number {
  const [resident, shared] = residentAndShared(pid)
  return resident - shared
}

/** 0 when it has ended. */
export function residentBytes(pid: number): number {
  return residentAndShared(pid)[0]
}

/**
 * Zeros when it has ended. @returns bytes: all that is resident, and of that what pages of files and of
 * shared memory are
 */
export function residentAndShared(pid: number): readonly [resident: number, shared: number] {
  try {
    const [, resident = 0, shared = 0] = readFileSync(`/proc/${pid}/statm`, 'latin1').split(' ').map(Number)
    return [resident * pageBytes(), shared * pageBytes()]
  } catch {
    return [0, 0]
  }
}

let page = 0
function pageBytes(): number {
  page ||= Number(execFileSync('getconf', ['PAGESIZE'], { encoding: 'utf8' }))
  return page
}
