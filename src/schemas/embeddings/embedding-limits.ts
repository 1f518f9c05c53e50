import { KIB, MIB } from '../limits/limits.ts'

/** Named limits of embedding, each once, with its unit and its source. */

/** Bytes of an embeddings body. C10. */
export const EMBEDDINGS_BODY_BYTES_MAX = 32 * MIB
/** Least embedding dimensions. §8. */
export const DIMENSIONS_MIN = 1
/**
 * Dimensions of `sluice/lexical-1`: any number up to the most, and what it answers when none is asked.
 * Decision.
 */
export const LEXICAL_DIMENSIONS_MAX = 8_192
export const LEXICAL_DIMENSIONS_DEFAULT = 1_536
/**
 * What one call of `sluice/lexical-1` may ask for: numbers in all, bytes of JSON, UTF-16 units of a text.
 * Decision.
 */
export const LEXICAL_NUMBERS_MAX = 4 * MIB
export const LEXICAL_INPUT_BYTES_MAX = MIB
export const LEXICAL_TEXT_UNITS_MAX = 64 * KIB
/**
 * Numbers and UTF-16 units of one of its jobs, about 50 ms, unless one text has more; calls at once, of all
 * and of one caller. Decision.
 */
export const LEXICAL_SLICE_NUMBERS = 128 * KIB
export const LEXICAL_SLICE_UNITS = 32 * KIB
export const LEXICAL_CALLS_MAX = 32
export const LEXICAL_ORGANIZATION_CALLS_MAX = 16
/** Milliseconds of an embeddings call. Decision. */
export const EMBEDDINGS_DEADLINE_MS = 60_000
/**
 * Gateways that a call comes through before it is kept from private endpoints, any of which may lead back to
 * where it is called from; providers of the catalogue elsewhere may be called once more. Decision.
 */
export const EMBEDDINGS_HOPS_MAX = 3
