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
 * answer which ends with its connection is not paused, and an exception in that listener would end the
 * process. All bytes were read before, so that memory does not grow.
 */
export function detach(socket: Socket): void {
  const parser = parserOf(socket)
  if (parser?.paused === true) parser.resume()
}

/**
 * Prevents undici from taking a broken connection for the end of an answer that ends with its connection: the
 * assertion above would fail there too, and a part would pass for the whole. RFC 9112 §8.
 */
export function broken(socket: Socket): void {
  const parser = parserOf(socket)
  if (parser !== null) parser.shouldKeepAlive = true
}

/**
 * Hands what a connection has read to undici's parser in the callback of the read. By itself undici waits for
 * `readable`, which costs an event of a stream as much as all parsing of it: a stream buffer, a tick, and 64
 * KiB of memory for each read. A connection that undici has paused is read the usual way, with the bounds of
 * a stream.
 * @param bytesMax of one read
 */
export function directRead(bytesMax: number): OnReadOpts {
  // One for all connections: a callback runs to its end before the next read.
  const buffer = Buffer.alloc(bytesMax)
  return {
    buffer,
    callback(this: Socket, length: number): boolean {
      // undici keeps slices of a head and of an answer.
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
