/**
 * The governing proxy on fastify, without fastify's log; the product's compiled validator reads the body
 * instead of fastify's own.
 */
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { API_PREFIX } from '../../src/schemas/api-prefix.ts'
import type { Failure } from '../../src/schemas/failures.ts'
import { EMBEDDINGS_BODY_BYTES_MAX } from '../../src/schemas/embeddings/embedding-limits.ts'
import type { Entry } from './callers.ts'
import type { Governed, ProxyHead, ProxyReply } from './governed.ts'
import { TOO_LARGE, WRONG_METHOD } from './node-server.ts'

/** The used part of fastify, which is no dependency of Sluice. */
interface Fastify {
  decorateRequest(name: string, value: null): void
  removeAllContentTypeParsers(): void
  addContentTypeParser(
    type: string,
    options: { parseAs: 'buffer' },
    parse: (request: unknown, body: Buffer, done: (error: null, body: Buffer) => void) => void,
  ): void
  setErrorHandler(
    handle: (error: { readonly code?: string }, request: FastifyRequest, reply: FastifyReply) => unknown,
  ): void
  setNotFoundHandler(handle: (request: FastifyRequest, reply: FastifyReply) => unknown): void
  route(route: {
    readonly method: 'POST'
    readonly url: string
    readonly onRequest: (request: FastifyRequest, reply: FastifyReply, done: () => void) => void
    readonly handler: (request: FastifyRequest, reply: FastifyReply) => unknown
  }): void
  listen(where: { readonly port: number; readonly host: string }): Promise<unknown>
}

interface FastifyRequest {
  readonly headers: ProxyHead
  readonly url: string
  readonly body: Buffer | undefined
  entry: Entry | null
}

interface FastifyReply {
  code(status: number): FastifyReply
  header(name: string, value: string): FastifyReply
  send(body: string | Buffer): FastifyReply
}

/** Failures that fastify itself raises. */
const FAILURE_OF: Readonly<Record<string, Failure>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: TOO_LARGE,
  FST_ERR_CTP_INVALID_MEDIA_TYPE: { name: 'content_type_unsupported' },
}

const PATH = `${API_PREFIX}/embeddings`

export async function listenWithFastify(
  governed: Governed,
  { port, packages }: { readonly port: number; readonly packages: string },
): Promise<void> {
  const create = createRequire(join(packages, 'package.json'))('fastify') as (options: object) => Fastify
  const app = create({ logger: false, bodyLimit: EMBEDDINGS_BODY_BYTES_MAX })
  app.decorateRequest('entry', null)
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_, body, done) => done(null, body))
  app.setErrorHandler((error, { entry }, reply) => {
    return send(reply, governed.refuse(FAILURE_OF[error.code ?? ''] ?? { name: 'internal' }, entry?.headers))
  })
  app.setNotFoundHandler(({ url }, reply) =>
    send(reply, governed.refuse(url === PATH ? WRONG_METHOD : { name: 'route_unknown' }, null, false)),
  )
  app.route({
    method: 'POST',
    url: PATH,
    onRequest(request, reply, done) {
      const entry = governed.enter(request.headers)
      request.entry = entry
      if (entry.failure === null) done()
      else send(reply, governed.refuse(entry.failure, entry.headers))
    },
    handler({ entry, body }, reply) {
      if (entry === null || entry.failure !== null) return send(reply, governed.refuse({ name: 'internal' }))
      void governed.embed(entry, body).then((answer) => send(reply, answer))
      return reply
    },
  })
  await app.listen({ port, host: '127.0.0.1' })
}

function send(reply: FastifyReply, { status, headers, body }: ProxyReply): FastifyReply {
  reply.code(status)
  for (let at = 0; at < headers.length; at += 2) reply.header(headers[at] ?? '', headers[at + 1] ?? '')
  return reply.send(body)
}
