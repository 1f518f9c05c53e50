/** Kinds of rows that are kept for a time and then pruned, in the order of reports. A closed set. */
export const RETENTION_KINDS = [
  'ledger',
  'audit',
  'idempotency',
  'webhooks',
  'dead_letters',
  'jobs',
  'generations',
  'requests',
] as const
export type RetentionKind = (typeof RETENTION_KINDS)[number]

/** How long rows are kept; null: without end. */
export type KeptFor = { readonly count: number; readonly unit: 'hours' | 'days' | 'months' } | null

/** The right to prune, which one process of all nodes has at a time. */
export interface RetentionLease {
  readonly id: string
  /** The fencing token. */
  readonly attempt: number
}

/** How a run over one kind ended; `lost`: another process has the lease by now. */
export type PruneEnd = 'done' | 'lost'

/** Pruning of one kind. */
export interface PruneStep {
  readonly kind: RetentionKind
  readonly keptFor: KeptFor
  /**
   * Removes old rows, the oldest first. Each step of the iteration is one short transaction or few, and
   * yields the number of its rows; a run that breaks off leaves the rest to the next run. Rejects when the
   * store is away or another transaction holds a lock for too long.
   */
  run(lease: RetentionLease): AsyncGenerator<number, PruneEnd, void>
  /** Counts the rows that would be removed now, by reading them all. */
  due(): Promise<number>
  /** Instant of the oldest row that is kept, whether or not it is due; null without rows. */
  oldest(): Promise<Date | null>
}

/** The lease of pruning. Each method rejects when the store is away. */
export interface RetentionLeases {
  /** @returns null when another process prunes, or has pruned a short time ago */
  begin(): Promise<RetentionLease | null>
  /** Gives the lease back; the next run is due in so many milliseconds. */
  end(lease: RetentionLease, dueInMs: number): Promise<void>
  /** Makes the next run due now, unless a process holds the lease. */
  hasten(): Promise<void>
}

/** Counts pruned rows; labels are of a closed set. */
export interface RetentionMeters {
  pruned(kind: RetentionKind | 'clips', rows: number): void
  oldest(kind: RetentionKind, at: Date | null): void
}
