/** Memory and CPU of each kind of process of a node while a load runs. */
import { memoryByRole, roleOf } from '../../test/support/load/process-memory.ts'
import { tree } from '../../test/support/load/process-cpu.ts'
import type { CurveRecord } from '../record.ts'

export interface WatchedLook {
  readonly atS: number
  /** Bytes by kind of process. */
  readonly memory: ReadonlyMap<string, number>
  /** CPU seconds since the start of the processes, by kind. */
  readonly cpu: ReadonlyMap<string, number>
}

export interface ProcessWatch {
  /** Ends the watch and returns all looks, with a last one at the end. */
  stop(): readonly WatchedLook[]
}

export function watchProcesses(root: number, everyMs: number): ProcessWatch {
  const startedAt = performance.now()
  const looks: WatchedLook[] = []
  const look = (): void =>
    void looks.push({
      atS: (performance.now() - startedAt) / 1_000,
      memory: memoryByRole(root),
      cpu: cpuByRole(root),
    })
  look()
  const timer = setInterval(look, everyMs)
  return {
    stop() {
      clearInterval(timer)
      look()
      return looks
    },
  }
}

function cpuByRole(root: number): ReadonlyMap<string, number> {
  const found = new Map<string, number>()
  for (const { arguments: words, cpuS } of tree(root)) {
    const role = roleOf(words.join(' '))
    found.set(role, (found.get(role) ?? 0) + cpuS)
  }
  return found
}

/** The most resident bytes of all processes together. */
export function peakBytes(looks: readonly WatchedLook[]): number {
  return Math.max(...looks.map(({ memory }) => totalOf(memory)))
}

/** Cores that each kind of process used from the first look to the last, largest first. */
export function coresByRole(looks: readonly WatchedLook[]): ReadonlyMap<string, number> {
  const [first, last] = [looks[0], looks.at(-1)]
  if (first === undefined || last === undefined || last.atS <= first.atS) return new Map()
  const cores = [...last.cpu].map(
    ([role, cpuS]) => [role, (cpuS - (first.cpu.get(role) ?? 0)) / (last.atS - first.atS)] as const,
  )
  return new Map(cores.sort(([, a], [, b]) => b - a))
}

/** Memory and cores over time, a line for each kind of process and one for all. */
export function processCurves(scenario: string, looks: readonly WatchedLook[]): readonly CurveRecord[] {
  const roles = [...new Set(looks.flatMap(({ memory }) => [...memory.keys()]))]
  const x = 'seconds'
  const line = (name: string, read: (look: WatchedLook, at: number) => number) => ({
    name,
    points: looks.map((look, at) => [round(look.atS), round(read(look, at))] as const),
  })
  const cores = (role: string) => ({
    name: role,
    points: line(role, (_, at) => coresAt(looks, at, role)).points.slice(1),
  })
  return [
    {
      scenario,
      title: 'memory of each kind of process over time',
      x,
      y: 'MB resident',
      lines: [
        line('all', ({ memory }) => totalOf(memory) / 1e6),
        ...roles.map((role) => line(role, ({ memory }) => (memory.get(role) ?? 0) / 1e6)),
      ],
    },
    { scenario, title: 'CPU of each kind of process over time', x, y: 'cores', lines: roles.map(cores) },
  ]
}

function coresAt(looks: readonly WatchedLook[], at: number, role: string): number {
  const [before, now] = [looks[at - 1], looks[at]]
  if (before === undefined || now === undefined || now.atS <= before.atS) return 0
  // The seconds of an ended process are no longer in the sum.
  return Math.max(0, ((now.cpu.get(role) ?? 0) - (before.cpu.get(role) ?? 0)) / (now.atS - before.atS))
}

function totalOf(memory: ReadonlyMap<string, number>): number {
  return [...memory.values()].reduce((sum, bytes) => sum + bytes, 0)
}

function round(value: number): number {
  return Math.round(value * 1_000) / 1_000
}
