import { join } from 'node:path'
import { controlGroups, textOf, type ControlGroup } from './control-groups.ts'
import { quotaOf, usableCores, type Machine } from './cores.ts'

/** The CPU that a node may use, and the CPU that it uses. */
export interface CoreUse {
  /** Cores that this process may use, a fraction with some quotas. */
  readonly usable: number
  /** Cores that the group with the smallest quota has used since the last measurement; 0 without a quota. */
  readonly used: number
}

/** Measures repeatedly how much of its CPU quota this process uses: a machine may be idle while a node has used up the quota of its container. */
export class QuotaWatch {
  readonly #usable: number
  readonly #group: ControlGroup | null
  readonly #nowMs: () => number
  #before: { readonly atMs: number; readonly usedMs: number }

  constructor(machine: Machine = {}, nowMs: () => number = () => performance.now()) {
    this.#usable = usableCores(machine)
    const limited = controlGroups('cpu', machine).filter((group) => quotaOf(group) < Infinity)
    this.#group = limited.sort((a, b) => quotaOf(a) - quotaOf(b))[0] ?? null
    this.#nowMs = nowMs
    this.#before = this.#now()
  }

  look(): CoreUse {
    const [before, now] = [this.#before, this.#now()]
    this.#before = now
    const passedMs = now.atMs - before.atMs
    const used = passedMs <= 0 ? 0 : Math.max(0, now.usedMs - before.usedMs) / passedMs
    return { usable: this.#usable, used }
  }

  #now(): { readonly atMs: number; readonly usedMs: number } {
    return { atMs: this.#nowMs(), usedMs: this.#group === null ? 0 : usedMsOf(this.#group) }
  }
}

/** CPU time of a group; 0 if not reported. */
function usedMsOf({ version, folder }: ControlGroup): number {
  const micros = /^usage_usec (\d+)$/m.exec(version === 2 ? textOf(join(folder, 'cpu.stat')) : '')?.[1]
  if (micros !== undefined) return Number(micros) / 1_000
  const nanos = version === 1 ? textOf(join(folder, 'cpuacct.usage')) : ''
  return /^\d+$/.test(nanos) ? Number(nanos) / 1_000_000 : 0
}
