/** Writes of secrets as requests of a load. */
import { randomBytes } from 'node:crypto'
import type { LoadRequest } from '../../test/support/load/load-plan.ts'

/** Characters of a value: a key of an API, and a certificate with its key. */
const VALUE_CHARS: readonly number[] = [64, 4_096]

/**
 * New names and replacements in turn, half of each with a short value and half with a long one.
 * @param input.series letter that begins the names; those of another series are unaffected
 */
export function writes(
  apiKey: string,
  { series, count }: { readonly series: string; readonly count: number },
): readonly LoadRequest[] {
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' }
  return Array.from({ length: count }, (_, nth) => {
    const made = Math.ceil(nth / 2)
    // The prime is larger than any count: the replacements cover all names, in the same order in each run.
    const name = nth % 2 === 0 ? made : (nth * 1_000_003) % made
    const chars = VALUE_CHARS[Math.floor(nth / 2) % VALUE_CHARS.length] ?? 0
    const value = randomBytes(chars / 2).toString('hex')
    return {
      method: 'PUT',
      path: `/api/v1/vault/secrets/${series}_${name}`,
      headers,
      body: JSON.stringify({ hosts: ['api.example.com'], value }),
    }
  })
}
