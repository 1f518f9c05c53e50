/** Open jobs of one workspace; `video_jobs_full` beyond. Decision. */
export const VIDEO_JOBS_OPEN_MAX = 20_000
/**
 * Characters of what the open jobs of one workspace ask for, images in `data:` URLs among them; a single job
 * may be larger. Decision.
 */
export const VIDEO_OPEN_CHARS_MAX = 1_073_741_824

/**
 * Milliseconds that a runner's claim of a job lasts, unless it is renewed: a runner that stops loses its jobs
 * after that. Decision.
 */
export const VIDEO_LEASE_MS = 10_000
/** Milliseconds between two renewals. Decision. */
export const VIDEO_RENEW_MS = 2_500
/** Milliseconds that a call waits for the live view in Redis. Decision. */
export const VIDEO_VIEW_MS_MAX = 100
/** Bytes of one clip that are taken of a provider. Decision. */
export const VIDEO_CLIP_BYTES_MAX = 536_870_912
/**
 * Bytes of room that a clip must find before it is fetched: how long it will be nobody says, and most are far
 * below the most. Decision.
 */
export const VIDEO_CLIP_ROOM_BYTES = 67_108_864
/** Clips of one job. Decision. */
export const VIDEO_CLIPS_MAX = 10
/** Characters of a failed job's text. Decision. */
export const VIDEO_ERROR_CHARS_MAX = 500

/**
 * Milliseconds before the end of a lease from which on nothing is written or called for its job any more.
 * Decision.
 */
export const VIDEO_LEASE_MARGIN_MS = 500
/** Milliseconds between two looks for due jobs of which nobody told. Decision. */
export const VIDEO_SWEEP_MS = 1_000
/** Open jobs of one provider that one runner holds, and those that one claim takes of it. Decision. */
export const VIDEO_HELD_MAX = 20_000
export const VIDEO_CLAIMED_AT_ONCE = 200
/**
 * Milliseconds after a submission's time-out in which its job may still turn up in the provider's list.
 * Design §7.
 */
export const VIDEO_LOOKUP_QUIET_MS = 60_000
/**
 * Milliseconds by which a provider's clock may be behind: jobs that it lists are looked at from so much
 * earlier. Decision.
 */
export const VIDEO_LOOKUP_SKEW_MS = 300_000
/** Milliseconds of a poll, a look at a provider's list, or a call to cancel. Decision. */
export const VIDEO_CALL_MS_MAX = 15_000
/** Milliseconds in which the bytes of a job's clips must have come. Decision. */
export const VIDEO_STORE_MS_MAX = 900_000
/** Jobs of one provider whose clips one runner fetches at once. Decision. */
export const VIDEO_STORES_MAX = 8
/** Milliseconds of the first wait after something failed, and of the longest. Decision. */
export const VIDEO_BACKOFF_FIRST_MS = 250
export const VIDEO_BACKOFF_MAX_MS = 30_000
/** Milliseconds that a provider may ask us to wait. Decision. */
export const VIDEO_RETRY_AFTER_MS_MAX = 600_000
/**
 * Milliseconds that a job of a provider which the catalogue does not know waits for a runner that knows it,
 * and between two looks. Decision.
 */
export const VIDEO_UNKNOWN_PROVIDER_MS = 600_000
export const VIDEO_UNKNOWN_LOOK_MS = 10_000
/** Polls of a provider that may come at once are those of so many milliseconds, at least one. Decision. */
export const VIDEO_POLL_BURST_MS = 100
/**
 * Milliseconds by which a poll may take longer to its provider than one behind it: polls of so long may come
 * into the next second. Decision.
 */
export const VIDEO_POLL_LAG_MS = 50
/**
 * Milliseconds that the live view of an open job is kept: for so long a view that stayed behind may mislead.
 * Decision.
 */
export const VIDEO_VIEW_OPEN_MS = 600_000
/** Milliseconds that the live view of an ended job is kept; behind that its row is read. Decision. */
export const VIDEO_VIEW_ENDED_MS = 3_600_000
/** Views that wait in a process for Redis to come back. Decision. */
export const VIDEO_VIEWS_LATE_MAX = 20_000
/** Milliseconds behind a loss of Redis in which only views of ended jobs are believed. Decision. */
export const VIDEO_VIEW_DOUBT_MS = 3_000
/** Jobs of one front that wait to be accepted, and bytes of what they ask for; `busy` beyond. Decision. */
export const VIDEO_ACCEPTS_WAITING_MAX = 4_096
export const VIDEO_ACCEPTS_BYTES_MAX = 67_108_864
/**
 * Jobs that one transaction accepts, and bytes of what they ask for; a single one may be larger. Decision.
 */
export const VIDEO_BATCH_JOBS_MAX = 64
export const VIDEO_BATCH_BYTES_MAX = 8_388_608
/** Milliseconds that a transaction which accepts jobs may take. Decision. */
export const VIDEO_ACCEPT_MS_MAX = 5_000
/**
 * Milliseconds for which a front believes its count of a workspace's open jobs, its own acceptances added.
 * Decision.
 */
export const VIDEO_OPEN_COUNTED_MS = 1_000
/** Workspaces of which a front remembers such a count. Decision. */
export const VIDEO_OPEN_COUNTS_MAX = 1_000
/** Leases that one statement renews or gives back. Decision. */
export const VIDEO_RENEWED_AT_ONCE = 2_000
/** Ends of jobs that one transaction books together. Decision. */
export const VIDEO_ENDS_AT_ONCE = 64
/** Milliseconds that the booking of ended jobs may take. Decision. */
export const VIDEO_END_MS_MAX = 15_000
/**
 * Milliseconds for which jobs that have ended are shown anew to pollers once a lost Redis is back. Decision.
 */
export const VIDEO_RECENT_MS = 600_000

/** Of the settings SLUICE_VIDEO_JOB_HOURS and SLUICE_VIDEO_CLIP_DAYS. Decision. */
export const VIDEO_JOB_HOURS_MAX = 720
export const VIDEO_CLIP_DAYS_MAX = 3_650

/** Characters of a prompt. Decision: about what the longest of the providers takes. */
export const VIDEO_PROMPT_CHARS_MAX = 32_000
/** Images of `frame_images`: one of each type. B1.1. */
export const VIDEO_FRAMES_MAX = 2
/** Entries of `input_references`. Decision. */
export const VIDEO_REFERENCES_MAX = 16
/**
 * Characters of an `https:` URL of a frame or reference, or of where a provider says that a clip lies.
 * Decision.
 */
export const VIDEO_URL_CHARS_MAX = 8_192
/** Characters of a `data:` URL: what a body of JSON_BODY_BYTES_MAX has room for beside the rest. Decision. */
export const VIDEO_DATA_URL_CHARS_MAX = 4_000_000
/** Bytes, as JSON, of what of `provider.options` is passed on. Decision. */
export const VIDEO_PASSTHROUGH_BYTES_MAX = 65_536
/** Characters of `user`. Decision: as §8 has it for responses. */
export const VIDEO_USER_CHARS_MAX = 256
/** Characters of a job's id. Decision. */
export const VIDEO_ID_CHARS_MAX = 64
/** Jobs of a page. C27. */
export const VIDEOS_PAGE_MAX = 100
export const VIDEOS_PAGE_DEFAULT = 50
/** Times that a clip may break off before its job fails. Decision. */
export const VIDEO_STORE_TRIES_MAX = 5
/**
 * Live views that are put at once when Redis has lost or missed them, milliseconds that it may take for them,
 * and between two such rounds. Decision.
 */
export const VIDEO_VIEWS_PUT_AT_ONCE = 100
export const VIDEO_VIEWS_AGAIN_MS_MAX = 2_000
export const VIDEO_VIEWS_PAUSE_MS = 10
/** Milliseconds that a runner waits for Redis to grant polls before it takes its own share. Decision. */
export const VIDEO_POLL_ASK_MS_MAX = 250
/**
 * Milliseconds between two looks for clips whose time is over, and clips that one statement takes. Decision.
 */
export const VIDEO_EXPIRE_MS = 60_000
export const VIDEO_CLIPS_EXPIRED_AT_ONCE = 500
