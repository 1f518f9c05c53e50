/** Reads what the processes of a node take while nobody calls: private memory, CPU and wake-ups. */
import { readdirSync, readFileSync } from 'node:fs'
import { ticksPerSecond, tree } from '../../test/support/load/process-cpu.ts'
import { pause } from '../../test/support/nodes/spawned.ts'
import { kindOf } from '../transfers/resources.ts'

/** Processes of one kind together. */
export interface RestOfKind {
  readonly kind: string
  readonly processes: number
  /** Bytes of pages that no other process of the machine shares. */
  readonly privateBytes: number
  /** Share of one core. */
  readonly cpuShare: number
  /** Context switches a second: each wake-up ends with one. */
  readonly switchesPerS: number
}

export interface RestReading {
  /** Largest memory first. */
  readonly kinds: readonly RestOfKind[]
  readonly privateBytes: number
  readonly cpuShare: number
  readonly switchesPerS: number
}

interface Reading {
  readonly kind: string
  readonly cpuNs: number
  readonly switches: number
}

const NS_PER_S = 1e9
const KIB = 1_024

/** Watches a process tree for so long. Memory is that of the end. */
export async function watchRest(root: number, seconds: number): Promise<RestReading> {
  const [before, beganAt] = [readAll(root), performance.now()]
  await pause(seconds * 1_000)
  const [after, tookS] = [readAll(root), (performance.now() - beganAt) / 1_000]
  const kinds = new Map<string, RestOfKind>()
  for (const [pid, { kind, cpuNs, switches }] of after) {
    const from = before.get(pid)
    const sum = kinds.get(kind)
    kinds.set(kind, {
      kind,
      processes: (sum?.processes ?? 0) + 1,
      privateBytes: (sum?.privateBytes ?? 0) + privateBytesOf(pid),
      cpuShare: (sum?.cpuShare ?? 0) + (cpuNs - (from?.cpuNs ?? 0)) / NS_PER_S / tookS,
      switchesPerS: (sum?.switchesPerS ?? 0) + (switches - (from?.switches ?? 0)) / tookS,
    })
  }
  const found = [...kinds.values()].sort((one, other) => other.privateBytes - one.privateBytes)
  const sum = (read: (one: RestOfKind) => number): number => found.reduce((all, one) => all + read(one), 0)
  return {
    kinds: found,
    privateBytes: sum((one) => one.privateBytes),
    cpuShare: sum((one) => one.cpuShare),
    switchesPerS: sum((one) => one.switchesPerS),
  }
}

/** Bytes of the tree that no other process shares. */
export function privateBytesOfTree(root: number): number {
  return tree(root).reduce((sum, { pid }) => sum + privateBytesOf(pid), 0)
}

/** 0 for a process that has ended, or that this account may not read. */
export function privateBytesOf(pid: number): number {
  try {
    const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'latin1')
    return [...text.matchAll(/^Private_\w+:\s+(\d+) kB$/gm)].reduce(
      (sum, [, found]) => sum + Number(found) * KIB,
      0,
    )
  } catch {
    return 0
  }
}

function readAll(root: number): ReadonlyMap<number, Reading> {
  const found = new Map<number, Reading>()
  for (const row of tree(root)) {
    const { cpuNs, switches } = threadsOf(row.pid)
    found.set(row.pid, { kind: kindOf(row), cpuNs: cpuNs + endedChildrenNs(row.pid), switches })
  }
  return found
}

/**
 * Sums of all threads; in nanoseconds, since an idle process takes less than a tick of the clock a second.
 */
function threadsOf(pid: number): { readonly cpuNs: number; readonly switches: number } {
  let [cpuNs, switches] = [0, 0]
  for (const thread of entriesOf(`/proc/${pid}/task`)) {
    cpuNs += Number(textOf(`/proc/${pid}/task/${thread}/schedstat`).split(' ')[0])
    const status = textOf(`/proc/${pid}/task/${thread}/status`)
    for (const [, count] of status.matchAll(/^(?:non)?voluntary_ctxt_switches:\s+(\d+)$/gm))
      switches += Number(count)
  }
  return { cpuNs, switches }
}

/** Of children that have ended and were waited for: processes that a database starts for a moment. */
function endedChildrenNs(pid: number): number {
  const text = textOf(`/proc/${pid}/stat`)
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return (((Number(fields[13]) || 0) + (Number(fields[14]) || 0)) / ticksPerSecond()) * NS_PER_S
}

function entriesOf(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'latin1')
  } catch {
    return ''
  }
}
