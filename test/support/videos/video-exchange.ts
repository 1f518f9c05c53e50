/** What goes over the wire between a provider of videos and its callers. */
import type { IncomingMessage, ServerResponse } from 'node:http'

/** Requests that go on by these words of `video-words.ts`. */
export interface VideoExchange {
  readonly req: IncomingMessage
  readonly res: ServerResponse
  readonly url: URL
  readonly body: Buffer
}

/** Fields of a form or of JSON; of a file its type and its size. */
export function fieldsOf(req: IncomingMessage, body: Buffer): Readonly<Record<string, unknown>> {
  const type = req.headers['content-type'] ?? ''
  if (type.startsWith('application/json')) return JSON.parse(body.toString()) as Record<string, unknown>
  const boundary = /boundary=([^;]+)/.exec(type)?.[1] ?? ''
  const parts = body.toString('latin1').split(`--${boundary}`).slice(1, -1)
  return Object.fromEntries(
    parts.map((part) => {
      const [, head = '', value = ''] = /^\r\n([^]*?)\r\n\r\n([^]*)\r\n$/.exec(part) ?? []
      const name = /name="([^"]*)"/.exec(head)?.[1] ?? ''
      const file = /filename="([^"]*)"/.exec(head)?.[1]
      const text = Buffer.from(value, 'latin1').toString()
      return [
        name,
        file === undefined
          ? text
          : { file, type: /Content-Type: (\S+)/.exec(head)?.[1], bytes: value.length },
      ]
    }),
  )
}

/** Without long texts: ten thousand jobs are kept. */
export function bounded(fields: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(fields).filter(
      ([name, value]) => name !== 'prompt' && JSON.stringify(value ?? null).length < 1_000,
    ),
  )
}

export function send(
  res: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  const text = JSON.stringify(body)
  res
    .writeHead(status, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(text),
      ...headers,
    })
    .end(text)
}
