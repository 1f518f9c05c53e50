/** Fields that belong to a single connection. RFC 9110 §7.6.1. */
const OF_CONNECTION: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'http2-settings',
])

/** @param name lower case */
export function isOfConnection(name: string): boolean {
  return OF_CONNECTION.has(name) || name.startsWith('proxy-')
}

/** Further names in the `Connection` fields of a message. @param headers flat list of names and values */
export function namedByConnection(headers: readonly string[]): ReadonlySet<string> {
  const names = new Set<string>()
  for (let at = 0; at + 1 < headers.length; at += 2) {
    if (headers[at] !== 'connection') continue
    for (const name of (headers[at + 1] ?? '').split(',')) names.add(name.trim().toLowerCase())
  }
  return names
}
