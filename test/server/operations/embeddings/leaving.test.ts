/** Clients that leave: a sent call runs on and is charged, an unsent one is cancelled. C24. */
import { createServer, type AddressInfo, type Socket } from 'node:net'
import t, { type Test } from 'tap'
import { ok } from '../../../../src/schemas/failures.ts'
import type { CallCost, HoldInput, Spend } from '../../../../src/server/ports/money/money.ts'
import { AUTHORIZATION } from '../../../support/front.ts'
import { openEmbeddings } from '../../../support/embeddings/embeddings-front.ts'
import { answers, refuses } from '../../../support/embeddings/provider-behaviours.ts'
import { recorder } from '../../../support/money/spend-recorder.ts'

const body = (model: string): RequestInit => ({
  method: 'POST',
  headers: { authorization: AUTHORIZATION, 'content-type': 'application/json' },
  body: JSON.stringify({ model, input: 'one two three' }),
})

/** Nano-USD of a token at a price of one USD per million. */
const TOKEN = 1_000

/**
 * With a deadline the front has timers, without which it does not notice that a client left an unsent call.
 */
const LONG_MS = 600_000

/** A host that answers no TLS handshake: a request to it can never be written. */
async function silentHost(t: Test): Promise<{ readonly origin: string; readonly arrived: Promise<unknown> }> {
  const sockets: Socket[] = []
  const silent = createServer((socket) => void sockets.push(socket))
  await new Promise<void>((listening) => silent.listen(0, '127.0.0.1', listening))
  const arrived = new Promise((resolve) => silent.once('connection', resolve))
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    silent.close()
  })
  return { origin: `https://127.0.0.1:${(silent.address() as AddressInfo).port}`, arrived }
}

t.test('a call sent to the provider continues after a disconnect, and is charged', async (t) => {
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

t.test('when its provider fails after the client disconnected, no other provider is called', async (t) => {
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
  const { origin, arrived } = await silentHost(t)
  const { url, settled, untilSettled } = await openEmbeddings(t, {
    oneAt: origin,
    deadlineMs: LONG_MS,
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

t.test('a client that disconnects before its call was sent is not charged', async (t) => {
  const { origin, arrived } = await silentHost(t)
  const spend = recorder()
  const { url, untilSettled } = await openEmbeddings(t, {
    spend,
    oneAt: origin,
    deadlineMs: LONG_MS,
  })
  const client = new AbortController()
  const call = fetch(`${url}/api/v1/embeddings`, { ...body('acme/one'), signal: client.signal }).catch(
    () => null,
  )
  await arrived
  client.abort()
  await call
  await untilSettled(1)
  t.same(
    spend.holds.map(({ ends }) => ends),
    [['released']],
  )
})

t.test(
  'a client that disconnects while its call waits for money is not charged, and nothing is sent',
  async (t) => {
    let asked: () => void = () => undefined
    let granted: () => void = () => undefined
    const isAsked = new Promise<void>((resolve) => void (asked = resolve))
    const spend = recorder(() => (asked(), new Promise((resolve) => void (granted = resolve))))
    const { url, first, untilSettled } = await openEmbeddings(t, { spend, deadlineMs: LONG_MS })
    const client = new AbortController()
    const call = fetch(`${url}/api/v1/embeddings`, { ...body('acme/one'), signal: client.signal }).catch(
      () => null,
    )
    await isAsked
    const signal = spend.holds[0]?.ask.signal?.()
    const left = new Promise((resolve) => signal?.addEventListener('abort', resolve))
    client.abort()
    await Promise.all([call, left])
    granted()
    await untilSettled(1)
    t.same(
      spend.holds.map(({ ends }) => ends),
      [['released']],
    )
    t.equal(first.calls.length, 0)
  },
)

t.test('a client that disconnects while its take is written is not charged; nothing is sent', async (t) => {
  let asked: (ask: HoldInput) => void = () => undefined
  let wrote: (isWritten: boolean) => void = () => undefined
  const ends: ('released' | CallCost)[] = []
  const isAsked = new Promise<HoldInput>((resolve) => void (asked = resolve))
  const spend: Spend = {
    hold(ask) {
      asked(ask)
      return ok({
        written(waiter) {
          wrote = (isWritten) => waiter.written(isWritten)
          return null
        },
        progress: () => undefined,
        settle: (cost) => (ends.push(cost), null),
        release: () => void ends.push('released'),
      })
    },
  }
  const { url, first, untilSettled } = await openEmbeddings(t, { spend, deadlineMs: LONG_MS })
  const client = new AbortController()
  const call = fetch(`${url}/api/v1/embeddings`, { ...body('acme/one'), signal: client.signal }).catch(
    () => null,
  )
  const signal = (await isAsked).signal?.()
  const left = new Promise((resolve) => signal?.addEventListener('abort', resolve))
  client.abort()
  await Promise.all([call, left])
  wrote(true)
  await untilSettled(1)
  t.same(ends, ['released'])
  t.equal(first.calls.length, 0)
})

t.test('a client that disconnects after its call was sent is charged once', async (t) => {
  const spend = recorder()
  const { url, first, untilSettled } = await openEmbeddings(t, { spend, deadlineMs: LONG_MS })
  let answerNow: () => void = () => undefined
  first.script((exchange) => void (answerNow = () => answers()(exchange)))
  const client = new AbortController()
  const call = fetch(`${url}/api/v1/embeddings`, { ...body('acme/one'), signal: client.signal }).catch(
    () => null,
  )
  await first.arrived(1)
  client.abort()
  await call
  t.same(spend.holds[0]?.ends, [])
  setTimeout(() => answerNow(), 30)
  await untilSettled(1)
  t.match(
    spend.holds.map(({ ends }) => ends),
    [[{ costNano: 4 * TOKEN, provider: 'first' }]],
  )
  t.equal(spend.holds[0]?.ends.length, 1)
})
