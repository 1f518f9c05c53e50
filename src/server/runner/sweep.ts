import { ok, type Failure, type Outcome } from '../../schemas/failures.ts'
import { CONTAINER_KEPT_MS } from '../../schemas/files/file-limits.ts'
import type { ContainerSizes, ContainerUses, CountedPath } from '../ports/containers/container-rows.ts'
import type { FileSweep } from '../ports/files/files.ts'
import type { ContainerRef, Storage } from '../ports/files/storage.ts'

/** Milliseconds without a write after which a staging file counts as abandoned. Decision. */
export const STAGING_IDLE_MS = 3_600_000
/** Age in milliseconds at which an object without a row counts as abandoned. Decision. */
export const ORPHAN_AGE_MS = 3_600_000
/**
 * Milliseconds after which the sweep measures again the paths that were written through Sluice. Only these
 * count against the quota: the owner of a sandbox's storage limits what the sandbox itself writes, and such
 * writes must not block uploads. Decision.
 */
export const CONTAINER_RECOUNT_MS = 86_400_000

export interface SweepDeps {
  readonly rows: FileSweep
  readonly uses: ContainerUses
  readonly sizes: ContainerSizes
  readonly storage: Storage
  /**
   * Fails when the storage belongs to another installation: its objects have no rows here and must not be
   * removed for that reason.
   */
  readonly checkPlace: () => Promise<Outcome<null>>
  /** Milliseconds of the wall clock, as `Date.now`. */
  readonly now: () => number
  /** True ends the sweep between two steps. */
  readonly isEnding?: () => boolean
}

export interface SweepOptions {
  /** Milliseconds: younger objects without a row are left alone, since a restored database may not know them yet. */
  readonly orphanAgeMs?: number
  /** Milliseconds: younger counts of container files are assumed to be right. */
  readonly recountAgeMs?: number
  /**
   * True: only uploads without a process and expired files are removed; the store lists both. The other steps
   * list the whole storage.
   */
  readonly isUploadsOnly?: boolean
}

/** Counts of the rows and bytes that a sweep has removed. */
export interface SweepReport {
  /** Uploads whose process has ended, removed with their bytes. */
  uploads: number
  /** Files that expired at the time set by their uploaders. */
  expired: number
  /** Objects without a row. */
  objects: number
  staging_files: number
  /** Containers that were unused for CONTAINER_KEPT_MS. */
  containers: number
  /** Files in those containers, and in the remains of a removal that crashed. */
  container_files: number
  /** Container files that had counted against the quota with another size. */
  recounted: number
  /** Stored answers of file uploads, kept for repetitions. */
  idempotency: number
}

/** Rows of uploads or files that one statement claims or removes. */
const CLAIMED_AT_ONCE = 100
/** Objects or containers that one step skips because storage refuses these individually; after that the step ends. Decision. */
const PASSED_OVER_MAX = 100
/** Container files that are recounted at once. Decision. */
const RECOUNTED_AT_ONCE = 16
/** An object id that is never used. */
const PROBE_ID = 'sweep_probe'

/**
 * Removes rows and bytes that no process will continue to use: first the row, so that a late commit does not
 * find it, then the bytes. Concurrent sweeps do no harm. After a failure the rest is still removed, and the
 * next sweep tries the failed part again.
 * @returns the counts, and the first failure of each step
 */
export async function sweep(
  deps: SweepDeps,
  options: SweepOptions = {},
): Promise<{ report: SweepReport; failures: readonly Failure[] }> {
  const report: SweepReport = {
    uploads: 0,
    expired: 0,
    objects: 0,
    staging_files: 0,
    containers: 0,
    container_files: 0,
    recounted: 0,
    idempotency: 0,
  }
  const failures: Failure[] = []
  const place = options.isUploadsOnly === true ? null : await deps.checkPlace()
  if (place?.ok === false) failures.push(place.failure)
  for (const step of place === null ? UPLOAD_STEPS : STEPS) {
    if (deps.isEnding?.() === true) break
    if (place?.ok === false && UNNAMED_STEPS.includes(step)) continue
    const round = new Round(deps, report, options)
    const done = await step(round)
    const failure = round.firstFailure ?? (done.ok ? null : done.failure)
    if (failure !== null) failures.push(failure)
  }
  return { report, failures }
}

class Round {
  readonly deps: SweepDeps
  readonly report: SweepReport
  readonly options: SweepOptions
  firstFailure: Failure | null = null
  #passedOver = 0

  constructor(deps: SweepDeps, report: SweepReport, options: SweepOptions) {
    this.deps = deps
    this.report = report
    this.options = options
  }

  get isEnding(): boolean {
    return this.deps.isEnding?.() === true
  }

  /**
   * Counts an object or container that storage refused. @returns the failure, which ends the step, when
   * storage is completely unavailable or too many were refused
   */
  async passOver(failure: Failure): Promise<Outcome<null>> {
    this.firstFailure ??= failure
    const isMany = ++this.#passedOver > PASSED_OVER_MAX
    const seen = isMany ? null : await this.deps.storage.stat(PROBE_ID)
    return seen?.ok === true ? ok(null) : { ok: false, failure }
  }
}

type Step = (round: Round) => Promise<Outcome<null>>

const UPLOAD_STEPS: readonly Step[] = [sweepUploads, sweepExpired, (round) => recount(round, { ageMs: null })]
/** Steps that remove objects without a row. */
const UNNAMED_STEPS: readonly Step[] = [
  sweepOrphans,
  sweepStaging,
  sweepContainers,
  async ({ deps, report }) =>
    counted(
      await deps.storage.containers.emptyTrash(STAGING_IDLE_MS),
      (count) => (report.container_files += count),
    ),
]
const STEPS: readonly Step[] = [
  sweepUploads,
  sweepExpired,
  ...UNNAMED_STEPS,
  (round) => recount(round, { ageMs: round.options.recountAgeMs ?? CONTAINER_RECOUNT_MS }),
  async ({ deps, report }) => counted(await deps.rows.expire(), (count) => (report.idempotency += count)),
]

function counted(count: Outcome<number>, add: (count: number) => void): Outcome<null> {
  if (!count.ok) return count
  add(count.value)
  return ok(null)
}

async function sweepUploads(round: Round): Promise<Outcome<null>> {
  const {
    deps: { rows, storage },
    report,
  } = round
  for (;;) {
    const claimed = await rows.claimStale(CLAIMED_AT_ONCE)
    if (!claimed.ok) return claimed
    const before = report.uploads
    for (const stale of claimed.value) {
      if (round.isEnding) return ok(null)
      const removed = await storage.remove(stale.id)
      if (!removed.ok) {
        const passed = await round.passOver(removed.failure)
        if (!passed.ok) return passed
        continue
      }
      const forgotten = await rows.forget(stale)
      if (!forgotten.ok) return forgotten
      if (forgotten.value) report.uploads++
    }
    // Uploads that were skipped are due again once their claim has expired.
    if (claimed.value.length < CLAIMED_AT_ONCE || report.uploads === before) return ok(null)
  }
}

/** Bytes that cannot be removed now become an orphan for a later sweep, since their row no longer exists. */
async function sweepExpired(round: Round): Promise<Outcome<null>> {
  const {
    deps: { rows, storage },
    report,
  } = round
  for (;;) {
    const removed = await rows.removeExpired(CLAIMED_AT_ONCE)
    if (!removed.ok) return removed
    report.expired += removed.value.length
    for (const id of removed.value) {
      const gone = await storage.remove(id)
      const passed = gone.ok ? null : await round.passOver(gone.failure)
      if (passed?.ok === false) return passed
    }
    if (removed.value.length < CLAIMED_AT_ONCE || round.isEnding) return ok(null)
  }
}

/**
 * A file's row exists before its object and is removed before it. A clip's job is open until the clip has a
 * row. An old object without a row will therefore never get one.
 */
async function sweepOrphans(round: Round): Promise<Outcome<null>> {
  const {
    deps: { rows, storage, now },
    report,
    options: { orphanAgeMs = ORPHAN_AGE_MS },
  } = round
  for (let cursor: string | null = null; ;) {
    const page = await storage.list(cursor)
    if (!page.ok) return page
    const old = page.value.objects.filter(({ changedAt }) => now() - changedAt.getTime() >= orphanAgeMs)
    const orphans = await rows.withoutRow(old.map(({ objectId }) => objectId))
    if (!orphans.ok) return orphans
    for (const id of orphans.value) {
      if (round.isEnding) return ok(null)
      const removed = await storage.remove(id)
      const passed = removed.ok ? removed : await round.passOver(removed.failure)
      if (!passed.ok) return passed
      if (passed.value === true) report.objects++
    }
    cursor = page.value.cursor
    if (cursor === null || round.isEnding) return ok(null)
  }
}

/** Files that a front staged are removed as soon as the front has ended; files of other processes are removed by their age. */
async function sweepStaging({ deps: { rows, storage }, report }: Round): Promise<Outcome<null>> {
  const owners = await storage.stagingOwners()
  if (!owners.ok) return owners
  const gone = await rows.goneFronts(owners.value)
  if (!gone.ok) return gone
  return counted(
    await storage.sweepStaging(STAGING_IDLE_MS, gone.value),
    (count) => (report.staging_files += count),
  )
}

async function sweepContainers(round: Round): Promise<Outcome<null>> {
  const { deps } = round
  for (let cursor: string | null = null; ;) {
    const page = await deps.storage.containers.listContainers(cursor)
    if (!page.ok) return page
    for (const [workspaceId, containers] of byWorkspace(page.value.containers)) {
      const used = await deps.uses.lastUses(
        workspaceId,
        containers.map(({ containerId }) => containerId),
      )
      if (!used.ok) return used
      const isOver = await deps.uses.isOfDeleted(workspaceId)
      if (!isOver.ok) return isOver
      const keptMs = isOver.value ? 0 : CONTAINER_KEPT_MS
      for (const container of containers) {
        if (round.isEnding) return ok(null)
        const done = await sweepContainer(round, {
          container,
          keptMs,
          usedAt: used.value.get(container.containerId),
        })
        if (!done.ok) return done
      }
    }
    cursor = page.value.cursor
    if (cursor === null || round.isEnding) return ok(null)
  }
}

interface KnownContainer {
  readonly container: ContainerRef
  readonly usedAt: Date | undefined
  /** Milliseconds that the container is kept after its last use. */
  readonly keptMs: number
}

async function sweepContainer(
  round: Round,
  { container, usedAt, keptMs }: KnownContainer,
): Promise<Outcome<null>> {
  const {
    deps: {
      uses,
      storage: { containers },
      now,
    },
    report,
  } = round
  const limit = new Date(now() - keptMs)
  if (usedAt !== undefined && usedAt > limit) return ok(null)
  const changedAt = await containers.newestChange(container)
  if (!changedAt.ok) return round.passOver(changedAt.failure)
  if (changedAt.value === null || changedAt.value > limit) return ok(null)
  // A use since the check above keeps the container, and no write begins while it is removed.
  const removed = await uses.removal(container, limit, () => containers.removeContainer(container, limit))
  if (!removed.ok)
    return removed.failure.name === 'store_unavailable' ? removed : round.passOver(removed.failure)
  if (removed.value === null) return ok(null)
  report.containers++
  report.container_files += removed.value
  return recount(round, { ageMs: 0, container })
}

/**
 * Corrects the quota according to the files in storage: files that were removed, that a sandbox has changed,
 * or whose writes did not end.
 */
async function recount(
  round: Round,
  which: { readonly ageMs: number | null; readonly container?: ContainerRef },
): Promise<Outcome<null>> {
  const { sizes } = round.deps
  for (let after: CountedPath | null = null; ;) {
    const due = await sizes.due({ ...which, after, countMax: RECOUNTED_AT_ONCE })
    if (!due.ok) return due
    const done = await Promise.all(due.value.map((path) => recountPath(round, path)))
    for (const one of done) if (!one.ok) return one
    after = due.value.at(-1) ?? null
    if (due.value.length < RECOUNTED_AT_ONCE || round.isEnding) return ok(null)
  }
}

async function recountPath(round: Round, counted: CountedPath): Promise<Outcome<null>> {
  const {
    deps: {
      sizes,
      storage: { containers },
    },
    report,
  } = round
  const { workspaceId, containerId, path } = counted
  const there = await containers.stat({ workspaceId, containerId }, path)
  if (!there.ok && there.failure.name !== 'container_file_unknown') return round.passOver(there.failure)
  const changed = await sizes.recount(counted, there.ok ? there.value.sizeBytes : 'nothing')
  if (!changed.ok) return changed
  if (changed.value) report.recounted++
  return ok(null)
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
