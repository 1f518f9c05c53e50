import t, { type Test } from 'tap'
import { openEgress, type EgressOptions } from '../../../src/server/egress/egress.ts'
import type { Outcome } from '../../../src/schemas/failures.ts'
import type { Destination, EgressExchange, EgressExchangeRequest, VettedOrigin } from '../../../src/server/ports/egress.ts'
import { exchangeRequest, startTarget, type Target } from '../../support/vetted-stand.ts'

const PLAIN = ['http:127.0.0.0/8']

interface Rig {
  readonly target: Target
  readonly egress: ReturnType<typeof openEgress>
  origin(more?: Partial<Destination>): VettedOrigin
  exchange(more?: Partial<EgressExchangeRequest>): Promise<Outcome<EgressExchange>>
  /** Resolves when undici is done with everything. */
  rest(): Promise<void>
}

async function rigged(test: Test, options: EgressOptions = {}): Promise<Rig> {
  const target = await startTarget()
  const egress = openEgress({ allow: PLAIN, resolve: () => Promise.resolve(['127.0.0.1']), ...options })
  test.teardown(async () => {
    await egress.close()
    await target.close()
  })
  const origin = (more: Partial<Destination> = {}): VettedOrigin => {
    const found = egress.vetted({ host: 'good.example', port: target.port, purpose: 'caller', ...more })
    if (!found.ok) throw new Error(found.failure.detail)
    return found.value
  }
  return {
    target, egress, origin,
    exchange: (more) => origin().exchange(exchangeRequest(more)),
    rest: async () => {
      while (egress.load.calls > 0) await new Promise((next) => setImmediate(next))
    },
  }
}

async function textOf(outcome: Outcome<EgressExchange>): Promise<string> {
  if (!outcome.ok) return outcome.failure.name
  const pieces: Uint8Array[] = []
  for (;;) {
    const piece = await outcome.value.body.next()
    if (!piece.ok) return piece.failure.name
    if (piece.value === null) return Buffer.concat(pieces).toString()
    pieces.push(piece.value)
  }
}

t.test('an exchange with an admitted address goes there under its name, and comes back as it is', async (t) => {
  const { target, exchange, egress } = await rigged(t)
  target.answer((req, res) => {
    res.writeHead(418, ['X-Twice', 'a', 'x-twice', 'b', 'Location', 'http://169.254.169.254/'])
    res.end(`${req.method} ${req.url} ${req.headers.host} ${req.headers['accept-encoding']} ${req.headers['x-one']}`)
  })
  const headers = ['X-One', '1', 'accept-encoding', 'br', 'Host', 'other.example', 'connection', 'upgrade', 'expect', '100-continue']
  const outcome = await exchange({ method: 'PURGE', path: '/a?b=c', headers })
  if (!outcome.ok) throw new Error(outcome.failure.name)
  t.equal(outcome.value.status, 418)
  t.same(outcome.value.headers.slice(0, 6), ['x-twice', 'a', 'x-twice', 'b', 'location', 'http://169.254.169.254/'])
  t.equal(await textOf(outcome), `PURGE /a?b=c good.example:${target.port} br 1`)
  t.same(egress.load, { heldBytes: 0, calls: 0 })
})

t.test('a call asks for identity encoding, whatever its headers say', async (t) => {
  const { target, origin } = await rigged(t)
  target.answer((req, res) => void res.end(String(req.headers['accept-encoding'])))
  const outcome = await origin().call({
    method: 'GET', path: '/', headers: ['Accept-Encoding', 'gzip'], body: null, attemptEndsAt: performance.now() + 20_000,
    call: { signal: new AbortController().signal }, mayCutSent: true, mayRepeat: true, answerBytesMax: 1_000,
  })
  if (!outcome.ok) throw new Error(outcome.failure.name)
  t.equal(Buffer.from(outcome.value.body).toString(), 'identity')
})

t.test('a name with one address that is not public is refused whole, and says no more than that', async (t) => {
  const { target, exchange } = await rigged(t, { allow: [], resolve: () => Promise.resolve(['93.184.216.34', '127.0.0.1']) })
  t.match(await exchange(), {
    failure: { name: 'destination_refused', detail: 'Its address is not public.', fields: { rule: 'address' } },
  })
  t.equal(target.connections, 0)
})
