/** Calls whose caller leaves, or which end otherwise, before or after their request is sent. */
import { createServer, type AddressInfo } from 'node:net'
import t from 'tap'
import { CallEnded } from '../../../src/schemas/values/call-ended.ts'
import { openEgress } from '../../../src/server/egress/egress.ts'
import { nameOf, released, request, rigged } from '../../support/egress/egress-rig.ts'
import { answers, neverAnswers } from '../../support/embeddings/provider-behaviours.ts'

t.test('a caller that disconnects before the request is sent cancels it', async (t) => {
  const egress = openEgress()
  const silent = createServer((socket) => void t.teardown(() => socket.destroy()))
  await new Promise<void>((listening) => silent.listen(0, '127.0.0.1', listening))
  t.teardown(async () => {
    await egress.close()
    silent.close()
  })
  // A TLS handshake without an answer: the request can never be written.
  const origin = egress.trusted(`https://127.0.0.1:${(silent.address() as AddressInfo).port}`)
  const caller = new AbortController()
  const outcome = origin.call(request({ call: caller }))
  caller.abort()
  t.equal(nameOf(await outcome), 'client_gone')
})

for (const [why, name] of [
  ['deadline', 'deadline_exceeded'],
  ['drain', 'draining'],
] as const) {
  t.test(`a call that a ${why} ends before its request is sent is ${name}`, async (t) => {
    const { call } = await rigged(t)
    const ender = new AbortController()
    const outcome = call({ call: ender, mayCutSent: true })
    ender.abort(new CallEnded(why))
    t.equal(nameOf(await outcome), name)
  })
}

t.test('a connection that is being opened for a cancelled request serves the next one', async (t) => {
  const { call, provider, rest } = await rigged(t)
  const caller = new AbortController()
  const given = call({ call: caller, mayCutSent: true })
  caller.abort()
  t.equal(nameOf(await given), 'client_gone')
  t.same(await rest(), { heldBytes: 0, calls: 0 })
  t.equal(nameOf(await call()), 'answer 200')
  t.same([provider.calls.length, provider.connections.total], [1, 1])
})

t.test('a caller that disconnects after the request is sent does not cancel it', async (t) => {
  const { call, provider } = await rigged(t)
  const caller = new AbortController()
  let answerNow: () => void = () => undefined
  provider.script((exchange) => void (answerNow = () => answers()(exchange)))
  const outcome = call({ call: caller })
  await provider.arrived(1)
  caller.abort()
  setImmediate(() => answerNow())
  t.equal(nameOf(await outcome), 'answer 200')
})

t.test('a read that may be cut ends when its caller disconnects', async (t) => {
  const { call, provider, rest } = await rigged(t)
  const caller = new AbortController()
  provider.script(neverAnswers)
  const outcome = call({ call: caller, mayCutSent: true })
  await provider.arrived(1)
  caller.abort()
  t.equal(nameOf(await outcome), 'client_gone')
  t.same(await rest(), { heldBytes: 0, calls: 0 })
})

t.test(
  'a request that may no longer be written when it gets a connection is not sent, and the connection stays open',
  async (t) => {
    const { provider, call, rest } = await rigged(t)
    released(await call())
    t.match(await call({ mayWrite: () => false }), { ok: false, failure: { name: 'client_gone' } })
    released(await call({ mayWrite: () => true }))
    t.equal(provider.calls.length, 2)
    t.equal(provider.connections.open, provider.connections.total)
    t.same(await rest(), { heldBytes: 0, calls: 0 })
  },
)

t.test(
  'asks for permission to write when a request has a connection, and never when it gets none',
  async (t) => {
    const { provider, call, rest } = await rigged(t)
    let asked = 0
    await provider.close()
    t.match(await call({ mayWrite: () => ++asked > 0 }), { ok: false, failure: { name: 'upstream_failed' } })
    t.equal(asked, 0)
    await rest()
  },
)
