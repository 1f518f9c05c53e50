import type { LimitFlags } from '../../../schemas/money/costs.ts'

/**
 * The account of a key's calls, cached with the key's record. A flag that is one change of limits behind
 * applies until the front knows the change: `effective` tells callers. C15.
 */
export interface KeyMoney extends LimitFlags {
  /** Account of the key, shared by the keys of its rotation. */
  readonly accountId: string
}
