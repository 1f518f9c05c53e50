/** The admin port of the operator, whose calls a script answers. */
import { adminStand, OPERATOR_KEY, publicStand, type Script } from './admin-port.ts'

export const AUTHORIZED = `host: localhost\r\nauthorization: Bearer ${OPERATOR_KEY}\r\n`

/** What the public port got, as JSON. */
export const echo: Script = (request, response) => {
  const pieces: Buffer[] = []
  request.on('data', (piece: Buffer) => pieces.push(piece))
  request.on('end', () => {
    const { method, url, rawHeaders } = request
    response.writeHead(201, {
      'content-type': 'application/json',
      connection: 'x-secret',
      'x-secret': 'of this connection',
      'x-request-id': 'r'.repeat(20),
    })
    response.end(JSON.stringify({ method, url, rawHeaders, body: Buffer.concat(pieces).toString() }))
  })
}

/** The admin port before a public port that follows the script. */
export async function relayStands(t: Parameters<typeof publicStand>[0], script: Script) {
  const front = await publicStand(t, script)
  return { front, stand: await adminStand(t, front.port) }
}
