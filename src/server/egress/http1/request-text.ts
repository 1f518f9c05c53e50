import type { Socket } from 'node:net'
import { Readable } from 'node:stream'
import type { SentRequest } from '../handler.ts'
import { JOINED_BODY_BYTES_MAX, PIECE_BYTES } from '../request-body.ts'

/** A request that this client writes: the others go to undici. */
export interface WrittenRequest extends SentRequest {
  readonly body: string | Uint8Array | readonly Uint8Array[] | null
}

/** Methods that may have no body. */
const BARE: ReadonlySet<string> = new Set(['GET', 'DELETE'])
const PATH = /^\/[\x21-\x7e]*$/
const NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const VALUE = /^[\t\x20-\x7e]*$/
const WRITABLE_PATH = /^\/[\x21-\xff]*$/
const WRITABLE_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/
/** Headers that undici takes for instructions, or refuses. */
const SPECIAL: ReadonlySet<string> = new Set([
  'host',
  'content-length',
  'transfer-encoding',
  'connection',
  'keep-alive',
  'upgrade',
  'expect',
])

export function isWritten(request: SentRequest): request is WrittenRequest {
  const { method, body } = request
  if (method !== 'POST') return body === null && BARE.has(method)
  if (body === null || body instanceof Readable) return body === null
  const isOne = typeof body === 'string' || body instanceof Uint8Array
  return (isOne ? body.length : bytesOf(body)) <= PIECE_BYTES
}

/**
 * False for what no client can write. undici must not have it: a request that its pool refuses while another
 * one ends stops the pool.
 */
export function isWritable({ path, headers }: SentRequest): boolean {
  if (!WRITABLE_PATH.test(path) || headers.length % 2 !== 0) return false
  return headers.every((text, at) => (at % 2 === 0 ? NAME : WRITABLE_VALUE).test(text))
}

/** The heads of the requests of one origin, without their lengths. */
export class RequestHeads {
  readonly #host: string
  /**
   * Most calls of a provider have the same frozen list of headers. Its text, which may hold a key, goes with
   * the list.
   */
  readonly #known = new WeakMap<readonly string[], KnownHead>()

  /** @param host with the port, where it is not the protocol's own */
  constructor(host: string) {
    this.#host = host
  }

  /** @returns null when a part of the head is not plain ASCII, or is not ours to write */
  of({ method, path, headers }: SentRequest): string | null {
    const known = this.#known.get(headers)
    if (known !== undefined && known.path === path && known.method === method) return known.head
    const head = this.#make(method, path, headers)
    if (head !== null && Object.isFrozen(headers)) this.#known.set(headers, { method, path, head })
    return head
  }

  #make(method: string, path: string, headers: readonly string[]): string | null {
    if (!PATH.test(path) || headers.length % 2 !== 0) return null
    let head = `${method} ${path} HTTP/1.1\r\nhost: ${this.#host}\r\nconnection: keep-alive\r\n`
    for (let at = 0; at < headers.length; at += 2) {
      const [name = '', value = ''] = [headers[at], headers[at + 1]]
      if (!NAME.test(name) || !VALUE.test(value) || SPECIAL.has(name.toLowerCase())) return null
      head += `${name}: ${value}\r\n`
    }
    return head
  }
}

interface KnownHead {
  readonly method: string
  readonly path: string
  readonly head: string
}

/** Writes a request with as few calls of the system as there are: mostly one. */
export function writeRequest(socket: Socket, head: string, { method, body }: WrittenRequest): void {
  if (body === null) {
    socket.write(BARE.has(method) ? `${head}\r\n` : `${head}content-length: 0\r\n\r\n`, 'latin1')
  } else if (typeof body === 'string') {
    const bytes = Buffer.byteLength(body)
    const isAscii = bytes === body.length
    socket.write(`${head}content-length: ${bytes}\r\n\r\n${body}`, isAscii ? 'latin1' : 'utf8')
  } else if (body instanceof Uint8Array) {
    writeParts(socket, head, [body])
  } else {
    writeParts(socket, head, body)
  }
}

function writeParts(socket: Socket, head: string, parts: readonly Uint8Array[]): void {
  const bytes = bytesOf(parts)
  const whole = `${head}content-length: ${bytes}\r\n\r\n`
  if (bytes <= JOINED_BODY_BYTES_MAX) {
    const joined = Buffer.allocUnsafe(whole.length + bytes)
    let at = joined.write(whole, 'latin1')
    for (const part of parts) {
      joined.set(part, at)
      at += part.length
    }
    socket.write(joined)
    return
  }
  socket.cork()
  socket.write(whole, 'latin1')
  for (const part of parts) socket.write(part)
  socket.uncork()
}

function bytesOf(parts: readonly Uint8Array[]): number {
  let bytes = 0
  for (const part of parts) bytes += part.length
  return bytes
}
