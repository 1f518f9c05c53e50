import { isOfConnection, namedByConnection } from '../../../schemas/values/hop-by-hop.ts'
import type { Redaction } from './redaction.ts'

/**
 * They promise something of the host that was asked, which for the client is ours; and the date is written by
 * the reply.
 */
const OF_HOST: ReadonlySet<string> = new Set(['alt-svc', 'strict-transport-security', 'date'])

/** What of an answer's headers is passed on, in order. The length is said by the reply itself. */
export function passedOn(headers: readonly string[], redaction: Redaction): readonly string[] {
  const named = namedByConnection(headers)
  const passed: string[] = []
  for (let at = 0; at + 1 < headers.length; at += 2) {
    const [name = '', value = ''] = [headers[at], headers[at + 1]]
    if (isOfConnection(name) || named.has(name) || name === 'content-length' || OF_HOST.has(name)) continue
    // Nobody else may speak for us.
    if (name.startsWith('x-sluice-') || redaction.isIn(name)) continue
    passed.push(name, redaction.of(value))
  }
  return passed
}

/** Bytes of the body; null when the answer does not say, or comes in chunks. */
export function bytesOf(headers: readonly string[]): number | null {
  let bytes: number | null = null
  for (let at = 0; at + 1 < headers.length; at += 2) {
    if (headers[at] === 'transfer-encoding') return null
    if (headers[at] === 'content-length') bytes = Number(headers[at + 1])
  }
  return Number.isSafeInteger(bytes) ? bytes : null
}
