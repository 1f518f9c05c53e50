/** Names that only the gate writes, or that belong to one connection. */
const OURS: ReadonlySet<string> = new Set([
  'host',
  'content-length',
  'expect',
  'connection',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])
const OURS_AND_ENCODING: ReadonlySet<string> = new Set([...OURS, 'accept-encoding'])

/** The headers of a request without those that the gate writes itself. */
export function sendable(headers: readonly string[]): readonly string[] {
  return without(headers, OURS)
}

/**
 * Requests an answer without compression: an answer that is small on the wire could be large in memory, and
 * a compressed stream comes late.
 */
export function plainly(headers: readonly string[]): readonly string[] {
  return [...without(headers, OURS_AND_ENCODING), 'accept-encoding', 'identity']
}

function without(headers: readonly string[], names: ReadonlySet<string>): readonly string[] {
  return headers.filter((_, nth) => !names.has((headers[nth - (nth % 2)] ?? '').toLowerCase()))
}
