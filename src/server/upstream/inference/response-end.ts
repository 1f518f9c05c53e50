import {
  UPSTREAM_END_MS,
  UPSTREAM_ERROR_BYTES_MAX,
  UPSTREAM_ERROR_MS,
} from '../../../schemas/models/provider-limits.ts'
import type { ByteReader } from '../../ports/byte-streams.ts'
import type { EgressAnswer, EgressExchange } from '../../ports/egress/egress.ts'

/**
 * Reads the body of a response other than 2xx, for `failureOf`: at most UPSTREAM_ERROR_BYTES_MAX, and what
 * came within the time. A text that breaks off, is late or is damaged changes nothing of the refusal,
 * whose status is known. The body is closed afterwards; a body that came whole keeps its connection.
 * @param withinMs milliseconds
 */
export async function readRefusal(
  response: EgressExchange,
  withinMs: number = UPSTREAM_ERROR_MS,
): Promise<EgressAnswer> {
  const text = await readWithin(response.body, withinMs)
  return {
    status: response.status,
    isSuccess: response.isSuccess,
    retryAfter: response.header('retry-after'),
    body: text,
    release: () => undefined,
  }
}

/**
 * Reads what follows the last event of a stream, and closes the body. As a rule only the end of the response
 * follows, and has come already: the connection then serves the next call. A response that does not end is
 * cut.
 * @param withinMs milliseconds
 */
export async function readOut(body: ByteReader, withinMs: number = UPSTREAM_END_MS): Promise<void> {
  await readWithin(body, withinMs)
}

async function readWithin(body: ByteReader, withinMs: number): Promise<Uint8Array> {
  const pieces: Uint8Array[] = []
  let bytes = 0
  const timer = setTimeout(() => body.close(), withinMs)
  while (bytes < UPSTREAM_ERROR_BYTES_MAX) {
    const piece = await body.next()
    if (!piece.ok || piece.value === null) break
    pieces.push(piece.value)
    bytes += piece.value.length
  }
  clearTimeout(timer)
  body.close()
  return Buffer.concat(pieces).subarray(0, UPSTREAM_ERROR_BYTES_MAX)
}
