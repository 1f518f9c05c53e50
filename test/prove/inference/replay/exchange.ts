/** One call on a connection of its own, with the bytes of its answer as they came. */
import { connect } from 'node:net'

export interface Answer {
  /** Status line and headers, without the empty line; a character for each byte. */
  readonly head: string
  /** Without the framing of chunks. */
  readonly body: string
  /** The body ended as HTTP says. */
  readonly isWhole: boolean
}

const HEAD_END = '\r\n\r\n'

export function exchange(port: number, request: string): Promise<Answer> {
  return new Promise((resolve) => {
    const pieces: Buffer[] = []
    const socket = connect(port, '127.0.0.1', () => void socket.write(request, 'latin1'))
    socket.on('data', (bytes) => {
      pieces.push(bytes)
      const answer = answerOf(Buffer.concat(pieces).toString('latin1'))
      if (!answer.isWhole) return
      resolve(answer)
      socket.destroy()
    })
    // A reset is one way to end.
    socket.on('error', () => undefined)
    socket.on('close', () => resolve(answerOf(Buffer.concat(pieces).toString('latin1'))))
  })
}

function answerOf(text: string): Answer {
  const end = text.indexOf(HEAD_END)
  if (end < 0) return { head: text, body: '', isWhole: false }
  const [head, rest] = [text.slice(0, end), text.slice(end + HEAD_END.length)]
  if (/\r\ntransfer-encoding: *chunked/i.test(head)) return { head, ...joined(rest) }
  const length = Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? Number.NaN)
  return { head, body: rest, isWhole: rest.length >= length }
}

/** The chunks of a body, up to its end or to where it broke. */
function joined(text: string): Omit<Answer, 'head'> {
  let body = ''
  for (let at = 0; ;) {
    const lineEnd = text.indexOf('\r\n', at)
    if (lineEnd < 0) return { body, isWhole: false }
    const size = Number.parseInt(text.slice(at, lineEnd), 16)
    body += text.slice(lineEnd + 2, lineEnd + 2 + size)
    const next = lineEnd + 2 + size + 2
    if (next > text.length) return { body, isWhole: false }
    if (size === 0) return { body, isWhole: true }
    at = next
  }
}
