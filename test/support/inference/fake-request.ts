/** Requests of one connection, found in its bytes and kept exactly as they came. */

export interface ReadRequest {
  /** Head and body exactly as they came, chunks included. */
  readonly bytes: Buffer
  readonly method: string
  readonly path: string
  /** Names in lower case; of several values the last. */
  readonly headers: Readonly<Record<string, string>>
  /** Without the framing of chunks. */
  readonly body: Buffer
}

const HEAD_END = '\r\n\r\n'

export class RequestReader {
  #held: Buffer[] = []
  #heldBytes = 0
  /** Bytes below which the next request cannot be whole; joining at every read would copy it many times. */
  #neededBytes = 0

  push(bytes: Buffer): void {
    this.#held.push(bytes)
    this.#heldBytes += bytes.length
  }

  /** @returns the next request that has come whole, or null */
  next(): ReadRequest | null {
    if (this.#heldBytes === 0 || this.#heldBytes < this.#neededBytes) return null
    const bytes = Buffer.concat(this.#held)
    this.#held = [bytes]
    const headBytes = bytes.indexOf(HEAD_END) + HEAD_END.length
    if (headBytes < HEAD_END.length) return null
    const [first = '', ...lines] = bytes.toString('latin1', 0, headBytes - HEAD_END.length).split('\r\n')
    const headers = Object.fromEntries(lines.map(fieldOf))
    const read = bodyAt(bytes, headBytes, headers)
    if (typeof read === 'number') {
      this.#neededBytes = read
      return null
    }
    const rest = bytes.subarray(read.end)
    this.#held = [rest]
    this.#heldBytes = rest.length
    this.#neededBytes = 0
    const [method = '', path = ''] = first.split(' ')
    return { bytes: bytes.subarray(0, read.end), method, path, headers, body: read.body }
  }
}

function fieldOf(line: string): [string, string] {
  const colon = line.indexOf(':')
  return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
}

/** @returns the body and its end in the bytes; a number while it is not whole: the bytes that are needed */
function bodyAt(
  bytes: Buffer,
  from: number,
  headers: Readonly<Record<string, string>>,
): { readonly body: Buffer; readonly end: number } | number {
  if (headers['transfer-encoding'] !== 'chunked') {
    const end = from + Number(headers['content-length'] ?? 0)
    return end <= bytes.length ? { body: bytes.subarray(from, end), end } : end
  }
  const pieces: Buffer[] = []
  for (let at = from; ;) {
    const lineEnd = bytes.indexOf('\r\n', at)
    if (lineEnd < 0) return bytes.length + 1
    const size = Number.parseInt(bytes.toString('latin1', at, lineEnd), 16)
    const end = lineEnd + 2 + size + 2
    if (end > bytes.length) return end
    if (size === 0) return { body: Buffer.concat(pieces), end }
    pieces.push(bytes.subarray(lineEnd + 2, end - 2))
    at = end
  }
}
