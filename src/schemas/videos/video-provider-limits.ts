/** Named limits of calls to video providers, each with its unit and its source. */

/**
 * Milliseconds after which a submission is repeated that the provider did not accept, when the provider names
 * no time. Decision.
 */
export const VIDEO_UNSENT_RETRY_MS = 2_000
/**
 * Milliseconds after which a submission is repeated when the provider refused the operator's credential,
 * which a person must replace. Decision.
 */
export const VIDEO_CREDENTIAL_RETRY_MS = 60_000

/** Jobs on one page of a provider's list: OpenAI's maximum. */
export const VIDEO_LOOKUP_PAGE_JOBS = 100

/** Milliseconds until a download begins. Decision. */
export const VIDEO_DOWNLOAD_BEGIN_MS = 30_000
/** Milliseconds between two pieces of a download. Decision. */
export const VIDEO_DOWNLOAD_STALL_MS = 30_000

/** Milliseconds within which all images of a job must arrive. Decision. */
export const VIDEO_IMAGES_MS = 20_000
