import type { Socket } from 'node:net'

/** undici's state of a connection that it reads, under a private symbol. */
interface Parser {
  paused: boolean
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

function parserOf(socket: Socket): Parser | null {
  const key = Object.getOwnPropertySymbols(socket).find(({ description }) => description === 'parser')
  return key === undefined ? null : (Reflect.get(socket, key) as Parser | null)
}
