import type { Transaction } from '../base/open.ts'

/** One step of the schema, forward only. A step that has been released is never edited. */
export interface Migration {
  /** 1, 2, 3, …, without gaps. */
  readonly number: number
  readonly name: string
  /**
   * The oldest binary that may run on the schema after this step, given as the number of its newest migration:
   * a step that only adds does not raise the number, so that nodes can be upgraded one by one.
   */
  readonly oldestBinary: number
  /** Tables that exist from this step on; a schema without them is half-migrated or half-restored. */
  readonly tables: readonly string[]
  up(tx: Transaction): Promise<void>
}
