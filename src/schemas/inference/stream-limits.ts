import { MIB } from '../limits/limits.ts'

/** Named limits of streamed answers, each with its unit and its source. */

/** Bytes of events that a stream keeps for a slow client, in addition to those in the socket. D19. */
export const STREAM_HELD_BYTES_MAX = 64 * 1024
/**
 * Bytes of such events waiting to be written above which the stream's source is not read. Bytes that the
 * source's connection has already received wait there and count toward the 64 KiB. Decision.
 */
export const STREAM_WAITING_BYTES_MAX = 8 * 1024
/** Milliseconds of silence after which a stream writes a comment or a ping. D16. */
export const STREAM_SILENCE_MS = 10_000
/** Milliseconds for sending the last event of a broken stream. D21. */
export const STREAM_LAST_EVENT_MS_MAX = 5_000
/** Bytes of one event of a provider's stream; a picture is sent in a single event. D12. */
export const STREAM_EVENT_BYTES_MAX = 16 * MIB
/** Bytes of an event that is parsed and rewritten on the loop, in about 10 ms; a larger one must already be regular. Decision. */
export const STREAM_MENDED_BYTES_MAX = MIB
/** Total bytes of a provider's stream, including comments. D12. */
export const STREAM_BYTES_MAX = 128 * MIB
/**
 * UTF-8 bytes of text, reasoning, arguments and signatures of a stream that is translated to responses, whose
 * last event repeats them all: they stay in memory until then. D12.
 */
export const RESPONSE_KEPT_BYTES_MAX = 4 * MIB
/** Milliseconds that a stream may take. D17. */
export const STREAM_MS_MAX = 3_600_000
/**
 * Milliseconds without output after which the headers of a streamed answer are sent with a comment, unless
 * SLUICE_STREAM_HOLD_MS is set; fallback remains possible afterwards. D15.
 */
export const STREAM_HOLD_MS_DEFAULT = 10_000
/** Milliseconds between two reports of an open stream's progress to the journal. D28. */
export const PROGRESS_MS = 1_000
/** Milliseconds of further output, at the current rate, that a stream adds to its reported progress. D28. */
export const PROGRESS_AHEAD_MS = 2_000
/**
 * Milliseconds from the first output to the first report of a stream, and the shortest time from which its
 * rate is computed: a shorter time gives no meaningful rate. Decision.
 */
export const PROGRESS_RATE_MS_MIN = 200
/** Streams of one front that are read to their end although their callers have disconnected. D27. */
export const DRAINS_MAX = 256
/** Milliseconds for which such a stream is read. D27. */
export const DRAIN_MS_MAX = 120_000
/**
 * Milliseconds for which Sluice still waits for the usage of a complete output after the caller has
 * disconnected, for a provider whose stream is otherwise cancelled then. D27.
 */
export const USAGE_MS_MAX = 5_000
/**
 * Lines of a provider's stream that belong to no event, such as comments: a bucket that is refilled with
 * STRAY_LINES_PER_S over time, and with STRAY_LINES_PER_EVENT by each event. A stream that empties it is
 * invalid. Decision.
 */
export const STRAY_LINES_MAX = 10_000
/** Such lines a second. Decision. */
export const STRAY_LINES_PER_S = 100
/** Such lines for each event: its id, its retry time, a comment. Decision. */
export const STRAY_LINES_PER_EVENT = 4
/**
 * Events of a provider's stream without output: a bucket that is refilled with BARE_EVENTS_PER_S. A stream
 * that empties it is invalid. Decision.
 */
export const BARE_EVENTS_MAX = 100_000
/** Such events a second. Decision. */
export const BARE_EVENTS_PER_S = 10_000
