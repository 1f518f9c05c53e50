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
/** UTF-16 units of one text of a call of `sluice/lexical-1`. Decision. */
export const LEXICAL_TEXT_UNITS_MAX = 64 * KIB
/** Milliseconds of an embeddings call. Decision. */
export const EMBEDDINGS_DEADLINE_MS = 60_000
