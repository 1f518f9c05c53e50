import { request as requestHttp, type IncomingMessage } from 'node:http'
import { request as requestHttps } from 'node:https'

/** A call of the command line, to a node or to a receiver of the user. */
export interface HttpCall {
  readonly url: URL
  readonly method: 'GET' | 'POST'
  readonly headers: Readonly<Record<string, string>>
  readonly body?: Uint8Array
  /** Milliseconds until the whole answer has come. */
  readonly msMax: number
  /** Bytes of the answer's body that are read; a longer body is cut there. */
  readonly bytesMax: number
}

export interface HttpCallAnswer {
  readonly status: number
  readonly text: string
}

/** Calls over a connection of its own: no pool keeps the process from ending. Rejects with the error of the connection. */
export function callHttp({ url, method, headers, body, msMax, bytesMax }: HttpCall): Promise<HttpCallAnswer> {
  const within = AbortSignal.timeout(msMax)
  const request: typeof requestHttp = url.protocol === 'https:' ? requestHttps : requestHttp
  const length = body === undefined ? {} : { 'content-length': String(body.length) }
  return new Promise((resolve, reject) => {
    const outgoing = request(url, {
      method,
      agent: false,
      headers: { ...headers, ...length },
      signal: within,
    })
    outgoing.once('error', (cause) =>
      reject(within.aborted ? new Error(`no answer in ${msMax / 1_000} s`, { cause }) : cause),
    )
    outgoing.once('response', (answer) => {
      textOf(answer, bytesMax).then((text) => resolve({ status: answer.statusCode ?? 0, text }), reject)
    })
    outgoing.end(body)
  })
}

async function textOf(answer: IncomingMessage, bytesMax: number): Promise<string> {
  const pieces: Buffer[] = []
  let left = bytesMax
  for await (const piece of answer as AsyncIterable<Buffer>) {
    pieces.push(piece.subarray(0, left))
    left -= piece.length
    if (left <= 0) break
  }
  return Buffer.concat(pieces).toString()
}
