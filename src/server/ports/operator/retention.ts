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

/** The right to prune, which one process of all nodes has at a time. */
export interface RetentionLease {
  readonly id: string
  /** The fencing token. */
  readonly attempt: number
}

/** How a run over one kind ended; `lost`: another process has the lease by now. */
export type PruneEnd = 'done' | 'lost'

export interface PruneStep {
  readonly kind: RetentionKind
  readonly keptFor: KeptFor
  /** Oldest first, in short transactions that yield their rows. Rejects when the store is away or another transaction holds a lock for too long. */
  run(lease: RetentionLease): AsyncGenerator<number, PruneEnd, void>
  /** Counts the rows that would be removed now, by reading them all. */
  due(): Promise<number>
  /** Instant of the oldest row that is kept, whether or not it is due; null without rows. */
  oldest(): Promise<Date | null>
}

/** Each method rejects when the store is away. */
export interface RetentionLeases {
  /** @returns null when another process prunes, or has pruned a short time ago */
  begin(): Promise<RetentionLease | null>
  /** Gives the lease back; the next run is due in so many milliseconds. */
  end(lease: RetentionLease, dueInMs: number): Promise<void>
  /** Makes the next run due now, unless a process holds the lease. */
  hasten(): Promise<void>
}

/** Labels are of a closed set. */
export interface RetentionMeters {
  pruned(kind: RetentionKind | 'clips', rows: number): void
  oldest(kind: RetentionKind, at: Date | null): void
}
