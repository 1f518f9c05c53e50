import { get } from 'node:http'

/** Milliseconds and bytes that an answer of the admin port may take. */
const ANSWER_MS_MAX = 3_000
const ANSWER_BYTES_MAX = 8 * 2 ** 20

/** What the admin port of a node on this machine answers with 200; null for everything else. */
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
