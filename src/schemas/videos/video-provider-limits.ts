import { MIB } from '../limits/limits.ts'

/** Named limits of calls to video providers, like those of limits.ts. */

/** Bytes of a provider's answer about its jobs. Decision. */
export const VIDEO_ANSWER_BYTES_MAX = MIB
/** Bytes of an answer of Google, which may hold the clip itself in base64. Decision. */
export const VIDEO_INLINE_ANSWER_BYTES_MAX = 32 * MIB
/** Characters of a provider's id of a job. Decision. */
export const VIDEO_UPSTREAM_ID_CHARS_MAX = 512
/**
 * Milliseconds after which a submission that the provider did not take is made again, where it names no time.
 * Decision.
 */
export const VIDEO_UNSENT_RETRY_MS = 2_000
/** The same where the operator's credential was refused: somebody has to mend it. Decision. */
export const VIDEO_CREDENTIAL_RETRY_MS = 60_000

/** Jobs on one page of a provider's list; more are not given. OpenAI. */
export const VIDEO_LOOKUP_PAGE_JOBS = 100
/** Pages of one search. Decision. */
export const VIDEO_LOOKUP_PAGES_MAX = 50
/**
 * Milliseconds that a job may be unknown to its provider before it counts as gone: stores of its own lag
 * behind. Decision.
 */
export const VIDEO_GONE_MS = 30_000
/** Jobs that are watched for it at once. Decision. */
export const VIDEO_GONE_WATCHED_MAX = 10_000

/** Milliseconds until a download begins, and between two pieces of it. Decision. */
export const VIDEO_DOWNLOAD_BEGIN_MS = 30_000
export const VIDEO_DOWNLOAD_STALL_MS = 30_000
/** Redirects that a download or an image goes through. Decision. */
export const VIDEO_REDIRECTS_MAX = 3

/** Images of one job whose bytes are sent. Decision. */
export const VIDEO_IMAGES_MAX = 10
/** Bytes of one such image. Decision. */
export const VIDEO_IMAGE_BYTES_MAX = 10 * MIB
/** Milliseconds in which all of them have to be here. Decision. */
export const VIDEO_IMAGES_MS = 20_000

/**
 * Milliseconds after which a workspace's own key is released, and audited, anew: a key that was taken away is
 * used no longer. Decision.
 */
export const VIDEO_OWN_KEY_MS = 30_000
/** Workspaces' own keys that one runner holds at once. Decision. */
export const VIDEO_OWN_KEYS_MAX = 1_000
