import type { Outcome } from '../../../schemas/failures.ts'

/** The organizations that decide about the installation's costs. */
export interface Operators {
  /** The key's own organization, or the one that an operator names. Failures: operator_only, organization_unknown, store_unavailable. */
  targetOf(askingId: string, namedId: string | undefined): Promise<Outcome<string>>
}
