/** The reason that a failed connection gives to the caller: its kind, and no address. */
import { createServer, type AddressInfo, type Socket } from 'node:net'
import t, { type Test } from 'tap'
import { failureOf } from '../../../src/server/egress/connection-failure.ts'
import { openEgress } from '../../../src/server/egress/egress.ts'
import { request } from '../../support/egress/egress-rig.ts'

/** A server that treats each connection in its own way when it has received something. */
async function serve(test: Test, onData: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => undefined))
    socket.on('data', () => onData(socket))
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  test.teardown(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return `127.0.0.1:${(server.address() as AddressInfo).port}`
}

async function detailOf(test: Test, origin: string, isLean: boolean): Promise<unknown> {
  const egress = openEgress({ isLean })
  test.teardown(() => egress.close())
  const outcome = await egress.trusted(origin).call(request({ mayRepeat: false }))
  return outcome.ok ? outcome.value.status : [outcome.failure.name, outcome.failure.detail]
}

const CLOSED = 'The server closed the connection before its answer was complete.'

for (const isLean of [true, false]) {
  const client = isLean ? 'the client of Sluice' : 'undici'

  t.test(`a failed connection reports its cause, with ${client}`, async (t) => {
    const resets = await serve(t, (socket) => socket.resetAndDestroy())
    const closes = await serve(t, (socket) => socket.end())
    const speaksOther = await serve(t, (socket) => socket.end('220 mail.example ESMTP\r\n\r\n'))
    for (const [origin, detail] of [
      ['http://127.0.0.1:1', 'The server refused the connection.'],
      [`http://${resets}`, 'The server reset the connection.'],
      [`http://${closes}`, CLOSED],
      [`http://${speaksOther}`, isLean ? "The server's response was not valid HTTP." : CLOSED],
      [`https://${speaksOther}`, 'The TLS handshake with the server failed.'],
      [`https://${resets}`, 'The server reset the connection.'],
      ['http://nowhere.invalid', 'The host name does not resolve.'],
    ] as const)
      t.same(await detailOf(t, origin, isLean), ['upstream_failed', detail], origin)
  })
}

t.test('error codes that no test can cause are classified, and the text of the error is not shown', (t) => {
  for (const [code, connection] of [
    ['EAI_AGAIN', 'name'],
    ['ETIMEDOUT', 'timeout'],
    ['UND_ERR_CONNECT_TIMEOUT', 'timeout'],
    ['EHOSTUNREACH', 'unroutable'],
    ['CERT_HAS_EXPIRED', 'certificate'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'certificate'],
    ['ANOTHER', 'unreached'],
  ] as const) {
    const failure = failureOf(Object.assign(new Error('connect 10.0.0.7:8443 db.internal'), { code }), false)
    t.match(failure, { name: 'upstream_failed', fields: { connection } }, code)
    t.notMatch(JSON.stringify({ ...failure, cause: null }), /10\.0|8443|internal/)
  }
  t.end()
})
