import type { Socket } from 'node:net'

/** What undici keeps of a connection that it reads, under a symbol of its own. */
interface Parser {
  paused: boolean
  resume(): void
}

/**
 * Ends the pause of a connection that has ended, before undici hears of it: it asserts that an answer which ends with
 * its connection is not paused, and what it throws there, in a listener, would end the process. All that came was
 * read before, so that nothing more is taken than is held already.
 */
export function letGo(socket: Socket): void {
  const key = Object.getOwnPropertySymbols(socket).find(({ description }) => description === 'parser')
  const parser = key === undefined ? null : (Reflect.get(socket, key) as Parser | null)
  if (parser?.paused !== true) return
  parser.resume()
  // A connection that broke is destroyed, and resumes no more.
  parser.paused = false
}
