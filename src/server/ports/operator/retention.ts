/** In the order of reports. */
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

/** Null: without end. */
export type KeptFor = { readonly count: number; readonly unit: 'hours' | 'days' | 'months' } | null

/** The right to prune, which only one process of all nodes has at a time. */
export interface RetentionLease {
  readonly id: string
  /** The fencing token. */
  readonly attempt: number
}

/** How a run over one kind ended; `lost`: another process has taken the lease. */
export type PruneEnd = 'done' | 'lost'

export interface PruneStep {
  readonly kind: RetentionKind
  readonly keptFor: KeptFor
  /**
   * Deletes the oldest rows first, in short transactions, and yields the number of rows of each. Rejects when
   * the store is unavailable or another transaction holds a lock for too long.
   */
  run(lease: RetentionLease): AsyncGenerator<number, PruneEnd, void>
  /** Counts the rows that would be removed now, by reading them all. */
  due(): Promise<number>
  /** Time of the oldest row that is kept, whether or not it is due; null without rows. */
  oldest(): Promise<Date | null>
}

/** Each method rejects when the store is unavailable. */
export interface RetentionLeases {
  /** @returns null when another process prunes, or has pruned a short time ago */
  begin(): Promise<RetentionLease | null>
  /** Returns the lease; the next run is due after `dueInMs` milliseconds. */
  end(lease: RetentionLease, dueInMs: number): Promise<void>
  /** Makes the next run due now, unless a process has the lease. */
  hasten(): Promise<void>
}

/** Labels are from a closed set. */
export interface RetentionMeters {
  pruned(kind: RetentionKind | 'clips', rows: number): void
  oldest(kind: RetentionKind, at: Date | null): void
}
