import { hashOfKey, isKeyShaped } from '../../schemas/keys/api-keys.ts'

/** The header contains no bearer token. */
export const MISSING = 'missing'
/** The token cannot be a key of this installation. */
export const FOREIGN = 'foreign'

/** Characters of a header that is read: the scheme, some spaces and the longest key. */
const HEADER_CHARS_MAX = 256

/**
 * Reads `Authorization: Bearer <key>`. The scheme may be in any case, as RFC 9110 allows. §5 rule 1.
 * @returns the key's hash, MISSING or FOREIGN
 */
export function hashOfBearer(authorization: string): string {
  if (authorization.charCodeAt(6) !== 0x20 || !isBearer(authorization.slice(0, 6))) return MISSING
  if (authorization.length > HEADER_CHARS_MAX) return FOREIGN
  const key = authorization.slice(7).trim()
  if (key === '') return MISSING
  // The store is asked only about tokens with the shape of a key: garbage causes no load.
  return isKeyShaped(key) ? hashOfKey(key) : FOREIGN
}

function isBearer(scheme: string): boolean {
  return scheme === 'Bearer' || scheme.toLowerCase() === 'bearer'
}
