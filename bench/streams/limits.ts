/** Limits of a load test of the streams of a running deployment, which may have other users. */

/** Streams at once. Decision. */
export const STREAMS_MAX = 4_096
/** Calls a second. Decision. */
export const STREAM_RATE_MAX = 2_000
/** Rates of a ramp. Decision. */
export const STREAM_RATES_MAX = 20
/** Seconds of one cell. Decision. */
export const STREAM_CELL_SECONDS_MAX = 3_600
/** Seconds of all cells together: a longer test is refused before it begins. Decision. */
export const STREAMS_SECONDS_MAX = 14_400
/** Seconds after a cell in which begun streams may end. Streams that are open after it are left out. Decision. */
export const STREAM_DRAIN_SECONDS = 30
/** The same after a stop, shorter than the time in which the suite ends its scenarios by force. Decision. */
export const STREAM_STOP_SECONDS = 8
/** Milliseconds after a call was sent in which the end of a kept connection is taken for one that crossed it. Decision. */
export const STALE_MS_MAX = 1_000
/** Milliseconds of one call from its first byte to its last: a longer one counts as failed. Decision. */
export const STREAM_CALL_MS_MAX = 600_000
/** Milliseconds without a byte of an answer after which a call counts as failed. Decision. */
export const STREAM_SILENCE_MS_MAX = 120_000
/** Tokens of a drawn prompt or answer. Decision. */
export const DRAWN_TOKENS_MAX = 100_000
/** Lines of `--prompts`. Decision. */
export const PROMPTS_MAX = 10_000
/** Bytes of the file of `--prompts`. Decision. */
export const PROMPTS_BYTES_MAX = 256_000_000
/** Bytes of an answer other than 200 that are read for its message. Decision. */
export const REFUSAL_BYTES_MAX = 65_536
/** Samples below which p99.9 is the time of a few calls, and is left out. Decision. */
export const P99_9_SAMPLES_MIN = 10_000
/** Slots of time that a cell is drawn in. Decision. */
export const TIME_SLOTS = 60
/** Milliseconds between two live lines. Decision. */
export const LIVE_MS = 5_000
