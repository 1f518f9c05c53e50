/** Named limits of the vault, each with its unit and its source. */

/** Characters of a secret's name. §4.4, §8, C31. */
export const SECRET_NAME_CHARS_MAX = 255
/** Characters of a secret's value. §4.4, §8, C31. */
export const SECRET_VALUE_CHARS_MAX = 65_536
/** Hosts of a secret. §4.4, §8, B1.4. */
export const SECRET_HOSTS_MAX = 100
/** Characters of a host as the caller writes it. §4.4, §8, B1.4. */
export const HOST_CHARS_MAX = 254
/** Characters of a host without its trailing dot. §4.4, §8, B1.4. */
export const HOST_NORMALIZED_CHARS_MAX = 253
/** Characters of a label of a host. §4.4, §8, B1.4. */
export const HOST_LABEL_CHARS_MAX = 63
/** Bytes of a body of the vault. B1.4, C10. */
export const VAULT_BODY_BYTES_MAX = 425_000
/** Secrets of a page, also the default. B2.4. */
export const SECRETS_PAGE_MAX = 100
/** Secrets that a request for a page may skip. B2.4. */
export const SECRETS_OFFSET_MAX = 10_000
/** Names in one call that copies secrets. B2.4. */
export const SECRETS_COPIED_MAX = 100
/** Secrets of one vault: as many as a list can show. Decision. */
export const SECRETS_PER_VAULT_MAX = 10_000
