import type { Socket } from 'node:net'

/** What undici keeps of a connection that it reads, under a symbol of its own. */
interface Parser {
  paused: boolean
  /** Of an answer under way: false where it may end with its connection. */
  shouldKeepAlive: boolean
  resume(): void
}

/**
 * Ends the pause of a connection that has ended, before undici hears of it: it asserts that an answer which
 * ends with its connection is not paused, and what it throws there, in a listener, would end the process. All
 * that came was read before, so that nothing more is taken than is held already.
 */
export function detach(socket: Socket): void {
  const parser = parserOf(socket)
  if (parser?.paused === true) parser.resume()
}

/**
 * Keeps undici from taking a connection that broke for the end of an answer, which it does where the
 * connection's end is that of the answer: the assertion above would fail there too, and a part would pass for
 * the whole. RFC 9112 §8.
 */
export function broken(socket: Socket): void {
  const parser = parserOf(socket)
  if (parser !== null) parser.shouldKeepAlive = true
}

function parserOf(socket: Socket): Parser | null {
  const key = Object.getOwnPropertySymbols(socket).find(({ description }) => description === 'parser')
  return key === undefined ? null : (Reflect.get(socket, key) as Parser | null)
}
