/** The number of cores that the processes of a node may use, for settings with the value `auto` and for advice. */
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { controlGroups, textOf, type ControlGroup } from './control-groups.ts'

/** The machine that is examined; absent: this machine. */
export interface Machine {
  /** Stands for `/`. */
  readonly root?: string
}

/**
 * Cores that this process may use: those that its affinity allows, but at most the smallest CPU quota of its
 * control groups, which may be a fraction (`docker run --cpus=1.5`, `limits.cpu` of a pod, `CPUQuota=` of a
 * unit).
 *
 * Node's own count is used only if Linux reports none: Node 20 does not read quotas, and some versions of
 * Node 22 and 24 multiply the quota by the weight of the group.
 */
export function usableCores({ root = '/' }: Machine = {}): number {
  const allowed = affinityIn(root) ?? availableParallelism()
  return Math.min(allowed, ...controlGroups('cpu', { root }).map(quotaOf))
}

/** Whole cores, at least one: a fraction of a core cannot run another thread all the time. */
export function wholeCores(cores: number): number {
  return Math.max(1, Math.floor(cores))
}

/** The value of SLUICE_FRONTS for `auto`: half of the cores; the other half is for worker threads, the runner and the stores. */
export function frontsFor(cores: number): number {
  return wholeCores(cores / 2)
}

/** Cores that the quota of one group allows; Infinity: it has no quota. */
export function quotaOf({ version, folder }: ControlGroup): number {
  const read = (file: string): string => textOf(join(folder, file))
  const [quota = '', period = ''] =
    version === 2 ? read('cpu.max').split(/\s+/) : [read('cpu.cfs_quota_us'), read('cpu.cfs_period_us')]
  return COUNT.test(quota) && COUNT.test(period) ? Number(quota) / Number(period) : Infinity
}

/** A number of microseconds above 0; "max", -1 and texts that are not numbers mean no quota. */
const COUNT = /^[1-9][0-9]{0,15}$/

/**
 * Cores that the affinity of this process allows; null: not reported by Linux. The list of a process also has
 * cores that the machine could have but lacks.
 */
function affinityIn(root: string): number | null {
  const status = textOf(join(root, 'proc/self/status'))
  const online = new Set(coresOf(textOf(join(root, 'sys/devices/system/cpu/online'))))
  const allowed = coresOf(/^Cpus_allowed_list:\s*(\S+)$/m.exec(status)?.[1] ?? '')
  const count = allowed.filter((core) => online.has(core)).length
  return count === 0 ? null : count
}

/** Numbers of the cores in a list such as `0-3,8`; empty for any other text. */
function coresOf(list: string): readonly number[] {
  if (!/^\d{1,5}(-\d{1,5})?(,\d{1,5}(-\d{1,5})?)*$/.test(list)) return []
  return list.split(',').flatMap((range) => {
    const [first = 0, last = first] = range.split('-').map(Number)
    return Array.from({ length: Math.max(0, last - first + 1) }, (_, nth) => first + nth)
  })
}
