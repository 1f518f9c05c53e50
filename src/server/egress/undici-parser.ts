import type { OnReadOpts, Socket } from 'node:net'

/** undici's state of a connection that it reads, under a private symbol. */
interface Parser {
  paused: boolean
  /** Memory of the parser; null once its connection has ended. */
  readonly ptr: number | null
  /** Reads the next bytes of the connection, and keeps slices of them. */
  execute(bytes: Buffer): void
  /** Of the answer in progress: false when the answer may end with its connection. */
  shouldKeepAlive: boolean
  resume(): void
}

/**
 * Ends the pause of a connection that has ended, before undici's own handler runs: undici asserts that an
 * answer which ends with its connection is not paused, and the exception in its listener would end the
 * process. All bytes have been read by then, so that memory does not grow.
 */
export function detach(socket: Socket): void {
  const parser = parserOf(socket)
  if (parser?.paused === true) parser.resume()
}

/**
 * Prevents undici from treating a broken connection as the end of an answer that ends with its connection: the
 * assertion above would fail, and a partial answer would be taken for a complete one. RFC 9112 §8.
 */
export function broken(socket: Socket): void {
  const parser = parserOf(socket)
  if (parser !== null) parser.shouldKeepAlive = true
}

/**
 * Passes the bytes of a connection to undici's parser in the callback of the read. By default undici waits for
 * `readable`, which costs as much as parsing an event of a stream: a stream buffer, a tick, and 64 KiB of
 * memory for each read. A connection that undici has paused is read in the usual way, with the limits of a
 * stream.
 * @param bytesMax of one read
 */
export function directRead(bytesMax: number): OnReadOpts {
  // One buffer for all connections: a callback runs to its end before the next read.
  const buffer = Buffer.alloc(bytesMax)
  return {
    buffer,
    callback(this: Socket, length: number): boolean {
      // Copied, since undici keeps slices of a head and of an answer.
      const bytes = Buffer.from(buffer.subarray(0, length))
      const parser = parserOf(this)
      if (parser === null || parser.ptr === null || parser.paused || this.readableLength > 0)
        return this.push(bytes)
      parser.execute(bytes)
      return true
    },
  }
}

let parserKey: symbol | undefined

function parserOf(socket: Socket): Parser | null {
  parserKey ??= Object.getOwnPropertySymbols(socket).find(({ description }) => description === 'parser')
  return parserKey === undefined
    ? null
    : ((Reflect.get(socket, parserKey) as Parser | null | undefined) ?? null)
}
