import { hashOfKey, isKeyShaped } from '../../schemas/keys/api-keys.ts'

/** There is no bearer token in the header. */
export const MISSING = 'missing'
/** The token cannot be a key of ours. */
export const FOREIGN = 'foreign'

/** Characters of a header worth reading: scheme, some spaces, the longest key. */
const HEADER_CHARS_MAX = 256

/**
 * Reads `Authorization: Bearer <key>`; the scheme in any case, as RFC 9110 has it. §5 rule 1.
 * @returns the key's hash, MISSING or FOREIGN
 */
export function hashOfBearer(authorization: string): string {
  if (authorization.charCodeAt(6) !== 0x20 || !isBearer(authorization.slice(0, 6))) return MISSING
  if (authorization.length > HEADER_CHARS_MAX) return FOREIGN
  const key = authorization.slice(7).trim()
  if (key === '') return MISSING
  // What has not the shape of a key is never asked of the store: garbage costs no load.
  return isKeyShaped(key) ? hashOfKey(key) : FOREIGN
}

function isBearer(scheme: string): boolean {
  return scheme === 'Bearer' || scheme.toLowerCase() === 'bearer'
}
