/**
 * A provider that writes one event after another at a fixed pace, as a model does; it ends with its parent.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'

export interface PacerSettings {
  readonly port: number
  readonly events: number
  readonly intervalMs: number
}

/** Characters of text in an event; with its head an event has 330 bytes, as those of large providers. */
const TEXT_CHARS = 86
/** Characters of the text of an answer that is not streamed: the answer has about 2 KB. */
const WHOLE_CHARS = 1_700

const HEAD = {
  id: 'chatcmpl-Bench00000000000000000000',
  object: 'chat.completion.chunk',
  created: 1_700_000_000,
  model: 'bench-model-2026-01-01',
  service_tier: 'default',
  system_fingerprint: 'fp_bench00000',
}
/** A request may ask for fewer events. */
const MAX_TOKENS = /"max_tokens":(\d+)/
const USAGE = { prompt_tokens: 12, completion_tokens: 150, total_tokens: 162 }

function eventOf(delta: object, finish: string | null): string {
  const choices = [{ index: 0, delta, logprobs: null, finish_reason: finish }]
  return `data: ${JSON.stringify({ ...HEAD, choices, usage: null })}\n\n`
}

const ROLE = eventOf({ role: 'assistant', content: '', refusal: null }, null)
const TEXT = eventOf({ content: 'x'.repeat(TEXT_CHARS) }, null)
const END = `${eventOf({}, 'stop')}data: ${JSON.stringify({ ...HEAD, choices: [], usage: USAGE })}\n\ndata: [DONE]\n\n`
const WHOLE = JSON.stringify({
  ...HEAD,
  object: 'chat.completion',
  choices: [
    {
      index: 0,
      message: { role: 'assistant', content: 'x'.repeat(WHOLE_CHARS), refusal: null, annotations: [] },
      logprobs: null,
      finish_reason: 'stop',
    },
  ],
  usage: USAGE,
})

function serve(request: IncomingMessage, response: ServerResponse, settings: PacerSettings): void {
  let body = ''
  request.setEncoding('latin1').on('data', (text: string) => (body += text))
  request.on('end', () => {
    if (!body.includes('"stream":true')) {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': WHOLE.length })
      response.end(WHOLE)
    } else {
      const most = Number(MAX_TOKENS.exec(body)?.[1] ?? Infinity)
      stream(response, { ...settings, events: Math.min(settings.events, most) })
    }
  })
}

function stream(response: ServerResponse, { events, intervalMs }: PacerSettings): void {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' })
  response.write(ROLE + TEXT)
  let left = events - 1
  const timer = setInterval(() => {
    if (left-- > 0) return void response.write(TEXT)
    clearInterval(timer)
    response.end(END)
  }, intervalMs)
  response.on('close', () => clearInterval(timer))
}

process.on('disconnect', () => process.exit(0))
process.once('message', (settings: PacerSettings) => {
  const server = createServer((request, response) => serve(request, response, settings))
  server.keepAliveTimeout = 60_000
  server.listen(settings.port, '127.0.0.1', () => process.send?.('ready'))
})
