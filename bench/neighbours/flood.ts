/**
 * A provider of the attacker that writes streams without end as fast as they are read, or reads large bodies
 * and answers in a word; it ends with its parent.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { fileURLToPath } from 'node:url'

export const FLOODS = {
  comments: ':\n',
  events: 'data: {"choices":[{"delta":{"content":"x"}}]}\n\n',
} as const
export type FloodKind = keyof typeof FLOODS

/** Bytes of one write. */
const WRITE_BYTES = 65_536

const HEAD = 'data: {"id":"f","object":"chat.completion.chunk","created":1,"model":"M","choices":['
const USAGE = '"usage":{"prompt_tokens":5,"completion_tokens":1,"total_tokens":6}'
const SHORT =
  `${HEAD}{"index":0,"delta":{"role":"assistant","content":"x"},"finish_reason":null}]}\n\n` +
  `${HEAD}{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n` +
  `${HEAD}],${USAGE}}\n\ndata: [DONE]\n\n`
const WHOLE =
  '{"id":"f","object":"chat.completion","created":1,"model":"M","choices":[{"index":0,"message":{"role":"assistant","content":"x"},"finish_reason":"stop"}],' +
  `${USAGE}}`

/** The probe of a validation bounds its answer; the attacks do not. */
const BOUNDED = /"max_(?:completion_)?tokens":16\b/
const MODEL = /"model":"(flood-[a-z]+)"/

function serve(request: IncomingMessage, response: ServerResponse): void {
  const pieces: Buffer[] = []
  request.on('data', (piece: Buffer) => pieces.push(piece))
  request.on('end', () => {
    const body = Buffer.concat(pieces).toString('latin1')
    const model = MODEL.exec(body)?.[1] ?? ''
    const kind = model.slice('flood-'.length)
    if (!body.includes('"stream":true')) {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(WHOLE.replace('M', model))
      return
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    if (BOUNDED.test(body) || !Object.hasOwn(FLOODS, kind))
      response.end(SHORT.replaceAll('"M"', `"${model}"`))
    else flood(response, FLOODS[kind as FloodKind])
  })
}

function flood(response: ServerResponse, piece: string): void {
  const bytes = Buffer.from(piece.repeat(Math.floor(WRITE_BYTES / piece.length)))
  const go = (): void => {
    while (!response.destroyed && response.write(bytes));
  }
  response.on('drain', go)
  response.on('error', () => response.destroy())
  go()
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  process.on('disconnect', () => process.exit(0))
  const server = createServer(serve)
  server.keepAliveTimeout = 60_000
  server.listen(0, '127.0.0.1', () => {
    const address = server.address()
    process.send?.(typeof address === 'object' ? address?.port : null)
  })
}
