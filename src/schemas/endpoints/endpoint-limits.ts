import { MIB } from '../limits/limits.ts'

/** Named limits of private endpoints, each with its unit and its source. */

/** Private endpoints of an organization. Decision. */
export const PRIVATE_ENDPOINTS_MAX = 1_000
/** Active private endpoints of a workspace. Decision. */
export const ACTIVE_ENDPOINTS_MAX = 100
/** Milliseconds after which a passed validation is stale. B2.6. */
export const VALIDATION_FRESH_MS = 86_400_000
/** Milliseconds that an upstream has to answer a probe. C28. */
export const PROBE_MS_MAX = 5_000
/** Milliseconds after which the claim on a probe expires if its front is lost. Decision. */
export const PROBE_CLAIM_MS = 15_000
/** Bytes of an upstream's answer to a probe. Decision. */
export const PROBE_ANSWER_BYTES_MAX = MIB
/** The token maximum of a model's answer to a probe: the smallest that OpenAI's Responses API accepts. D30. */
export const PROBE_TOKENS_MAX = 16
/** Milliseconds of a call that probes; a call that both validates and activates probes twice. Decision. */
export const PROBING_DEADLINE_MS = 20_000
