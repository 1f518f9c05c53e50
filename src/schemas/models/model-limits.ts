/** Named limits of model, each once, with its unit and its source. */

/** Names in one list of the provider preferences. Decision. */
export const PREFERENCE_NAMES_MAX = 64
/** Page sizes of model lists. B2.3. */
export const MODELS_PAGE_MAX = 1_000
export const MODELS_PAGE_DEFAULT = 500
/** Characters of the words and of one list of names in the query of a model list. Decision. */
export const MODELS_WORDS_CHARS_MAX = 256
export const MODELS_NAMES_CHARS_MAX = 2_048
/**
 * Filters of model lists whose results a front keeps, and models in all of them together (8 bytes each).
 * Decision.
 */
export const MODEL_SELECTIONS_CACHED_MAX = 1_000
export const MODELS_SELECTED_CACHED_MAX = 500_000
