/** Named limits of the records of calls to models that write, each with its unit and its source. */

/** Days that the record of a call is kept, unless SLUICE_KEEP_GENERATIONS says otherwise. D33. */
export const GENERATION_DAYS_DEFAULT = 30
/** Milliseconds that records gather before a front writes them: readers may wait 2 s. D33. */
export const GENERATIONS_FLUSH_MS = 250
/** Records that one statement writes. Decision. */
export const GENERATIONS_BATCH_ROWS = 500
/** Milliseconds that a batch may take before it counts as failed, and is written again. Decision. */
export const GENERATIONS_WRITE_MS_MAX = 5_000
/** Milliseconds between two tries while the store is away. Decision. */
export const GENERATIONS_RETRY_MS = 500
/** Records that a front holds while they cannot be written, about 1 KiB each; more are lost. Decision. */
export const GENERATIONS_WAITING_MAX = 10_000
/** Records of one organization among them. Decision. */
export const GENERATIONS_ORGANIZATION_WAITING_MAX = 5_000
/** Characters of an id in `GET /generation`; also of a provider's own id that is kept. Decision. */
export const GENERATION_ID_CHARS_MAX = 128
