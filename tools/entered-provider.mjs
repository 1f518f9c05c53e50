// The provider of `node tools/entered.mjs`: its streams go on when they are told to, so that each event is a
// read of its own at the front, and no clock decides how many events come in one.
import { createServer } from 'node:http'

/** Events with text in a stream. */
export const STREAM_EVENTS = 8

/**
 * @param answers what it answers, by the path
 * @returns `origin`, and `next`, which lets a stream go on when its caller has read so many events with text
 */
export async function startProvider(answers) {
  let stream = null
  const server = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (text) => (body += text))
    request.on('end', () => {
      const answer = answers[request.url]
      if (!JSON.parse(body).stream) {
        response.writeHead(200, { 'content-type': 'application/json' }).end(answer.whole)
        return
      }
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(answer.begin + answer.text)
      stream = { response, answer, sent: 1 }
    })
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  const next = (read) => {
    if (stream === null || read < stream.sent) return
    const { response, answer } = stream
    if (stream.sent++ < STREAM_EVENTS) response.write(answer.text)
    else response.end(answer.end)
  }
  const stop = () => server.close().closeAllConnections()
  return { origin: `http://127.0.0.1:${server.address().port}`, next, stop }
}
