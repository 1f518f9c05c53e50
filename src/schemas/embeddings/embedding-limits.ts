import { KIB, MIB } from '../limits/limits.ts'

/** Named limits of embeddings, each with its unit and its source. */

/** Bytes of an embeddings body. C10. */
export const EMBEDDINGS_BODY_BYTES_MAX = 32 * MIB
/** The fewest dimensions of an embedding. §8. */
export const DIMENSIONS_MIN = 1
/** The most dimensions that a request to `sluice/lexical-1` may name. Decision. */
export const LEXICAL_DIMENSIONS_MAX = 8_192
/** Dimensions of an embedding by `sluice/lexical-1` when the request names none. Decision. */
export const LEXICAL_DIMENSIONS_DEFAULT = 1_536
/** UTF-16 units of one text in a call of `sluice/lexical-1`. Decision. */
export const LEXICAL_TEXT_UNITS_MAX = 64 * KIB
/** Milliseconds of an embeddings call. Decision. */
export const EMBEDDINGS_DEADLINE_MS = 60_000
