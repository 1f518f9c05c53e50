import { isOfConnection, namedByConnection } from '../../../schemas/values/hop-by-hop.ts'
import type { Redaction } from './redaction.ts'

/**
 * Headers that describe the destination's host, which is Sluice's host for the client; and `date`, which the
 * reply writes itself.
 */
const OF_HOST: ReadonlySet<string> = new Set(['alt-svc', 'strict-transport-security', 'date'])

/** The headers of a response that are passed on, in order. The reply itself sets the length. */
export function passedOn(headers: readonly string[], redaction: Redaction): readonly string[] {
  const named = namedByConnection(headers)
  const passed: string[] = []
  for (let at = 0; at + 1 < headers.length; at += 2) {
    const [name = '', value = ''] = [headers[at], headers[at + 1]]
    if (isOfConnection(name) || named.has(name) || name === 'content-length' || OF_HOST.has(name)) continue
    // Only Sluice itself may set headers of its own.
    if (name.startsWith('x-sluice-') || redaction.isIn(name)) continue
    passed.push(name, redaction.of(value))
  }
  return passed
}

/** Length of the body; null when the response gives none, or comes in chunks. */
export function bytesOf(headers: readonly string[]): number | null {
  let bytes: number | null = null
  for (let at = 0; at + 1 < headers.length; at += 2) {
    if (headers[at] === 'transfer-encoding') return null
    if (headers[at] === 'content-length') bytes = Number(headers[at + 1])
  }
  return Number.isSafeInteger(bytes) ? bytes : null
}
