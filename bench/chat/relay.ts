/**
 * The least that a relay on the product's own libraries can be: uWebSockets.js in front, undici behind, each
 * read of the provider one write to the caller. No back-pressure, no checks, no errors; it ends with its
 * parent.
 */
import { Pool } from 'undici'
import uWS from 'uWebSockets.js'

export interface RelaySettings {
  readonly port: number
  readonly providerPort: number
}

function listen({ port, providerPort }: RelaySettings): void {
  const pool = new Pool(`http://127.0.0.1:${providerPort}`, {
    connections: 2_048,
    pipelining: 1,
    headersTimeout: 0,
    bodyTimeout: 0,
  })
  uWS
    .App()
    .post('/*', (res, req) => {
      // The request is gone behind the first turn.
      const path = req.getUrl()
      let isGone = false
      res.onAborted(() => (isGone = true))
      const chunks: Buffer[] = []
      res.onData((chunk, isLast) => {
        chunks.push(Buffer.from(chunk.slice(0)))
        if (!isLast) return
        pool.dispatch(
          {
            method: 'POST',
            path,
            headers: ['content-type', 'application/json'],
            body: Buffer.concat(chunks),
          },
          {
            onConnect: () => undefined,
            onHeaders: (status) => {
              if (!isGone)
                res.cork(() => {
                  res.writeStatus(String(status))
                  res.writeHeader('content-type', 'text/event-stream')
                })
              return true
            },
            onData: (bytes) => {
              if (!isGone) res.cork(() => void res.write(bytes))
              return true
            },
            onComplete: () => {
              if (!isGone) res.cork(() => void res.end())
            },
            onError: () => {
              if (!isGone) res.close()
            },
          },
        )
      })
    })
    .listen('127.0.0.1', port, () => void process.send?.('ready'))
}

process.on('disconnect', () => process.exit(0))
process.once('message', listen)
