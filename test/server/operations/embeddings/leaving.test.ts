/** Clients that leave: what was sent runs on and is charged, what was not sent yet is cancelled. C24. */
import { createServer, type AddressInfo, type Socket } from 'node:net'
import t from 'tap'
import { AUTHORIZATION } from '../../../support/front.ts'
import { openEmbeddings } from '../../../support/embeddings/embeddings-front.ts'
import { answers, refuses } from '../../../support/embeddings/provider-behaviours.ts'

const body = (model: string): RequestInit => ({
  method: 'POST',
  headers: { authorization: AUTHORIZATION, 'content-type': 'application/json' },
  body: JSON.stringify({ model, input: 'one two three' }),
})

t.test('a call that the provider has runs on when its client leaves, and is charged', async (t) => {
  const { url, first, settled, untilSettled, rest } = await openEmbeddings(t)
  let answerNow: () => void = () => undefined
  first.script((exchange) => void (answerNow = () => answers()(exchange)))
  const client = new AbortController()
  const call = fetch(`${url}/api/v1/embeddings`, { ...body('acme/one'), signal: client.signal }).catch(
    () => null,
  )
  await first.arrived(1)
  client.abort()
  await call
  setTimeout(() => answerNow(), 30)
  await untilSettled(1)
  t.match(settled, [{ notes: { provider: 'first', promptTokens: 4, costUsd: 0.000004 } }])
  t.same(await rest(), { heldBytes: 0, calls: 0 })
})

t.test('when its provider fails after the client left, no other one is asked', async (t) => {
  const { url, first, second, settled, untilSettled } = await openEmbeddings(t)
  let failNow: () => void = () => undefined
  first.script((exchange) => void (failNow = () => refuses(500)(exchange)))
  const client = new AbortController()
  const call = fetch(`${url}/api/v1/embeddings`, { ...body('acme/embed'), signal: client.signal }).catch(
    () => null,
  )
  await first.arrived(1)
  client.abort()
  await call
  setTimeout(() => failNow(), 30)
  await untilSettled(1)
  t.match(settled, [{ isClientGone: true, failure: 'client_gone', notes: { costUsd: undefined } }])
  t.equal(second.calls.length, 0)
})

t.test('a call that was not sent yet is cancelled free of charge', async (t) => {
  // A TLS handshake that nobody answers: the request can never be written.
  const sockets: Socket[] = []
  const silent = createServer((socket) => void sockets.push(socket))
  await new Promise<void>((listening) => silent.listen(0, '127.0.0.1', listening))
  const arrived = new Promise((resolve) => silent.once('connection', resolve))
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    silent.close()
  })
  const { url, settled, untilSettled } = await openEmbeddings(t, {
    oneAt: `https://127.0.0.1:${(silent.address() as AddressInfo).port}`,
    deadlineMs: 600_000,
  })
  const client = new AbortController()
  const call = fetch(`${url}/api/v1/embeddings`, { ...body('acme/one'), signal: client.signal }).catch(
    () => null,
  )
  await arrived
  client.abort()
  await call
  await untilSettled(1)
  t.match(settled, [
    { isClientGone: true, failure: 'client_gone', notes: { costUsd: undefined, promptTokens: undefined } },
  ])
})
