/** Named limits of calls to models that write, each with its unit and its source. */

import { MIB } from '../limits/limits.ts'

/** Bytes of the body of one call, with its pictures and files in base64. D12. */
export const INFERENCE_BODY_BYTES_MAX = 32 * MIB
/** Nesting levels of such a body; the outermost value is level 1. D12. */
export const INFERENCE_DEPTH_MAX = 128
/**
 * Bytes of a request, an answer or an event that is translated on the loop, in about a millisecond; a thread
 * translates larger ones. Decision.
 */
export const TRANSLATED_INLINE_BYTES_MAX = 64 * 1024
/** Messages of one call. D12. */
export const MESSAGES_MAX = 4_096
/** Tools of one call. D12. */
export const TOOLS_MAX = 1_024
/** Tokens of an answer, and calls of tools, that a call asks for at most: numbers are exact up to there. Decision. */
export const ASKED_MAX = Number.MAX_SAFE_INTEGER
/** Models that are tried after the first (`models`). D11. */
export const FALLBACK_MODELS_MAX = 8
/** Endpoints that a call may try. D18. */
export const ATTEMPTS_MAX = 8
/** Answers to one call (`n`). D4. */
export const CHOICES_MAX = 8
/** Characters of the request from which on a provider's message may not quote them. D37. */
export const QUOTED_CHARS_MIN = 24
/** Texts at which an answer stops (`stop`). D4. */
export const STOPS_MAX = 16
/** Files of the workspace that one call names by their ids, repeated ones included. Decision. */
export const INLINE_FILES_MAX = 32
/** Bytes of a file that a call names by its id. D31. */
export const INLINE_FILE_BYTES_MAX = 20 * MIB
/** Bytes of a medium that Sluice fetches. D31. */
export const FETCHED_MEDIUM_BYTES_MAX = 20 * MIB
/** Milliseconds in which a medium has to be fetched. D31. */
export const FETCHED_MEDIUM_MS = 10_000
/** Milliseconds that a call may take until its answer is whole, or until the head of a streamed one. D17. */
export const INFERENCE_DEADLINE_MS = 600_000
/**
 * UTF-16 units of the last text that `sluice/echo-1` repeats: a call holds them, and its answers, while its
 * client does not read. Decision.
 */
export const ECHO_UNITS_MAX = 16_384
/** Milliseconds that a provider's count of tokens may take. Decision. */
export const COUNT_DEADLINE_MS = 60_000
/** Milliseconds between two words of `sluice/echo-1:slow`. D35. */
export const ECHO_SLOW_MS = 50

/** Days that the record of a call is kept, unless SLUICE_KEEP_GENERATIONS says otherwise. D33. */
export const GENERATION_DAYS_DEFAULT = 30
/** Milliseconds that records gather before a front writes them: readers may wait 2 s. D33. */
export const GENERATIONS_FLUSH_MS = 250
/** Characters of an id in `GET /generation`; also of a provider's own id that is kept. Decision. */
export const GENERATION_ID_CHARS_MAX = 128
