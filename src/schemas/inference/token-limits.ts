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
/**
 * Tokens of one picture, as the bound of a call counts them: the most that a provider is known to charge is
 * 48,169. Decision.
 */
export const PICTURE_TOKENS_MAX = 65_536
/** Tokens of one kind that a provider can tell of a call: a higher figure is a mistake. Decision. */
export const TOKENS_TOLD_MAX = 67_108_864
/** Searches of the web that a provider can tell of a call: a higher figure counts as this. Decision. */
export const SEARCHES_TOLD_MAX = 10_000
/** Finished calls of an endpoint whose tokens per byte an estimate follows. D26. */
export const RATE_CALLS_MAX = 64
/** Tokens of an answer of usual length, by which `sort: price` compares endpoints. Decision. */
export const OUTPUT_TOKENS_USUAL = 512
/** Bytes of a token before an endpoint has finished a call. D26. */
export const BYTES_PER_TOKEN = 4
