/** Named limits of calls to text models, each with its unit and its source. */

import { MIB } from '../limits/limits.ts'

/** Bytes of the body of one call, with its pictures and files in base64. D12. */
export const INFERENCE_BODY_BYTES_MAX = 32 * MIB
/** Nesting levels of such a body; the outermost value is level 1. D12. */
export const INFERENCE_DEPTH_MAX = 128
/**
 * Bytes of a request, an answer or an event up to which it is translated on the loop, which takes about 1 ms;
 * a thread translates larger ones. Decision.
 */
export const TRANSLATED_INLINE_BYTES_MAX = 64 * 1024
/** Messages of one call. D12. */
export const MESSAGES_MAX = 4_096
/** Tools of one call. D12. */
export const TOOLS_MAX = 1_024
/** The most answer tokens, and the most tool calls, that a call may request: integers are exact up to this number. Decision. */
export const ASKED_MAX = Number.MAX_SAFE_INTEGER
/** Models that are tried after the first (`models`). D11. */
export const FALLBACK_MODELS_MAX = 8
/** Endpoints that a call may try. D18. */
export const ATTEMPTS_MAX = 8
/** Answers to one call (`n`). D4. */
export const CHOICES_MAX = 8
/** The fewest consecutive characters of the request that count as a quote, which a provider's message must not contain. D37. */
export const QUOTED_CHARS_MIN = 24
/** Stop texts of one call (`stop`). D4. */
export const STOPS_MAX = 16
/** Files of the workspace that one call may refer to by id, including repetitions. Decision. */
export const INLINE_FILES_MAX = 32
/** Bytes of a file that a call refers to by id. D31. */
export const INLINE_FILE_BYTES_MAX = 20 * MIB
/** Bytes of a medium that Sluice fetches. D31. */
export const FETCHED_MEDIUM_BYTES_MAX = 20 * MIB
/** Milliseconds within which a medium must be fetched. D31. */
export const FETCHED_MEDIUM_MS = 10_000
/** Milliseconds until a whole answer is complete, or until the headers of a streamed answer. D17. */
export const INFERENCE_DEADLINE_MS = 600_000
/**
 * UTF-16 units of the last text that `sluice/echo-1` repeats: a call keeps the text and its answers in memory
 * while its client does not read. Decision.
 */
export const ECHO_UNITS_MAX = 16_384
/** Milliseconds that a provider may take to count tokens. Decision. */
export const COUNT_DEADLINE_MS = 60_000
/** Milliseconds between two words of `sluice/echo-1:slow`. D35. */
export const ECHO_SLOW_MS = 50

/** Days for which the record of a call is kept, unless SLUICE_KEEP_GENERATIONS is set. D33. */
export const GENERATION_DAYS_DEFAULT = 30
/** Milliseconds for which a front collects records before it writes them; readers may have to wait 2 s. D33. */
export const GENERATIONS_FLUSH_MS = 250
/** Characters of an id in `GET /generation`, and of a provider's id that is stored. Decision. */
export const GENERATION_ID_CHARS_MAX = 128
