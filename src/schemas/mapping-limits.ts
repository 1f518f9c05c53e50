/** Named limits of group mappings and syncs, each once, with its unit and its source. */

/** Members of a group whose grants one statement writes. Decision. */
export const GRANTED_AT_ONCE = 5_000
