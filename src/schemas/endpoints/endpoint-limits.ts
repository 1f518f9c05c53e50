import { MIB } from '../limits/limits.ts'

/** Named limits of endpoint, each once, with its unit and its source. */

/** Characters of a private endpoint's slugs and model ids, and of its `base_url`. Decision. */
export const ENDPOINT_TEXT_CHARS_MAX = 256
export const BASE_URL_CHARS_MAX = 2_048
/** Private endpoints of an organization, and active ones of a workspace. Decision. */
export const PRIVATE_ENDPOINTS_MAX = 1_000
export const ACTIVE_ENDPOINTS_MAX = 100
/** Milliseconds after which a passing validation is stale. B2.6. */
export const VALIDATION_FRESH_MS = 86_400_000
/** Milliseconds that an upstream has to answer a probe. C28. */
export const PROBE_MS_MAX = 5_000
/** Milliseconds that a claim of a probe holds when its front was lost. Decision. */
export const PROBE_CLAIM_MS = 15_000
/** Bytes of an upstream's answer to a probe. Decision. */
export const PROBE_ANSWER_BYTES_MAX = MIB
/** Milliseconds of a call that probes, twice where it validates and activates. Decision. */
export const PROBING_DEADLINE_MS = 20_000
/** Workspaces whose private endpoints a front remembers, those without any among them. Decision. */
export const WORKSPACE_MODELS_CACHED_MAX = 50_000
/** Milliseconds after which a released credential is released, and audited, anew. Decision. */
export const RELEASED_CREDENTIAL_MS = 60_000
