/**
 * The least that a relay of whole answers on the product's own libraries can be: uWebSockets.js in front,
 * a client behind. No checks, no bounds, no back-pressure. The process ends with its parent.
 */
import uWS from 'uWebSockets.js'
import { CLIENTS } from './bare-clients.ts'

export interface BareRelaySettings {
  readonly port: number
  readonly providerPort: number
  readonly name: keyof typeof CLIENTS
}

const PATH = '/v1/embeddings'

function listen({ port, providerPort, name }: BareRelaySettings): void {
  const ask = CLIENTS[name](`http://127.0.0.1:${providerPort}`, PATH)
  uWS
    .App()
    .post('/*', (res) => {
      let isGone = false
      res.onAborted(() => (isGone = true))
      const answer = (bytes: Uint8Array | null): void => {
        if (isGone) return
        if (bytes === null) return void res.close()
        res.cork(() => {
          res.writeHeader('content-type', 'application/json')
          res.end(bytes)
        })
      }
      let held: Buffer | null = null
      res.onData((chunk, isLast) => {
        // The library takes its bytes back when this function returns.
        const piece = Buffer.from(chunk.slice(0))
        held = held === null ? piece : Buffer.concat([held, piece])
        if (isLast) ask(held, answer)
      })
    })
    .listen('127.0.0.1', port, () => void process.send?.('ready'))
}

process.on('disconnect', () => process.exit(0))
process.once('message', listen)
