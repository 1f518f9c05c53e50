import { KIB } from '../limits/limits.ts'

/** Characters of a slug. Decision. */
export const PRESET_SLUG_CHARS_MAX = 128
/** Bytes of UTF-8 JSON of one version: its config and its system prompt. Decision. */
export const PRESET_BYTES_MAX = 256 * KIB
/** Names that a version lists of the fields that it ignored. Decision. */
export const PRESET_IGNORED_MAX = 64
/** Characters of the name of an ignored field. Decision. */
export const PRESET_IGNORED_CHARS_MAX = 64

/** Pairs of a request's metadata. §8. */
export const PRESET_METADATA_PAIRS_MAX = 16
/** Characters of a key of a request's metadata. §8. */
export const PRESET_METADATA_KEY_CHARS_MAX = 64
/** Characters of a value of a request's metadata. §8. */
export const PRESET_METADATA_VALUE_CHARS_MAX = 512
/** Characters of an end user's id. §8. */
export const PRESET_USER_CHARS_MAX = 256
/** Steps of server tools. §8. */
export const PRESET_TOOL_CALLS_MAX = 30

/** Presets or versions of one page. B2. */
export const PRESETS_PAGE_MAX = 100
/** Presets or versions of one page when the request names no number. B2. */
export const PRESETS_PAGE_DEFAULT = 50
/** Rows that a request for a page may skip. Decision. */
export const PRESETS_OFFSET_MAX = 1_000_000_000
/** Presets of a workspace, archived presets included. Decision. */
export const PRESETS_MAX = 10_000

/** Presets that a front caches. Decision. */
export const PRESETS_CACHED_MAX = 10_000
/** Slugs without a preset that a front remembers. Decision. */
export const PRESET_MISSES_CACHED_MAX = 10_000
/** Versions of presets that a front caches. Decision. */
export const PRESET_VERSIONS_CACHED_MAX = 10_000
/** Characters of JSON of all versions of presets that a front caches. Decision. */
export const PRESET_CHARS_CACHED_MAX = 16_777_216
/** Presets that a front loads from the store at once; `busy` beyond. Decision. */
export const PRESET_LOADS_MAX = 256
/**
 * Presets of one workspace that a front loads from the store at once: a workspace that asks for unknown slugs
 * leaves room to others. Decision.
 */
export const PRESET_LOADS_WORKSPACE_MAX = 64
/** Digits of a version's number in a reference. Decision. */
export const PRESET_VERSION_DIGITS_MAX = 15
