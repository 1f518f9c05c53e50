/** The governing proxy on Node's own HTTP server. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { API_PREFIX } from '../../src/schemas/api-prefix.ts'
import type { Failure } from '../../src/schemas/failures.ts'
import { EMBEDDINGS_BODY_BYTES_MAX } from '../../src/schemas/embeddings/embedding-limits.ts'
import type { Governed, ProxyReply } from './governed.ts'

const PATH = `${API_PREFIX}/embeddings`
export const TOO_LARGE: Failure = { name: 'body_too_large', fields: { limit: EMBEDDINGS_BODY_BYTES_MAX } }
export const WRONG_METHOD: Failure = { name: 'method_not_allowed', fields: { allowed: 'POST' } }

export function listenWithNode(governed: Governed, port: number): Promise<void> {
  const server = createServer((request, response) => serve(governed, request, response))
  return new Promise((resolve) => server.listen(port, '127.0.0.1', resolve))
}

function serve(governed: Governed, request: IncomingMessage, response: ServerResponse): void {
  if (request.url !== PATH) return end(response, governed.refuse({ name: 'route_unknown' }, null, false))
  if (request.method !== 'POST') return end(response, governed.refuse(WRONG_METHOD, null, false))
  const entry = governed.enter(request.headers)
  if (entry.failure !== null) return end(response, governed.refuse(entry.failure, entry.headers))
  const tooLarge = (): void => end(response, governed.refuse(TOO_LARGE, entry.headers), true)
  if (Number(request.headers['content-length'] ?? 0) > EMBEDDINGS_BODY_BYTES_MAX) return tooLarge()
  const chunks: Buffer[] = []
  let bytes = 0
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes <= EMBEDDINGS_BODY_BYTES_MAX) chunks.push(chunk)
    else if (!response.headersSent) tooLarge()
  })
  request.on('end', () => {
    if (response.headersSent) return
    const [first] = chunks
    const body = first !== undefined && chunks.length === 1 ? first : Buffer.concat(chunks, bytes)
    void governed.embed(entry, body).then((reply) => end(response, reply))
  })
}

function end(response: ServerResponse, { status, headers, body }: ProxyReply, isLast = false): void {
  const length = ['content-length', String(typeof body === 'string' ? Buffer.byteLength(body) : body.length)]
  response.writeHead(status, [...headers, ...length, ...(isLast ? ['connection', 'close'] : [])])
  response.end(body)
}
