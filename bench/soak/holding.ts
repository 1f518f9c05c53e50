/** The resources of a node's processes, as Linux counts them. */
import { readdirSync } from 'node:fs'
import { tree, type ProcessRow } from '../../test/support/load/process-cpu.ts'
import { residentAndShared } from '../../test/support/load/process-memory.ts'

export interface Holding {
  /** `sluice front 1`; the processes of Postgres come and go and count as one, as those of Redis do. */
  readonly name: string
  /** False for a store, whose processes share a cache of fixed size that fills. */
  readonly isOurs: boolean
  readonly pids: readonly number[]
  readonly residentBytes: number
  /** Bytes without pages of files and of shared memory. */
  readonly ownBytes: number
  /** Open descriptors; null when this user may not count them. */
  readonly descriptors: number | null
}

/** @param root pid of the supervisor */
export function holdings(root: number): readonly Holding[] {
  const byName = new Map<string, ProcessRow[]>()
  const rows = tree(root)
  const lines = new Map(rows.map((row) => [row.pid, lineOf(row)]))
  for (const row of rows) {
    if (row.state === 'Z' || row.arguments.length === 0) continue
    // Between fork and exec a child has the arguments of its parent.
    if (lines.get(row.parent) === lineOf(row)) continue
    const name = nameOf(row)
    byName.set(name, [...(byName.get(name) ?? []), row])
  }
  return [...byName].flatMap(([name, rows]) =>
    STORE.test(name) ? [holdingOf(name, rows)] : ours(name, rows),
  )
}

const STORE = /^(postgres|redis|valkey)/

function ours(name: string, rows: readonly ProcessRow[]): readonly Holding[] {
  const sorted = [...rows].sort((a, b) => a.pid - b.pid)
  return sorted.map((row, at) => holdingOf(sorted.length === 1 ? name : `${name} ${at + 1}`, [row]))
}

function lineOf({ arguments: words }: ProcessRow): string {
  return words.join(' ')
}

function nameOf(row: ProcessRow): string {
  const line = lineOf(row)
  if (/\bsluice serve\b/.test(line)) return 'sluice supervisor'
  return /\bsluice [a-z]+|postgres|redis|valkey/.exec(line)?.[0] ?? row.name
}

function holdingOf(name: string, rows: readonly ProcessRow[]): Holding {
  const bytes = rows.map(({ pid }) => residentAndShared(pid))
  const counts = rows.map(({ pid }) => descriptorsOf(pid))
  return {
    name,
    isOurs: !STORE.test(name),
    pids: rows.map(({ pid }) => pid),
    residentBytes: bytes.reduce((sum, [resident]) => sum + resident, 0),
    ownBytes: bytes.reduce((sum, [resident, shared]) => sum + resident - shared, 0),
    descriptors: counts.includes(null) ? null : counts.reduce<number>((sum, count) => sum + (count ?? 0), 0),
  }
}

function descriptorsOf(pid: number): number | null {
  try {
    return readdirSync(`/proc/${pid}/fd`).length
  } catch (problem) {
    return problem instanceof Error && 'code' in problem && problem.code === 'ENOENT' ? 0 : null
  }
}
