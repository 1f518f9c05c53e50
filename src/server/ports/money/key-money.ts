import type { LimitFlags } from '../../../schemas/money/costs.ts'

/**
 * What a key's calls are paid from, cached with its record. A flag that is behind by one change of limits is
 * obeyed until the change is: `effective` tells callers of it. C15.
 */
export interface KeyMoney extends LimitFlags {
  /** Of the key, for as long as it is rotated on. */
  readonly accountId: string
}
