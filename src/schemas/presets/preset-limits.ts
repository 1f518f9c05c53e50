import { KIB } from '../limits/limits.ts'

/** Characters of a slug. Decision. */
export const PRESET_SLUG_CHARS_MAX = 128
/** Bytes of UTF-8 JSON of one version: its config and its system prompt. Decision. */
export const PRESET_BYTES_MAX = 256 * KIB

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
/** Presets of a workspace, archived presets included. Decision. */
export const PRESETS_MAX = 10_000

/** Digits of a version's number in a reference. Decision. */
export const PRESET_VERSION_DIGITS_MAX = 15
