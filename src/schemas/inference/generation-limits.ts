/** Named limits of the records of calls to models that write, each with its unit and its source. */

/** Days that the record of a call is kept, unless SLUICE_KEEP_GENERATIONS says otherwise. D33. */
export const GENERATION_DAYS_DEFAULT = 30
/** Milliseconds that records gather before a front writes them: readers may wait 2 s. D33. */
export const GENERATIONS_FLUSH_MS = 250
/** Characters of an id in `GET /generation`; also of a provider's own id that is kept. Decision. */
export const GENERATION_ID_CHARS_MAX = 128
