/** Named limits of tokens of calls to models that write, each with its unit and its source. */

/** Tokens that a provider adds to a message or a tool at most, as the bound of a call counts them. D25. */
export const TOKENS_ADDED_EACH_MAX = 8
/** Tokens that a provider adds to a call with tools or a form of answer at most, for its bound. D25. */
export const TOKENS_ADDED_FORMS_MAX = 1_024
/**
 * Tokens that a tool of a translated call has more than its caller wrote, at most: a tool whose input is a text
 * becomes a function with a schema of 161 characters. D25.
 */
export const TOKENS_TRANSLATED_TOOL_MAX = 128
/** Tokens of one kind that a provider can report for a call: a higher figure is a mistake. Decision. */
export const REPORTED_TOKENS_MAX = 67_108_864
/** Tokens of a picture in an estimate, and of one with `detail: low`. D26. */
export const PICTURE_TOKENS_ESTIMATED = 1_100
export const SMALL_PICTURE_TOKENS_ESTIMATED = 85
/** Bytes of a page of a document in an estimate, and its tokens. D26. */
export const PAGE_BYTES_ESTIMATED = 50 * 1_024
export const PAGE_TOKENS_ESTIMATED = 1_500
/** Pages of a document that is named by an address or an id, in an estimate. D26. */
export const PAGES_BY_ADDRESS_ESTIMATED = 10
/** Bytes of a sound for each of its tokens in an estimate, and tokens of one by address. D26. */
export const SOUND_BYTES_PER_TOKEN = 500
export const SOUND_BY_ADDRESS_TOKENS_ESTIMATED = 1_000
/** Bytes of a video for each of its tokens in an estimate, and tokens of one by address. D26. */
export const VIDEO_BYTES_PER_TOKEN = 800
export const VIDEO_BY_ADDRESS_TOKENS_ESTIMATED = 20_000
/** Tokens of 100 bytes of text that an estimate may learn: what lies outside is no ordinary text. D26. */
export const TOKENS_PER_100_BYTES_MIN = 15
export const TOKENS_PER_100_BYTES_MAX = 50
/** Bytes of the prompt of a call that an estimate learns from. D26. */
export const TAUGHT_PROMPT_BYTES_MIN = 200
export const TAUGHT_PROMPT_BYTES_MAX = 256 * 1_024
/** Calls after which an estimate follows what they have taught. D26. */
export const TAUGHT_CALLS_MIN = 8
/** Organizations and endpoints for which a front keeps what it has learned, the last used ones. D26. */
export const TAUGHT_PAIRS_MAX = 4_096
/** Tokens that a model thinks in a second, before its calls have taught it. D26. */
export const REASONING_TOKENS_PER_SECOND = 50
/** Bytes of a token before the calls of an organization have taught it. D26. */
export const BYTES_PER_TOKEN = 4
