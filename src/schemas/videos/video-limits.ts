/** Open jobs of one workspace; further ones fail with `video_jobs_full`. Decision. */
export const VIDEO_JOBS_OPEN_MAX = 20_000
/**
 * Characters of the requests of one workspace's open jobs, including images in `data:` URLs; a single job may
 * be larger. Decision.
 */
export const VIDEO_OPEN_CHARS_MAX = 1_073_741_824

/** Milliseconds for which a runner's claim on a job lasts without renewal; after them, other runners take the jobs of a stopped runner. Decision. */
export const VIDEO_LEASE_MS = 10_000
/** Milliseconds between two rounds in which a runner renews its claims; each claim is renewed in every second round. Decision. */
export const VIDEO_RENEW_ROUND_MS = 2_500
/** Milliseconds that a call waits for the live view in Redis. Decision. */
export const VIDEO_VIEW_MS_MAX = 100
/** Bytes of one clip that are accepted from a provider. Decision. */
export const VIDEO_CLIP_BYTES_MAX = 536_870_912
/** Clips of one job. Decision. */
export const VIDEO_CLIPS_MAX = 10
/** Characters of a failed job's error text. Decision. */
export const VIDEO_ERROR_CHARS_MAX = 500

/** Milliseconds before the end of a lease in which a runner no longer writes or calls for the job. Decision. */
export const VIDEO_LEASE_MARGIN_MS = 500
/** Milliseconds between two checks for due jobs that were not announced. Decision. */
export const VIDEO_SWEEP_MS = 1_000
/** Open jobs of one provider that one runner holds. Decision. */
export const VIDEO_HELD_MAX = 20_000
/** Open jobs of one provider that one claim takes. Decision. */
export const VIDEO_CLAIMED_AT_ONCE = 200
/** Milliseconds after a submission's timeout in which its job may still appear in the provider's list. Design §7. */
export const VIDEO_LOOKUP_QUIET_MS = 60_000
/** Milliseconds by which a provider's clock may be late: the search of a provider's list begins this much earlier. Decision. */
export const VIDEO_LOOKUP_SKEW_MS = 300_000
/** Milliseconds of a poll, a read of a provider's list, or a call to cancel. Decision. */
export const VIDEO_CALL_MS_MAX = 15_000
/** Milliseconds within which the bytes of a job's clips must arrive. Decision. */
export const VIDEO_STORE_MS_MAX = 900_000
/** Jobs of one provider whose clips one runner fetches at once. Decision. */
export const VIDEO_STORES_MAX = 8
/** Milliseconds of the first wait after a failure. Decision. */
export const VIDEO_BACKOFF_FIRST_MS = 250
/** Milliseconds of the longest wait after a failure. Decision. */
export const VIDEO_BACKOFF_MAX_MS = 30_000
/** Milliseconds of a provider's `Retry-After` that Sluice honors. Decision. */
export const VIDEO_RETRY_AFTER_MS_MAX = 600_000
/** Milliseconds that a job waits for a runner whose catalogue has the job's provider. Decision. */
export const VIDEO_UNKNOWN_PROVIDER_MS = 600_000
/** Milliseconds between two checks whether a job's provider is in the catalogue. Decision. */
export const VIDEO_UNKNOWN_LOOK_MS = 10_000
/** Leases that one statement renews or returns. Decision. */
export const VIDEO_RENEWED_AT_ONCE = 2_000
/** Ended jobs that one transaction records together. Decision. */
export const VIDEO_ENDS_AT_ONCE = 64

/** Characters of a prompt. Decision: about as many as the most generous provider accepts. */
export const VIDEO_PROMPT_CHARS_MAX = 32_000
/** Images of `frame_images`: one of each type. B1.1. */
export const VIDEO_FRAMES_MAX = 2
/** Characters of an `https:` URL of a frame or reference, or of a clip at its provider. Decision. */
export const VIDEO_URL_CHARS_MAX = 8_192
/** Characters of a job's id. Decision. */
export const VIDEO_ID_CHARS_MAX = 64
/** Jobs of a page. C27. */
export const VIDEOS_PAGE_MAX = 100
/** Jobs of a page when the request names no number. C27. */
export const VIDEOS_PAGE_DEFAULT = 50
/** Interrupted downloads of a clip after which its job fails. Decision. */
export const VIDEO_STORE_TRIES_MAX = 5
/** Live views that one round writes again after Redis has lost or missed them. Decision. */
export const VIDEO_VIEWS_PUT_AT_ONCE = 100
/** Milliseconds of one round that writes live views again. Decision. */
export const VIDEO_VIEWS_AGAIN_MS_MAX = 2_000
/** Milliseconds between two rounds that write live views again. Decision. */
export const VIDEO_VIEWS_PAUSE_MS = 10
/** Milliseconds between two checks for expired clips. Decision. */
export const VIDEO_EXPIRE_MS = 60_000
