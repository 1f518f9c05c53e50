import { KIB } from '../limits/limits.ts'

/** Characters of a slug. Decision. */
export const PRESET_SLUG_CHARS_MAX = 128
/** Bytes of UTF-8 JSON that one version keeps: its config and its system prompt. Decision. */
export const PRESET_BYTES_MAX = 256 * KIB
/** Names of fields that were not kept, each of so many characters. Decision. */
export const PRESET_IGNORED_MAX = 64
export const PRESET_IGNORED_CHARS_MAX = 64

/** Pairs of a request's metadata, and characters of their two sides. §8. */
export const PRESET_METADATA_PAIRS_MAX = 16
export const PRESET_METADATA_KEY_CHARS_MAX = 64
export const PRESET_METADATA_VALUE_CHARS_MAX = 512
/** Characters of an end user's id. §8. */
export const PRESET_USER_CHARS_MAX = 256
/** Steps of server tools. §8. */
export const PRESET_TOOL_CALLS_MAX = 30

/** Presets or versions of one page. B2. */
export const PRESETS_PAGE_MAX = 100
export const PRESETS_PAGE_DEFAULT = 50
/** Rows that a page may pass over. Decision. */
export const PRESETS_OFFSET_MAX = 1_000_000_000
/** Presets of a workspace, archived ones among them. Decision. */
export const PRESETS_MAX = 10_000

/** Presets that a front knows at once, and slugs of which it knows that they are none. Decision. */
export const PRESETS_CACHED_MAX = 10_000
export const PRESET_MISSES_CACHED_MAX = 10_000
/** Versions that a front keeps, and the characters of JSON that they have together. Decision. */
export const PRESET_VERSIONS_CACHED_MAX = 10_000
export const PRESET_CHARS_CACHED_MAX = 16_777_216
/** Presets that a front asks the store for at once; `busy` beyond. Decision. */
export const PRESET_LOADS_MAX = 256
/** The same for one workspace: whoever asks for slugs that are none leaves room to others. Decision. */
export const PRESET_LOADS_WORKSPACE_MAX = 64
/** Digits of a version's number in a reference. Decision. */
export const PRESET_VERSION_DIGITS_MAX = 15
