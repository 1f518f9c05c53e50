/** Named limits of a catalogue's video models, each with its unit and its source. */

/** Seconds of one video that a catalogue may advertise. Decision. */
export const VIDEO_SECONDS_MAX = 3_600
/** USD of one `pricing_skus` entry: with VIDEO_SECONDS_MAX a cost is a safe integer of nano-USD. Decision. */
export const VIDEO_PRICE_USD_MAX = 1_000
/** Seconds of a video when neither the request nor the model names a number. Decision. */
export const VIDEO_SECONDS_DEFAULT = 5
/** Polls of one provider per second, by the whole installation, when the catalogue names no number. Decision. */
export const VIDEO_POLLS_PER_SECOND_DEFAULT = 10
/** Polls of the `local` provider per second when the catalogue names no number; these polls stay inside the process. Decision. */
export const VIDEO_LOCAL_POLLS_PER_SECOND_DEFAULT = 200
/** Polls of one provider per second that a catalogue may allow. Decision. */
export const VIDEO_POLLS_PER_SECOND_MAX = 10_000
/** Milliseconds before a job's first poll. */
export const VIDEO_POLL_FIRST_MS_DEFAULT = 5_000
/** Milliseconds between two later polls of a job. OpenAI asks for 10 to 20 s; Google's examples wait 10 s. */
export const VIDEO_POLL_MAX_MS_DEFAULT = 20_000
/** Milliseconds before the first poll of a job at `local`, whose clips take seconds. Decision. */
export const VIDEO_LOCAL_POLL_FIRST_MS_DEFAULT = 250
/** Milliseconds between two later polls of a job at `local`. Decision. */
export const VIDEO_LOCAL_POLL_MAX_MS_DEFAULT = 1_000
/** Milliseconds between two polls that a catalogue may set. Decision. */
export const VIDEO_POLL_MS_MAX = 600_000
/** Milliseconds of one submission, which may contain reference images. Decision. */
export const VIDEO_SUBMIT_TIMEOUT_MS_DEFAULT = 60_000
/** Calls of one runner in flight at one provider when the catalogue names no number. Decision. */
export const VIDEO_CONCURRENCY_DEFAULT = 32
/** Calls of one runner in flight at `local`, which shares its workers with all other short jobs. Decision. */
export const VIDEO_LOCAL_CONCURRENCY_DEFAULT = 4
/** Calls of one runner in flight at one provider that a catalogue may allow. Decision. */
export const VIDEO_CONCURRENCY_MAX = 1_000
