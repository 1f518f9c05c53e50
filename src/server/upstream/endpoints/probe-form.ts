import type { Outcome } from '../../../schemas/failures.ts'
import type { Caller } from '../../../schemas/values/callers.ts'
import type { PrivateEndpoint } from '../../ports/endpoints/private-endpoints.ts'
import type { Provider } from '../../ports/models/models.ts'
import type { LinkOrigin } from '../link.ts'
import type { FormAnswer, Seen } from './probe-verdict.ts'

/** The smallest sensible prompt, and input of an embedding. */
export const PROBE_TEXT = 'Hello'

export interface FormProbing {
  readonly endpoint: PrivateEndpoint
  /** The provider at the endpoint's address. */
  readonly provider: Provider
  readonly origin: LinkOrigin
  readonly key: string
  readonly caller: Caller
  readonly call: { readonly signal: AbortSignal }
  /** `performance.now()` of the probe's end. */
  readonly endsAt: number
  /** Milliseconds of the same clock. */
  readonly now: () => number
}

export interface FormProbe {
  readonly answer: Outcome<FormAnswer>
  /** Null when there was no response. */
  readonly seen: Seen | null
}
