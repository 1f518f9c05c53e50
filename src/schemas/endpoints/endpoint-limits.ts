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
/** Milliseconds until the claim of a probe expires when its front is lost. Decision. */
export const PROBE_CLAIM_MS = 15_000
/** Bytes of an upstream's answer to a probe. Decision. */
export const PROBE_ANSWER_BYTES_MAX = MIB
/** Most tokens of a model's answer to a probe: the fewest that OpenAI's responses take. D30. */
export const PROBE_TOKENS_MAX = 16
/** Milliseconds of a call that probes. A call that validates and activates probes twice. Decision. */
export const PROBING_DEADLINE_MS = 20_000
