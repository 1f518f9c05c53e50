/** Named limits of what a catalogue may say of video, like those of limits.ts. */

/** Seconds of one video that a catalogue may advertise. Decision. */
export const VIDEO_SECONDS_MAX = 3_600
/**
 * USD of one `pricing_skus` entry; with VIDEO_SECONDS_MAX a cost stays a safe integer of nano-USD. Decision.
 */
export const VIDEO_PRICE_USD_MAX = 1_000
/** Seconds of a request that names none, where the model names none. Decision. */
export const VIDEO_SECONDS_DEFAULT = 5
/**
 * Polls of one provider by the whole installation in a second, unless its entry says otherwise; the `local`
 * one asks nobody. Decision.
 */
export const VIDEO_POLLS_PER_SECOND_DEFAULT = 10
export const VIDEO_LOCAL_POLLS_PER_SECOND_DEFAULT = 200
export const VIDEO_POLLS_PER_SECOND_MAX = 10_000
/**
 * Milliseconds before a job's first poll and between two later ones, at most. OpenAI asks for 10 to 20 s
 * between two, Google's examples wait 10 s.
 */
export const VIDEO_POLL_FIRST_MS_DEFAULT = 5_000
export const VIDEO_POLL_MAX_MS_DEFAULT = 20_000
/** Of `local`, whose clips take seconds. Decision. */
export const VIDEO_LOCAL_POLL_FIRST_MS_DEFAULT = 250
export const VIDEO_LOCAL_POLL_MAX_MS_DEFAULT = 1_000
/** Milliseconds that a catalogue may put between two polls. Decision. */
export const VIDEO_POLL_MS_MAX = 600_000
/** Milliseconds of one submission: reference images may travel in it. Decision. */
export const VIDEO_SUBMIT_TIMEOUT_MS_DEFAULT = 60_000
/** Calls that one runner has under way at one provider. Decision. */
export const VIDEO_CONCURRENCY_DEFAULT = 32
/** Of `local`, which shares its workers with every other short job. Decision. */
export const VIDEO_LOCAL_CONCURRENCY_DEFAULT = 4
export const VIDEO_CONCURRENCY_MAX = 1_000
