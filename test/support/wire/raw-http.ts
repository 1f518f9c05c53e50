/** A client that sends bytes as they are, and reads what comes. */
import { connect, type Socket } from 'node:net'

export interface RawClient {
  readonly socket: Socket
  /** All that came so far, as latin1. */
  readonly text: string
  readonly isClosed: boolean
  send(bytes: string | Uint8Array): void
  /** Resolves with all text once it matches, or so many times; rejects when the connection ends before. */
  until(pattern: RegExp, times?: number): Promise<string>
  /**
   * Resolves with all text once its last characters match a pattern that ends with `$`, without a look at the
   * megabytes before them.
   */
  untilEnd(pattern: RegExp): Promise<string>
  /** Resolves with all text when the connection is closed. */
  closed(): Promise<string>
  /** Resolves with all text once so many bytes of body have come after the first head. */
  untilBody(bytes: number): Promise<string>
  destroy(): void
}

/** Characters that `untilEnd` looks at. */
const END_CHARS = 256

export function rawClient(port: number): RawClient {
  const socket = connect(port, '127.0.0.1')
  socket.setNoDelay(true)
  let [text, end] = ['', '']
  let bodyAt = -1
  let isClosed = false
  const looks = new Set<() => void>()
  const changed = (): void => {
    for (const look of looks) look()
  }
  socket.on('data', (chunk) => {
    const piece = chunk.toString('latin1')
    text += piece
    end = (end + piece.slice(-END_CHARS)).slice(-END_CHARS)
    if (bodyAt < 0 && text.includes('\r\n\r\n')) bodyAt = text.indexOf('\r\n\r\n') + 4
    changed()
  })
  // A reset is one way to be closed.
  socket.on('error', () => undefined)
  socket.on('close', () => {
    isClosed = true
    changed()
  })
  const wait = (isReached: () => boolean, mayEnd: boolean): Promise<string> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        if (!isReached() && !isClosed) return
        looks.delete(look)
        if (isReached() || mayEnd) resolve(text)
        else reject(new Error(`the connection ended after: ${text.slice(0, 500)}`))
      }
      looks.add(look)
      look()
    })
  return {
    socket,
    get text() {
      return text
    },
    get isClosed() {
      return isClosed
    },
    send: (bytes) => void socket.write(bytes),
    until: (pattern, times) =>
      wait(() => (times === undefined ? pattern.test(text) : text.split(pattern).length > times), false),
    untilBody: (bytes) => wait(() => bodyAt >= 0 && text.length - bodyAt >= bytes, false),
    untilEnd: (pattern) => wait(() => pattern.test(end), false),
    closed: () => wait(() => isClosed, true),
    destroy: () => void socket.destroy(),
  }
}

/** Sends one text on a connection of its own and returns all that came until the server closed it. */
export async function exchangeRaw(port: number, text: string): Promise<string> {
  const client = rawClient(port)
  client.send(text)
  const all = await client.closed()
  return all
}

export function requestText(line: string, headers: Readonly<Record<string, string>> = {}, body = ''): string {
  const fields = Object.entries({ host: 'localhost', ...headers }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  )
  return `${line} HTTP/1.1\r\n${fields.join('')}\r\n${body}`
}
