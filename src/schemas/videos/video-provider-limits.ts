import { MIB } from '../limits/limits.ts'

/** Named limits of calls to video providers, each with its unit and its source. */

/** Bytes of a provider's answer about its jobs. Decision. */
export const VIDEO_ANSWER_BYTES_MAX = MIB
/** Bytes of an answer by Google, which may contain the clip itself in base64. Decision. */
export const VIDEO_INLINE_ANSWER_BYTES_MAX = 32 * MIB
/** Characters of a provider's id of a job. Decision. */
export const VIDEO_UPSTREAM_ID_CHARS_MAX = 512
/**
 * Milliseconds after which a submission that the provider refused to take is repeated, when the provider
 * names no time. Decision.
 */
export const VIDEO_UNSENT_RETRY_MS = 2_000
/**
 * Milliseconds after which a submission is repeated when the provider refused the operator's credential,
 * which a person must replace. Decision.
 */
export const VIDEO_CREDENTIAL_RETRY_MS = 60_000

/** Jobs on one page of a provider's list: OpenAI's maximum. */
export const VIDEO_LOOKUP_PAGE_JOBS = 100
/** Pages that one search of a provider's list reads. Decision. */
export const VIDEO_LOOKUP_PAGES_MAX = 50
/**
 * Milliseconds that a provider may not know a job before the job counts as gone: providers' own stores lag.
 * Decision.
 */
export const VIDEO_GONE_MS = 30_000
/** Jobs unknown to their providers that are tracked at once. Decision. */
export const VIDEO_GONE_WATCHED_MAX = 10_000

/** Milliseconds until a download begins. Decision. */
export const VIDEO_DOWNLOAD_BEGIN_MS = 30_000
/** Milliseconds between two pieces of a download. Decision. */
export const VIDEO_DOWNLOAD_STALL_MS = 30_000
/** Redirects that the download of a clip or an image follows. Decision. */
export const VIDEO_REDIRECTS_MAX = 3

/** Images of one job that Sluice downloads and sends to the provider. Decision. */
export const VIDEO_IMAGES_MAX = 10
/** Bytes of one image of a job. Decision. */
export const VIDEO_IMAGE_BYTES_MAX = 10 * MIB
/** Milliseconds in which all images of a job must have arrived. Decision. */
export const VIDEO_IMAGES_MS = 20_000

/**
 * Milliseconds that a workspace's released provider key is used before its next release, which is audited
 * again: a revoked key is not used for longer. Decision.
 */
export const VIDEO_OWN_KEY_MS = 30_000
/** Workspaces' provider keys that one runner holds at once. Decision. */
export const VIDEO_OWN_KEYS_MAX = 1_000
