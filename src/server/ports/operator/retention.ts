/** What is kept for a time and then pruned, in the order in which it is told. A closed set. */
export const RETENTION_KINDS = ['ledger', 'audit', 'idempotency', 'webhooks', 'dead_letters', 'jobs'] as const
export type RetentionKind = (typeof RETENTION_KINDS)[number]

/** For how long; null: for ever. */
export type KeptFor = { readonly count: number; readonly unit: 'hours' | 'days' | 'months' } | null

/** The right to prune, which one process of all nodes has at a time. */
export interface RetentionLease {
  readonly id: string
  /** The fencing token. */
  readonly attempt: number
}

/** How a run over one kind ended; `lost`: the turn is another's by now. */
export type PruneEnd = 'done' | 'lost'

/** Pruning of one kind. */
export interface PruneStep {
  readonly kind: RetentionKind
  readonly keptFor: KeptFor
  /**
   * Removes what is old, the oldest first. Each step of the iteration is one short transaction or few, and
   * tells how many rows went with it; whoever breaks off leaves the rest to the next run. Rejects when the
   * store is away or somebody holds a lock for too long.
   */
  run(turn: RetentionLease): AsyncGenerator<number, PruneEnd, void>
  /** Rows that would go now: reads them all. */
  due(): Promise<number>
  /** Instant of the oldest row that is kept, whether or not it is due; null when there is none. */
  oldest(): Promise<Date | null>
}

/** Whose turn it is. Each rejects when the store is away. */
export interface RetentionLeases {
  /** @returns null when another process prunes, or has a short time ago */
  begin(): Promise<RetentionLease | null>
  /** Gives the turn back, the next to be due in so many milliseconds. */
  end(turn: RetentionLease, dueInMs: number): Promise<void>
  /** Makes the next turn due now, unless somebody has it. */
  hasten(): Promise<void>
}

/** Counts what was pruned; labels are of a closed set. */
export interface RetentionMeters {
  pruned(kind: RetentionKind | 'clips', rows: number): void
  oldest(kind: RetentionKind, at: Date | null): void
}
