/** Characters of a slug. Decision. */
export const PRESET_SLUG_CHARS_MAX = 128

/** Presets or versions of one page. B2. */
export const PRESETS_PAGE_MAX = 100
export const PRESETS_PAGE_DEFAULT = 50
/** Rows that a page may pass over. Decision. */
export const PRESETS_OFFSET_MAX = 1_000_000_000
/** Presets of a workspace, archived ones among them. Decision. */
export const PRESETS_MAX = 10_000
