import type { Log } from '../ports/observe.ts'
import type {
  PruneStep,
  RetentionKind,
  RetentionMeters,
  RetentionLeases,
} from '../ports/operator/retention.ts'

/**
 * Milliseconds of pause for each millisecond that a batch took: pruning takes a fifth of one connection.
 * Decision.
 */
export const PRUNE_REST_TIMES = 4
/** Longest pause in milliseconds between two batches. Decision. */
export const PRUNE_REST_MS_MAX = 2_000
/** Milliseconds between two runs of pruning on one database. Decision. */
export const PRUNE_EVERY_MS = 600_000

export interface PruneDeps {
  readonly leases: RetentionLeases
  readonly steps: readonly PruneStep[]
  readonly log: Log
  readonly meters: Pick<RetentionMeters, 'pruned'>
  /** Milliseconds, as `performance.now`. */
  readonly now: () => number
  /** Waits this many milliseconds, or less when the run is being ended. */
  readonly rest: (ms: number) => Promise<void>
  /** True ends the run between two batches. */
  readonly isEnding: () => boolean
}

export interface PruneReport {
  readonly rows: Readonly<Partial<Record<RetentionKind, number>>>
  readonly failed: readonly RetentionKind[]
  /** False: the run stopped early, because of `isEnding` or because another process took the lease. */
  readonly isWhole: boolean
}

/**
 * One run over all kinds, a batch of each at a time, so that a kind with many rows does not delay the others.
 * After each batch the run pauses PRUNE_REST_TIMES as long as the batch took, so that it uses a fifth of one
 * connection even when the store is busy. A kind that fails is logged and left to the next run.
 * @returns null when another process has the lease, or no run is due. Rejects when the store is unavailable.
 */
export async function prune(deps: PruneDeps): Promise<PruneReport | null> {
  const { leases, steps, isEnding } = deps
  const lease = await leases.begin()
  if (lease === null) return null
  const run: Run = { ...deps, rows: {}, failed: [], isLost: false }
  let open = steps.map((step) => ({ kind: step.kind, batches: step.run(lease) }))
  while (open.length > 0 && !isEnding() && !run.isLost) {
    const left: Pruning[] = []
    for (const pruning of open)
      if (isEnding() || run.isLost || (await oneBatch(run, pruning))) left.push(pruning)
    open = left
  }
  // A run that ends early leaves the rest to the next process that checks.
  if (!run.isLost) await leases.end(lease, open.length > 0 ? 0 : PRUNE_EVERY_MS)
  return { rows: run.rows, failed: run.failed, isWhole: open.length === 0 && !run.isLost }
}

interface Pruning {
  readonly kind: RetentionKind
  readonly batches: ReturnType<PruneStep['run']>
}

interface Run extends PruneDeps {
  readonly rows: Partial<Record<RetentionKind, number>>
  readonly failed: RetentionKind[]
  isLost: boolean
}

/** @returns true when more rows may be left */
async function oneBatch(run: Run, { kind, batches }: Pruning): Promise<boolean> {
  const startedAt = run.now()
  try {
    const batch = await batches.next()
    if (batch.done === true) {
      run.isLost ||= batch.value === 'lost'
      return false
    }
    run.rows[kind] = (run.rows[kind] ?? 0) + batch.value
    run.meters.pruned(kind, batch.value)
  } catch (cause) {
    run.log.warn('retention_failed', { kind, cause })
    run.failed.push(kind)
    return false
  }
  await run.rest(Math.min(PRUNE_REST_MS_MAX, PRUNE_REST_TIMES * (run.now() - startedAt)))
  return true
}
