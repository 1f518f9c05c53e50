/** CPU and memory of a server's processes, as Linux counts them. */
import { readFileSync } from 'node:fs'
import { ticksPerSecond, tree, type ProcessRow } from '../../test/support/load/process-cpu.ts'
import { proportionOf, residentBytes } from '../../test/support/load/process-memory.ts'

/** CPU seconds since the processes began. */
export interface CpuReading {
  /** Of the first threads of the processes that serve. */
  readonly mainS: number
  /** Of their other threads: workers, the thread pool, the garbage collector's. */
  readonly threadsS: number
  /** Of all other processes: supervisor, runner, database, cache. */
  readonly restS: number
}

export function readCpu(root: number, serves: (row: ProcessRow) => boolean): CpuReading {
  const rows = tree(root)
  const serving = rows.filter(serves)
  const all = rows.reduce((sum, row) => sum + row.cpuS, 0)
  const ofServing = serving.reduce((sum, row) => sum + row.cpuS, 0)
  const mainS = serving.reduce((sum, { pid }) => sum + firstThreadS(pid), 0)
  // Read one after the other: a tick may fall between.
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

/**
 * Resident bytes of each kind of process. What processes share is counted in each: what the kernel says, not
 * less.
 */
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

/** How often memory is looked at, and how often it is looked which processes there are. */
const SAMPLE_MS = 50
const TREE_MS = 500

/** Looks at the memory of a process tree until it is ended. */
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

  /** By how much all processes grew when what they share is counted once (PSS), looked at less often. */
  get sharedOnceGrowth(): number {
    return this.#sharedOncePeak - this.#sharedOnce
  }

  /** The last look. */
  get now(): Memory {
    return this.#last
  }

  /** The look at which all processes together had most. */
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

/** Proportional set size: a page of the database's buffers is divided among those that have it. */
function sharedOnceBytes(rows: readonly ProcessRow[]): number {
  return rows.reduce((sum, { pid }) => sum + proportionOf(pid), 0)
}

/** The name that tells processes of a server apart; children of the database have its name. */
export function kindOf({ name, arguments: words }: Pick<ProcessRow, 'name' | 'arguments'>): string {
  const line = words.join(' ').trim()
  const role = /(?:^|[ /])sluice (front|runner|spare|serve|redis)\b/.exec(line)?.[1]
  if (/^postgres/.test(name) || /^postgres:/.test(line)) return 'postgres'
  if (/redis/.test(name) || /redis/.test(line)) return 'redis'
  return role === 'serve' ? 'supervisor' : (role ?? name)
}
