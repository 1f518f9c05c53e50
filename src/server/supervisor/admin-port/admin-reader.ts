import { get } from 'node:http'

/** Milliseconds that a response of the admin port may take. */
const ANSWER_MS_MAX = 3_000
/** Bytes of a response of the admin port. */
const ANSWER_BYTES_MAX = 8 * 2 ** 20

/** The body of a 200 response of the admin port of a node on this machine; null for every other response. */
export function readAdmin(adminUrl: string, path: string): Promise<string | null> {
  return new Promise((resolve) => {
    const request = get(
      `${adminUrl}${path}`,
      { agent: false, signal: AbortSignal.timeout(ANSWER_MS_MAX) },
      (answer) => {
        const pieces: Buffer[] = []
        let bytes = 0
        answer.on('data', (piece: Buffer) => {
          bytes += piece.length
          pieces.push(piece)
          if (bytes > ANSWER_BYTES_MAX) request.destroy()
        })
        answer.once('error', () => resolve(null))
        answer.once('close', () =>
          resolve(answer.complete && answer.statusCode === 200 ? Buffer.concat(pieces).toString() : null),
        )
      },
    )
    request.once('error', () => resolve(null))
  })
}
