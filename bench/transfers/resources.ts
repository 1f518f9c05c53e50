/** CPU and memory of a server's processes, as Linux counts them. */
import { readFileSync } from 'node:fs'
import { ticksPerSecond, tree, type ProcessRow } from '../../test/support/load/process-cpu.ts'
import { proportionOf, residentBytes } from '../../test/support/load/process-memory.ts'

/** CPU seconds since the start of the processes. */
export interface CpuReading {
  /** First threads of the serving processes. */
  readonly mainS: number
  /** Other threads of the serving processes: workers, the thread pool, the garbage collector's. */
  readonly threadsS: number
  /** All other processes: supervisor, runner, database, cache. */
  readonly restS: number
}

export function readCpu(root: number, serves: (row: ProcessRow) => boolean): CpuReading {
  const rows = tree(root)
  const serving = rows.filter(serves)
  const all = rows.reduce((sum, row) => sum + row.cpuS, 0)
  const ofServing = serving.reduce((sum, row) => sum + row.cpuS, 0)
  const mainS = serving.reduce((sum, { pid }) => sum + firstThreadS(pid), 0)
  // The values are read one after the other: a tick may come between.
  return { mainS, threadsS: Math.max(0, ofServing - mainS), restS: Math.max(0, all - ofServing) }
}

export function cpuBetween(before: CpuReading, after: CpuReading): CpuReading {
  return {
    mainS: after.mainS - before.mainS,
    threadsS: Math.max(0, after.threadsS - before.threadsS),
    restS: Math.max(0, after.restS - before.restS),
  }
}

function firstThreadS(pid: number): number {
  try {
    const text = readFileSync(`/proc/${pid}/task/${pid}/stat`, 'latin1')
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond()
  } catch {
    return 0
  }
}

/** Resident bytes of each kind of process. Shared memory counts in each process, as the kernel reports it. */
export type Memory = Readonly<Record<string, number>>

export function readMemory(rows: readonly ProcessRow[]): Memory {
  const found: Record<string, number> = {}
  for (const row of rows) {
    const kind = kindOf(row)
    found[kind] = (found[kind] ?? 0) + residentBytes(row.pid)
  }
  return found
}

export function totalOf(memory: Memory): number {
  return Object.values(memory).reduce((sum, bytes) => sum + bytes, 0)
}

/** Milliseconds between two readings of memory. */
const SAMPLE_MS = 50
/** Milliseconds between two readings of the process list. */
const TREE_MS = 500

/** Watches the memory of a process tree until its end. */
export class MemoryWatch {
  readonly #timers: readonly NodeJS.Timeout[]
  readonly #root: number
  #rows: readonly ProcessRow[]
  #peak: Memory = {}
  #last: Memory = {}
  #sharedOnce: number
  #sharedOncePeak: number

  constructor(root: number) {
    this.#root = root
    this.#rows = tree(root)
    this.#look()
    this.#sharedOnce = this.#sharedOncePeak = sharedOnceBytes(this.#rows)
    this.#timers = [
      setInterval(() => this.#look(), SAMPLE_MS),
      setInterval(() => this.#lookLonger(), TREE_MS),
    ]
  }

  /** Growth of all processes with shared memory counted once (PSS), read less often. */
  get sharedOnceGrowth(): number {
    return this.#sharedOncePeak - this.#sharedOnce
  }

  /** The last look. */
  get now(): Memory {
    return this.#last
  }

  /** Ends the watch. @returns the look with the most memory of all processes */
  end(): Memory {
    for (const timer of this.#timers) clearInterval(timer)
    this.#look()
    return this.#peak
  }

  #look(): void {
    this.#last = readMemory(this.#rows)
    if (totalOf(this.#last) > totalOf(this.#peak)) this.#peak = this.#last
  }

  #lookLonger(): void {
    this.#rows = tree(this.#root)
    this.#sharedOncePeak = Math.max(this.#sharedOncePeak, sharedOnceBytes(this.#rows))
  }
}

/** Proportional set size: each page of the database's buffers is divided among the processes that map it. */
function sharedOnceBytes(rows: readonly ProcessRow[]): number {
  return rows.reduce((sum, { pid }) => sum + proportionOf(pid), 0)
}

/** The kind of a process; children of the database have the name of the database. */
export function kindOf({ name, arguments: words }: Pick<ProcessRow, 'name' | 'arguments'>): string {
  const line = words.join(' ').trim()
  const role = /(?:^|[ /])sluice (front|runner|spare|serve|redis)\b/.exec(line)?.[1]
  if (/^postgres/.test(name) || /^postgres:/.test(line)) return 'postgres'
  if (/redis/.test(name) || /redis/.test(line)) return 'redis'
  return role === 'serve' ? 'supervisor' : (role ?? name)
}
