/** CPU seconds of a process and everything below it, as Linux counts them. */
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'

export interface ProcessRow {
  readonly pid: number
  readonly parent: number
  readonly name: string
  /** Single letter; `Z` is a zombie. */
  readonly state: string
  /** Seconds of user and system time of all its threads and of the children that it has waited for. */
  readonly cpuS: number
  /** The part of it that was spent in the kernel. */
  readonly systemS: number
  readonly arguments: readonly string[]
}

/** Every readable process; empty without /proc. */
export function processes(): readonly ProcessRow[] {
  return pids().flatMap((pid) => {
    const row = processRow(pid)
    return row === null ? [] : [row]
  })
}

export function processRow(pid: number): ProcessRow | null {
  const facts = processFacts(pid)
  return facts === null ? null : withArguments(facts)
}

type ProcessFacts = Omit<ProcessRow, 'arguments'>

/** One file of `/proc`: a look at all processes for a few of them needs no more of the others. */
function processFacts(pid: number): ProcessFacts | null {
  const text = statOf(pid)
  return text === null ? null : factsOf(pid, text)
}

/** Null where it ended meanwhile. As UTF-8: Node reads a file of that in one call, and of others in four. */
function statOf(pid: number): string | null {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8')
  } catch {
    return null
  }
}

/** The name may hold spaces and brackets: the fields begin after its last bracket, with a letter. */
function parentOf(stat: string): number {
  const from = stat.lastIndexOf(')') + 4
  return Number(stat.slice(from, stat.indexOf(' ', from)))
}

function factsOf(pid: number, stat: string): ProcessFacts {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const field = (index: number): number => Number(fields[index])
  const systemTicks = field(12) + field(14)
  const ticks = field(11) + field(13) + systemTicks
  return {
    pid,
    parent: parentOf(stat),
    name: stat.slice(stat.indexOf('(') + 1, stat.lastIndexOf(')')),
    state: fields[0] ?? '?',
    cpuS: ticks / ticksPerSecond(),
    systemS: systemTicks / ticksPerSecond(),
  }
}

/** Null where it ended meanwhile. */
function withArguments(facts: ProcessFacts): ProcessRow | null {
  try {
    return {
      ...facts,
      arguments: readFileSync(`/proc/${facts.pid}/cmdline`, 'utf8').split('\0').slice(0, -1),
    }
  } catch {
    return null
  }
}

/** The process and all its descendants. Tests look often: of the others nothing but the parent is read. */
export function tree(root: number): readonly ProcessRow[] {
  const all = pids().flatMap((pid) => {
    const stat = statOf(pid)
    return stat === null ? [] : [{ pid, parent: parentOf(stat), stat }]
  })
  const found = all.filter((row) => row.pid === root)
  for (const row of found) found.push(...all.filter((other) => other.parent === row.pid))
  return found.flatMap(({ pid, stat }) => withArguments(factsOf(pid, stat)) ?? [])
}

/**
 * CPU seconds of the tree. Live children are counted by themselves and ended ones by the parent that waited
 * for them, so nothing is counted twice; a child that was orphaned is lost, which no server here has.
 */
export function treeCpuS(root: number): number {
  return tree(root).reduce((sum, row) => sum + row.cpuS, 0)
}

function pids(): readonly number[] {
  try {
    return readdirSync('/proc')
      .map(Number)
      .filter((pid) => pid > 0)
  } catch {
    return []
  }
}

let ticks = 0
export function ticksPerSecond(): number {
  ticks ||= Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }))
  return ticks
}
