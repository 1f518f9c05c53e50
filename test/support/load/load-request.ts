import type { LoadConnection, LoadOutcome } from './load-connection.ts'
import type { LoadPayload, LoadRequest } from './load-plan.ts'

/** A request as it goes out again and again. */
export interface RequestWriter {
  /** @returns bytes of the body */
  send(connection: LoadConnection, settle: (outcome: LoadOutcome) => void): number
}

const PIECE = Buffer.alloc(65_536, 'The quick brown fox jumps over the lazy dog. ')

/** Bytes are made once, but for the payload, which is written piece by piece. */
export function requestWriter(request: LoadRequest, authority: string): RequestWriter {
  const { payload } = request
  if (payload === undefined) {
    const bytes = encodeRequest(request, authority, 0)
    const bodyBytes = request.bytes?.length ?? Buffer.byteLength(request.body)
    return {
      send(connection, settle) {
        connection.send(bytes, settle)
        return bodyBytes
      },
    }
  }
  const nextBytes = sizesOf(payload)
  const last = Buffer.from(payload.after)
  return {
    send(connection, settle) {
      const bytes = nextBytes()
      connection.stream(
        encodeRequest(request, authority, bytes + last.length),
        { bytes, piece: PIECE, last },
        settle,
      )
      return bytes
    },
  }
}

/** The next size each time: evenly spread over the logarithm, as sizes of files are. */
export function sizesOf({ leastBytes, mostBytes, seed }: LoadPayload): () => number {
  // Park and Miller's generator, which zero would stop.
  let state = (seed % 2_147_483_646) + 1
  return () => {
    state = (state * 48_271) % 2_147_483_647
    return Math.round(leastBytes * (mostBytes / leastBytes) ** (state / 2_147_483_647))
  }
}

function encodeRequest(request: LoadRequest, authority: string, moreBytes: number): Buffer {
  const body = request.bytes ?? Buffer.from(request.body)
  const length = body.length + moreBytes
  const head = [
    `${request.method} ${request.path} HTTP/1.1`,
    `host: ${authority}`,
    ...Object.entries(request.headers).map(([name, value]) => `${name}: ${value}`),
    ...(length === 0 ? [] : [`content-length: ${length}`]),
  ]
  return Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), body])
}
