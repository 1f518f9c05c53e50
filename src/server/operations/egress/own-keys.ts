import { KEY_PREFIXES } from '../../../schemas/api-keys.ts'
import { percentDecoded } from './placeholders.ts'

const OUR_KEY = new RegExp(Object.values(KEY_PREFIXES).join('|'))

/** What all keys of an installation begin with. */
const BEGINNING = 'sk-sluice-'

/** Times that a text may have been percent-encoded. Decision. */
const PERCENT_ROUNDS_MAX = 3

/**
 * `BEGINNING` in base64 and base64url, for each place at which it can stand in a group of three bytes: the characters
 * that do not depend on what stands before and behind it.
 */
const ENCODED: readonly string[] = [0, 1, 2].map((before) => {
  const text = Buffer.from('-'.repeat(before) + BEGINNING).toString('base64')
  return text.slice(Math.ceil(before * 8 / 6), Math.floor((before + BEGINNING.length) * 8 / 6))
})

/**
 * Whether a text holds a key of an installation: as it is, in base64 wherever it stands in it (`Basic` with a user name or
 * without), percent-encoded, or both.
 */
export function holdsKey(text: string): boolean {
  let seen = text
  for (let round = 0; round <= PERCENT_ROUNDS_MAX; round++) {
    if (OUR_KEY.test(seen) || ENCODED.some((part) => seen.includes(part))) return true
    const decoded = percentDecoded(seen)
    if (decoded === seen) return false
    seen = decoded
  }
  return false
}
