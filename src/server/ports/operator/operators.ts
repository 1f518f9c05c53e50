import type { Outcome } from '../../../schemas/failures.ts'

/** Who decides about what the installation pays for. C32. */
export interface Operators {
  /**
   * The organization that is meant: that of the key, or the one that an operator names.
   * Failures: operator_only (the key is of another organization than the operator's), organization_unknown,
   * store_unavailable.
   */
  targetOf(askingId: string, namedId: string | undefined): Promise<Outcome<string>>
}
