import { readFileSync } from 'node:fs'
import { availableParallelism, cpus, loadavg, release, totalmem } from 'node:os'
import { glibcVersion } from '../src/server/supervisor/checks.ts'

/** The machine of the figures, without which they mean nothing. */
export interface Machine {
  readonly cpu: string
  readonly cores: number
  readonly memoryGb: number
  readonly kernel: string
  readonly node: string
  readonly glibc: string
  /** Load of the machine in the minute before the run. */
  readonly loadBefore: number
  /** Per mille of CPU time that the host of a virtual machine took, since its boot. */
  readonly stolenPerMille: number | null
}

export function machine(): Machine {
  return {
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    cores: availableParallelism(),
    memoryGb: Math.round(totalmem() / 1e8) / 10,
    kernel: release(),
    node: process.version,
    glibc: glibcVersion() ?? 'none',
    loadBefore: Math.round((loadavg()[0] ?? 0) * 100) / 100,
    stolenPerMille: stolen(),
  }
}

function stolen(): number | null {
  try {
    const times = (readFileSync('/proc/stat', 'latin1').split('\n')[0] ?? '')
      .trim()
      .split(/\s+/)
      .slice(1, 9)
      .map(Number)
    const all = times.reduce((sum, time) => sum + time, 0)
    return Math.round(((times[7] ?? 0) / all) * 1_000)
  } catch {
    return null
  }
}
