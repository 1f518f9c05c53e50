/** Clients of a bare relay: one request, and all of its answer. */
import { Pool } from 'undici'
import { UPSTREAM_CONNECTIONS_MAX } from '../../src/schemas/models/provider-limits.ts'

/** Calls back once, with the body of the answer; null: there is none. */
export type Ask = (body: Uint8Array, done: (answer: Uint8Array | null) => void) => void

const HEADERS = ['content-type', 'application/json']

/** The cheapest use of undici: kept connections, `dispatch`, no timeouts. */
export function askByUndici(origin: string, path: string): Ask {
  const pool = new Pool(origin, {
    connections: UPSTREAM_CONNECTIONS_MAX,
    pipelining: 1,
    headersTimeout: 0,
    bodyTimeout: 0,
  })
  return (body, done) => {
    let answer: Buffer | null = null
    pool.dispatch(
      { method: 'POST', path, headers: HEADERS, body },
      {
        onConnect: () => undefined,
        onHeaders: () => true,
        onData: (piece) => {
          answer = answer === null ? piece : Buffer.concat([answer, piece])
          return true
        },
        onComplete: () => done(answer),
        onError: () => done(null),
      },
    )
  }
}
