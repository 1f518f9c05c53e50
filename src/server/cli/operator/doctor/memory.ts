import { join } from 'node:path'
import { MIB } from '../../../../schemas/limits/limits.ts'
import { FRONT_BYTES_MAX, NODE_REST_BYTES } from '../../../../schemas/operator/memory-limits.ts'
import { controlGroups, textOf } from '../../../config/control-groups.ts'
import { countsOf } from '../../../supervisor/fleet/scaling.ts'
import { doubtful, good, type Finding } from './finding.ts'
import type { Look } from './look.ts'

/**
 * Checks whether the control group of the running node, or of this process, which would start it, allows the
 * memory of its fronts; no finding without a limit.
 */
export function memory({ running, generation }: Pick<Look, 'running' | 'generation'>): readonly Finding[] {
  const allowed = limitOf(running?.pid)
  return allowed === Infinity ? [] : [memoryFinding(allowed, countsOf(generation).fronts)]
}

export function memoryFinding(allowedBytes: number, fronts: number): Finding {
  const needed = fronts * FRONT_BYTES_MAX + NODE_REST_BYTES
  const most = `${fronts === 1 ? 'one front' : `${fronts} fronts`} and the other processes of the node may use ${mib(needed)}`
  const detail = `the control group allows ${mib(allowedBytes)}; ${most}`
  if (allowedBytes >= needed) return good('memory', detail)
  const fix = `raise the limit to ${mib(needed)} (MemoryMax= of the unit, or the container limit), or lower SLUICE_FRONTS`
  return doubtful('memory', `${detail}; processes above the limit are killed`, fix)
}

/** Bytes, the smallest limit of its groups; Infinity: no limit, or none in version 2 of control groups. */
function limitOf(pid: number | undefined): number {
  const limits = controlGroups('memory', { pid })
    .filter(({ version }) => version === 2)
    .map(({ folder }) => textOf(join(folder, 'memory.max')))
  return Math.min(Infinity, ...limits.filter((text) => /^\d+$/.test(text)).map(Number))
}

function mib(bytes: number): string {
  return `${Math.floor(bytes / MIB)} MiB`
}
