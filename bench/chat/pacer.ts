/**
 * A provider that writes one event after another at a fixed pace, as a model does, in the form of the path;
 * it ends with its parent.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { FORMS } from './forms.ts'
import { CHAT_ANSWER, MESSAGES_ANSWER, type PacedAnswer } from './paced-answers.ts'

export interface PacerSettings {
  readonly port: number
  readonly events: number
  readonly intervalMs: number
}

/** A request may ask for fewer events. */
const MAX_TOKENS = /"max_(?:completion_)?tokens":(\d+)/

function serve(request: IncomingMessage, response: ServerResponse, settings: PacerSettings): void {
  const answer = request.url === FORMS.messages.path ? MESSAGES_ANSWER : CHAT_ANSWER
  let body = ''
  request.setEncoding('latin1').on('data', (text: string) => (body += text))
  request.on('end', () => {
    if (!body.includes('"stream":true')) {
      response.writeHead(200, {
        'content-type': 'application/json',
        'content-length': answer.whole.length,
      })
      response.end(answer.whole)
    } else {
      const most = Number(MAX_TOKENS.exec(body)?.[1] ?? Infinity)
      stream(response, answer, { ...settings, events: Math.min(settings.events, most) })
    }
  })
}

function stream(
  response: ServerResponse,
  { begin, text, end }: PacedAnswer,
  { events, intervalMs }: PacerSettings,
): void {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' })
  response.write(begin + text)
  let left = events - 1
  const timer = setInterval(() => {
    if (left-- > 0) return void response.write(text)
    clearInterval(timer)
    response.end(end)
  }, intervalMs)
  response.on('close', () => clearInterval(timer))
}

process.on('disconnect', () => process.exit(0))
process.once('message', (settings: PacerSettings) => {
  const server = createServer((request, response) => serve(request, response, settings))
  server.keepAliveTimeout = 60_000
  server.listen(settings.port, '127.0.0.1', () => process.send?.('ready'))
})
