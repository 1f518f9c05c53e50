/**
 * A provider that costs almost nothing: a raw socket server that answers embeddings and chat completions with
 * bytes made once. It runs in a process of its own and is controlled by IPC, so that its CPU does not count
 * as the gateways'.
 */
import { createServer, type Socket } from 'node:net'

export interface MockSettings {
  /** Numbers in the one vector of an embeddings answer. */
  readonly dimensions: number
  /** Milliseconds before an answer. */
  readonly latencyMs: number
}

export interface MockReady {
  readonly port: number
  /** Bytes of the two bodies, which are equal. */
  readonly answerBytes: number
}

/** A vector as providers print it, at a length that does not depend on the run. */
function embeddingsBody(dimensions: number): string {
  const vector = Array.from({ length: dimensions }, (_, index) => (Math.sin(index + 1) / 10).toFixed(8))
  return (
    `{"object":"list","data":[{"object":"embedding","index":0,"embedding":[${vector.join(',')}]}],` +
    '"model":"bench-embed","usage":{"prompt_tokens":8,"total_tokens":8}}'
  )
}

/**
 * A chat completion of exactly as many bytes: what a gateway without embeddings of our kind is measured with.
 */
function chatBody(bytes: number): string {
  const around = (text: string): string =>
    '{"id":"chatcmpl-bench","object":"chat.completion","created":1700000000,"model":"bench-chat",' +
    `"choices":[{"index":0,"message":{"role":"assistant","content":"${text}"},"finish_reason":"stop"}],` +
    '"usage":{"prompt_tokens":8,"completion_tokens":8,"total_tokens":16}}'
  return around('a'.repeat(Math.max(0, bytes - around('').length)))
}

function answer(status: string, body: string): Buffer {
  return Buffer.from(
    `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  )
}

/** Finds the requests of one connection and answers them in order. */
function serve(socket: Socket, answerOf: (head: string) => Buffer, latencyMs: number): void {
  const held: Buffer[] = []
  let heldBytes = 0
  let neededBytes = 0
  socket.setNoDelay(true)
  socket.on('error', () => {})
  socket.on('data', (chunk: Buffer) => {
    held.push(chunk)
    heldBytes += chunk.length
    // Joining at every chunk of a large body would copy it a hundred times.
    if (heldBytes < neededBytes) return
    let bytes = held.length === 1 ? chunk : Buffer.concat(held)
    for (
      neededBytes = requestLength(bytes);
      neededBytes > 0 && neededBytes <= bytes.length;
      neededBytes = requestLength(bytes)
    ) {
      const answer = answerOf(bytes.toString('latin1', 0, Math.min(neededBytes, 64)))
      bytes = bytes.subarray(neededBytes)
      if (latencyMs === 0) socket.write(answer)
      else setTimeout(() => socket.write(answer), latencyMs)
    }
    held.splice(0, held.length, bytes)
    heldBytes = bytes.length
  })
}

/** Bytes of the first request in the buffer; 0 while they are not known. */
function requestLength(bytes: Buffer): number {
  const end = bytes.indexOf('\r\n\r\n')
  if (end < 0) return 0
  const head = bytes.toString('latin1', 0, end)
  if (/\r\ntransfer-encoding: *chunked/i.test(head)) {
    const last = bytes.indexOf('0\r\n\r\n', end + 4)
    return last < 0 ? 0 : last + 5
  }
  return end + 4 + Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0)
}

process.on('disconnect', () => process.exit(0))
process.once('message', (settings: MockSettings) => {
  const embeddings = embeddingsBody(settings.dimensions)
  const answers = {
    embeddings: answer('200 OK', embeddings),
    chat: answer('200 OK', chatBody(Buffer.byteLength(embeddings))),
    unknown: answer('404 Not Found', '{}'),
  }
  const answerOf = (head: string): Buffer => {
    if (head.includes('/embeddings ')) return answers.embeddings
    return head.includes('/chat/completions ') ? answers.chat : answers.unknown
  }
  const server = createServer((socket) => serve(socket, answerOf, settings.latencyMs))
  server.listen(0, '127.0.0.1', () => {
    const address = server.address()
    const ready: MockReady = {
      port: typeof address === 'object' && address !== null ? address.port : 0,
      answerBytes: Buffer.byteLength(embeddings),
    }
    process.send?.(ready)
  })
})
