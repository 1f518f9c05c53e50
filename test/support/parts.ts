/** The text of an answer in parts. */
export function textOf(parts: readonly (Uint8Array | string)[]): string {
  return parts.map((part) => (typeof part === 'string' ? part : Buffer.from(part).toString())).join('')
}
