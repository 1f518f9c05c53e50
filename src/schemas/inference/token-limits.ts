/** Named token limits of calls to text models, each with its unit and its source. */

/** The most tokens that a provider adds to a message or a tool, for the bound of a call. D25. */
export const TOKENS_ADDED_EACH_MAX = 8
/** The most tokens that a provider adds to a call with tools or an answer format, for its bound. D25. */
export const TOKENS_ADDED_FORMS_MAX = 1_024
/**
 * The most tokens that translation adds to a tool: a tool whose input is a text becomes a function with a
 * schema of 161 characters. D25.
 */
export const TOKENS_TRANSLATED_TOOL_MAX = 128
/** The most tokens of one kind that a provider can report for a call; a higher figure is a mistake. Decision. */
export const REPORTED_TOKENS_MAX = 67_108_864
/** Estimated tokens of a picture, and of a picture with `detail: low`. D26. */
export const PICTURE_TOKENS_ESTIMATED = 1_100
export const SMALL_PICTURE_TOKENS_ESTIMATED = 85
/** Estimated bytes of a document page, and the estimated tokens of a page. D26. */
export const PAGE_BYTES_ESTIMATED = 50 * 1_024
export const PAGE_TOKENS_ESTIMATED = 1_500
/** Estimated pages of a document that is given by address or id. D26. */
export const PAGES_BY_ADDRESS_ESTIMATED = 10
/** Bytes of a sound for each of its tokens in an estimate, and the estimated tokens of a sound given by URL. D26. */
export const SOUND_BYTES_PER_TOKEN = 500
export const SOUND_BY_ADDRESS_TOKENS_ESTIMATED = 1_000
/** Bytes of a video for each of its tokens in an estimate, and the estimated tokens of a video given by URL. D26. */
export const VIDEO_BYTES_PER_TOKEN = 800
export const VIDEO_BY_ADDRESS_TOKENS_ESTIMATED = 20_000
/** Bounds of the tokens per 100 bytes of text that an estimate may learn; values outside are not from ordinary text. D26. */
export const TOKENS_PER_100_BYTES_MIN = 15
export const TOKENS_PER_100_BYTES_MAX = 50
/** The fewest prompt bytes of a call that an estimate learns from. D26. */
export const TAUGHT_PROMPT_BYTES_MIN = 200
export const TAUGHT_PROMPT_BYTES_MAX = 256 * 1_024
/** Calls after which an estimate uses the learned values. D26. */
export const TAUGHT_CALLS_MIN = 8
/** Pairs of organization and endpoint for which a front keeps learned values; the least recently used pair is removed first. D26. */
export const TAUGHT_PAIRS_MAX = 4_096
/** Reasoning tokens of a model per second, until a value is learned from its calls. D26. */
export const REASONING_TOKENS_PER_SECOND = 50
/** Bytes of a token, until a value is learned from the calls of an organization. D26. */
export const BYTES_PER_TOKEN = 4
