import type { Outcome } from '../../../schemas/failures.ts'

/** The organizations that decide about the installation's costs. */
export interface Operators {
  /**
   * The organization of a request: the key's own, or the one that an operator names. Failures: operator_only
   * (the key belongs to another organization than the operator's), organization_unknown, store_unavailable.
   */
  targetOf(askingId: string, namedId: string | undefined): Promise<Outcome<string>>
}
