/** HTTPS servers that the README's commands call besides the node; a reader has them elsewhere. */
import { request as plainRequest, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { startAuthority } from '../support/wire/certificate-authority.ts'
import { freePort } from '../support/nodes/spawned.ts'
import type { Teardown } from '../support/teardown.ts'

export interface Outside {
  /** Settings of the node that lead it to these servers. */
  readonly settings: Readonly<Record<string, string>>
  /** Names of the text, each with its replacement here. */
  readonly names: readonly (readonly [string, string])[]
}

/** The port on which the receiver of the text listens; here it listens on a free one instead. */
const RECEIVER_PORT = '8090'

/** A provider with OpenAI's embeddings, and the proxy in front of a receiver of webhooks. */
export async function startOutside(t: Teardown): Promise<Outside> {
  const receiverPort = await freePort()
  const authority = startAuthority(t)
  const server = createServer(authority.issue(['DNS:localhost']), (request, response) => {
    if (request.url?.startsWith('/v1/') === true) void provide(request, response)
    else proxy(request, response, receiverPort)
  })
  await new Promise<void>((resolve) => server.listen(0, 'localhost', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return {
    settings: {
      SLUICE_EGRESS_ALLOW: `127.0.0.0/8:${port},[::1/128]:${port}`,
      SLUICE_EGRESS_CA: authority.rootFile,
    },
    names: [
      ['egress/api.openai.com', `egress/localhost:${port}`],
      ['{"hosts":["api.openai.com"],"value"', '{"hosts":["localhost"],"value"'],
      ['https://models.acme.example', `https://localhost:${port}`],
      ['["models.acme.example"]', '["localhost"]'],
      ['https://hooks.acme.example', `https://localhost:${port}`],
      [RECEIVER_PORT, String(receiverPort)],
    ],
  }
}

async function provide(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = Buffer.concat(await request.toArray()).toString()
  const isAsked = /^Bearer (?:sk|key)-0123456789$/.test(request.headers.authorization ?? '')
  response.writeHead(isAsked ? 200 : 401, { 'content-type': 'application/json' })
  if (request.method === 'GET')
    return void response.end(JSON.stringify({ object: 'list', data: [{ id: 'bge-m3', object: 'model' }] }))
  const { model, encoding_format: format } = JSON.parse(body) as {
    readonly model: string
    readonly encoding_format?: string
  }
  const vector = [0.5, 0.25]
  const embedding =
    format === 'base64' ? Buffer.from(Float32Array.from(vector).buffer).toString('base64') : vector
  response.end(
    JSON.stringify({
      object: 'list',
      model,
      data: [{ object: 'embedding', index: 0, embedding }],
      usage: { prompt_tokens: 1, total_tokens: 1 },
    }),
  )
}

function proxy(request: IncomingMessage, response: ServerResponse, port: number): void {
  const { method, headers, url: path } = request
  const passed = plainRequest({ host: '127.0.0.1', port, method, headers, path }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers)
    answer.pipe(response)
  })
  passed.on('error', () => response.writeHead(502).end())
  request.pipe(passed)
}
