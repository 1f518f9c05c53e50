import { ok, type Failure, type Outcome } from '../../schemas/failures.ts'
import { CONTAINER_KEPT_MS, ORPHAN_AGE_MS, STAGING_IDLE_MS } from '../../schemas/limits.ts'
import type { ContainerUses, FileSweep } from '../ports/files.ts'
import type { ContainerRef, Storage } from '../ports/storage.ts'

export interface SweepParts {
  readonly rows: FileSweep
  readonly uses: ContainerUses
  readonly storage: Storage
  /** Milliseconds of the wall clock, as `Date.now`. */
  readonly now: () => number
  /** Ends it between two steps. */
  readonly isEnding?: () => boolean
}

export interface SweepOptions {
  /** Objects without a row that are younger are left alone: a restored database may not know them yet. */
  readonly orphanAgeMs?: number
}

/** What a sweep has removed. */
export interface SweepReport {
  /** Uploads that nobody would finish, with their bytes. */
  uploads: number
  /** Objects that no row stands for. */
  objects: number
  staging_files: number
  /** Containers unused for CONTAINER_KEPT_MS, and the files in them. */
  containers: number
  container_files: number
  /** Rows that were kept for repeated calls. */
  idempotency: number
}

const CLAIMED_AT_ONCE = 100

/**
 * Removes what nobody will come back for: rows first, so that a late committer finds none, then bytes. Two sweeps at
 * once do no harm. What fails is left to the next one. Design §5, C10.
 * @returns what was removed, and the first failure of each step
 */
export async function sweep(parts: SweepParts, options: SweepOptions = {}): Promise<{ report: SweepReport; failures: readonly Failure[] }> {
  const report: SweepReport = { uploads: 0, objects: 0, staging_files: 0, containers: 0, container_files: 0, idempotency: 0 }
  const failures: Failure[] = []
  const steps = [
    () => sweepUploads(parts, report),
    () => sweepOrphans(parts, report, options.orphanAgeMs ?? ORPHAN_AGE_MS),
    async () => counted(await parts.storage.sweepStaging(STAGING_IDLE_MS), (count) => (report.staging_files += count)),
    () => sweepContainers(parts, report),
    async () => counted(await parts.rows.expire(), (count) => (report.idempotency += count)),
  ]
  for (const step of steps) {
    if (parts.isEnding?.() === true) break
    const done = await step()
    if (!done.ok) failures.push(done.failure)
  }
  return { report, failures }
}

function counted(count: Outcome<number>, add: (count: number) => void): Outcome<null> {
  if (!count.ok) return count
  add(count.value)
  return ok(null)
}

async function sweepUploads({ rows, storage, isEnding }: SweepParts, report: SweepReport): Promise<Outcome<null>> {
  for (;;) {
    const claimed = await rows.claimStale(CLAIMED_AT_ONCE)
    if (!claimed.ok) return claimed
    for (const stale of claimed.value) {
      const removed = await storage.remove(stale.id)
      if (!removed.ok) return removed
      const forgotten = await rows.forget(stale)
      if (!forgotten.ok) return forgotten
      if (forgotten.value) report.uploads++
    }
    if (claimed.value.length < CLAIMED_AT_ONCE || isEnding?.() === true) return ok(null)
  }
}

/** A row is there before its object and goes before it: an object without one will not get one any more. */
async function sweepOrphans({ rows, storage, now, isEnding }: SweepParts, report: SweepReport, ageMs: number): Promise<Outcome<null>> {
  for (let cursor: string | null = null; ;) {
    const page = await storage.list(cursor)
    if (!page.ok) return page
    const old = page.value.objects.filter(({ changedAt }) => now() - changedAt.getTime() >= ageMs)
    const orphans = await rows.withoutRow(old.map(({ objectId }) => objectId))
    if (!orphans.ok) return orphans
    for (const id of orphans.value) {
      const removed = await storage.remove(id)
      if (!removed.ok) return removed
      if (removed.value) report.objects++
    }
    cursor = page.value.cursor
    if (cursor === null || isEnding?.() === true) return ok(null)
  }
}

async function sweepContainers(parts: SweepParts, report: SweepReport): Promise<Outcome<null>> {
  for (let cursor: string | null = null; ;) {
    const page = await parts.storage.containers.listContainers(cursor)
    if (!page.ok) return page
    for (const [workspaceId, containers] of byWorkspace(page.value.containers)) {
      const used = await parts.uses.lastUses(workspaceId, containers.map(({ containerId }) => containerId))
      if (!used.ok) return used
      for (const container of containers) {
        const done = await sweepContainer(parts, report, { container, usedAt: used.value.get(container.containerId) })
        if (!done.ok) return done
      }
    }
    cursor = page.value.cursor
    if (cursor === null || parts.isEnding?.() === true) return ok(null)
  }
}

interface KnownContainer {
  readonly container: ContainerRef
  readonly usedAt: Date | undefined
}

async function sweepContainer(
  { uses, storage, now }: SweepParts, report: SweepReport, { container, usedAt }: KnownContainer,
): Promise<Outcome<null>> {
  const limit = new Date(now() - CONTAINER_KEPT_MS)
  if (usedAt !== undefined && usedAt > limit) return ok(null)
  const changedAt = await storage.containers.newestChange(container)
  if (!changedAt.ok) return changedAt
  if (changedAt.value !== null && changedAt.value > limit) return ok(null)
  // A use since the look above keeps it.
  const forgotten = await uses.forget(container.workspaceId, container.containerId, limit)
  if (!forgotten.ok) return forgotten
  if (!forgotten.value) return ok(null)
  return counted(await storage.containers.removeContainer(container), (count) => {
    report.containers++
    report.container_files += count
  })
}

function byWorkspace(containers: readonly ContainerRef[]): ReadonlyMap<string, readonly ContainerRef[]> {
  const grouped = new Map<string, ContainerRef[]>()
  for (const container of containers) {
    const group = grouped.get(container.workspaceId)
    if (group === undefined) grouped.set(container.workspaceId, [container])
    else group.push(container)
  }
  return grouped
}
