/** Named limits of vault, each once, with its unit and its source. */

/** Unwrapped data keys that one process holds. Decision. */
export const DATA_KEYS_CACHED_MAX = 1_000
/** Characters of a secret's name, and of its value. §4.4, §8, C31. */
export const SECRET_NAME_CHARS_MAX = 255
export const SECRET_VALUE_CHARS_MAX = 65_536
/**
 * Hosts of a secret; characters of one as it is given, of one without its trailing dot, and of a label. §4.4,
 * §8, B1.4.
 */
export const SECRET_HOSTS_MAX = 100
export const HOST_CHARS_MAX = 254
export const HOST_NORMALIZED_CHARS_MAX = 253
export const HOST_LABEL_CHARS_MAX = 63
/** Bytes of a body of the vault. B1.4, C10. */
export const VAULT_BODY_BYTES_MAX = 425_000
/** Secrets of a page, which is the default too, how many may be skipped, and names of one copy. B2.4. */
export const SECRETS_PAGE_MAX = 100
export const SECRETS_OFFSET_MAX = 10_000
export const SECRETS_COPIED_MAX = 100
/** Secrets of one vault: what a list can reach. Decision. */
export const SECRETS_PER_VAULT_MAX = 10_000
/**
 * Of one front: unwrapped keys of vaults, writes to vaults in the store at once and waiting, tries of one
 * whose vault changes. Decision.
 */
export const VAULT_KEYS_CACHED_MAX = 4_096
export const VAULT_WRITES_MAX = 2
export const VAULT_WRITES_WAITING_MAX = 256
export const VAULT_WRITE_TRIES_MAX = 5
/**
 * Of one front: writes of one workspace that wait, and copies that wait, of all and of one workspace; `busy`
 * beyond. Decision.
 */
export const VAULT_WRITES_WAITING_WORKSPACE_MAX = 128
export const COPIES_WAITING_MAX = 64
export const COPIES_WAITING_WORKSPACE_MAX = 16
