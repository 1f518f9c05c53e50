import type { WireResponse } from './wire.ts'

/**
 * Ends an answer in chunks whose connection closes. `end(…, true)` would write a header among the chunks, and
 * `end` alone leaves the connection open. But the library writes a header as text at any position: here the
 * last chunk, a trailer field, and the empty line.
 */
export function endChunks(res: WireResponse): void {
  res.writeHeader('\r\n0\r\nx-sluice-end', '1\r\n')
}

/** Ends an answer without a chunk: its head is still open and names no encoding, so that the last chunk would be a body. */
export function endHead(res: WireResponse): void {
  res.writeHeader('date', new Date().toUTCString())
  res.writeHeader('content-length', '0\r\n')
}
