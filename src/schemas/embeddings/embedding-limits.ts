import { KIB, MIB } from '../limits/limits.ts'

/** Named limits of embeddings, each with its unit and its source. */

/** Bytes of an embeddings body. C10. */
export const EMBEDDINGS_BODY_BYTES_MAX = 32 * MIB
/** Dimensions of an embedding, at least. §8. */
export const DIMENSIONS_MIN = 1
/** Dimensions that a request to `sluice/lexical-1` may ask for. Decision. */
export const LEXICAL_DIMENSIONS_MAX = 8_192
/** Dimensions of an embedding by `sluice/lexical-1` when the request names none. Decision. */
export const LEXICAL_DIMENSIONS_DEFAULT = 1_536
/** Numbers that the answer to one call of `sluice/lexical-1` may hold. Decision. */
export const LEXICAL_NUMBERS_MAX = 4 * MIB
/** Bytes of JSON of the input of one call of `sluice/lexical-1`. Decision. */
export const LEXICAL_INPUT_BYTES_MAX = MIB
/** UTF-16 units of one text of a call of `sluice/lexical-1`. Decision. */
export const LEXICAL_TEXT_UNITS_MAX = 64 * KIB
/**
 * Numbers that one job of `sluice/lexical-1` makes, in about 50 ms; a single text may need more. Decision.
 */
export const LEXICAL_SLICE_NUMBERS = 128 * KIB
/** UTF-16 units of the texts of one job of `sluice/lexical-1`; a single text may have more. Decision. */
export const LEXICAL_SLICE_UNITS = 32 * KIB
/** Calls of `sluice/lexical-1` that run at once in one front. Decision. */
export const LEXICAL_CALLS_MAX = 32
/** Calls of `sluice/lexical-1` by one organization that run at once in one front. Decision. */
export const LEXICAL_ORGANIZATION_CALLS_MAX = 16
/** Milliseconds of an embeddings call. Decision. */
export const EMBEDDINGS_DEADLINE_MS = 60_000
