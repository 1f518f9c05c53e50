/** Named limits of models, each with its unit and its source. */

/** Names in one list of the provider preferences. Decision. */
export const PREFERENCE_NAMES_MAX = 64
/** Models of a page. B2.3. */
export const MODELS_PAGE_MAX = 1_000
/** Models of a page when the request names no number. B2.3. */
export const MODELS_PAGE_DEFAULT = 500
/** Characters of the search text in the query of a model list. Decision. */
export const MODELS_WORDS_CHARS_MAX = 256
/** Characters of one list of names in the query of a model list. Decision. */
export const MODELS_NAMES_CHARS_MAX = 2_048
