import t from 'tap'
import { exchangeRequest, rigged, textOf } from '../../support/egress/vetted-stand.ts'

t.test(
  'an exchange with an admitted address is sent with its host name, and its response is returned unchanged',
  async (t) => {
    const { target, exchange, egress, rest } = await rigged(t)
    target.answer((req, res) => {
      res.writeHead(418, ['X-Twice', 'a', 'x-twice', 'b', 'Location', 'http://169.254.169.254/'])
      res.end(
        `${req.method} ${req.url} ${req.headers.host} ${req.headers['accept-encoding']} ${req.headers['x-one']}`,
      )
    })
    const headers = [
      'X-One',
      '1',
      'accept-encoding',
      'br',
      'Host',
      'other.example',
      'connection',
      'upgrade',
      'expect',
      '100-continue',
    ]
    const outcome = await exchange({ method: 'PURGE', path: '/a?b=c', headers })
    if (!outcome.ok) throw new Error(outcome.failure.name)
    t.equal(outcome.value.status, 418)
    t.same(outcome.value.headers.slice(0, 6), [
      'x-twice',
      'a',
      'x-twice',
      'b',
      'location',
      'http://169.254.169.254/',
    ])
    t.equal(await textOf(outcome), `PURGE /a?b=c good.example:${target.port} br 1`)
    await rest()
    t.same(egress.load, { heldBytes: 0, calls: 0 })
  },
)

t.test('a call asks for identity encoding, whatever its headers say', async (t) => {
  const { target, origin } = await rigged(t)
  target.answer((req, res) => void res.end(String(req.headers['accept-encoding'])))
  const outcome = await origin().call({
    method: 'GET',
    path: '/',
    headers: ['Accept-Encoding', 'gzip'],
    body: null,
    attemptEndsAt: performance.now() + 20_000,
    call: { signal: new AbortController().signal },
    mayCutSent: true,
    mayRepeat: true,
    answerBytesMax: 1_000,
  })
  if (!outcome.ok) throw new Error(outcome.failure.name)
  t.equal(Buffer.from(outcome.value.body).toString(), 'identity')
})

t.test(
  'refuses a name if one of its addresses is not public, and the failure reveals no more than that',
  async (t) => {
    const { target, exchange } = await rigged(t, {
      allow: [],
      resolve: () => Promise.resolve(['93.184.216.34', '127.0.0.1']),
    })
    t.match(await exchange(), {
      failure: {
        name: 'destination_refused',
        detail: 'The host resolves to an address that is not public.',
        fields: { rule: 'address' },
      },
    })
    t.equal(target.connections, 0)
  },
)

t.test('checks each new connection, and refuses a name that now resolves to a private address', async (t) => {
  const answers = [['127.0.0.1'], ['10.0.0.1']]
  const { target, exchange } = await rigged(t, { resolve: () => Promise.resolve(answers.shift() ?? []) })
  target.answer((_req, res) => void res.writeHead(200, { connection: 'close' }).end('first'))
  t.equal(await textOf(await exchange()), 'first')
  t.equal(await textOf(await exchange()), 'destination_refused')
  t.equal(await textOf(await exchange()), 'upstream_failed', 'and one without addresses is not reached')
  t.equal(target.connections, 1)
})

t.test('tries the next address when the first does not answer', async (t) => {
  const { exchange } = await rigged(t, { resolve: () => Promise.resolve(['127.0.0.2', '127.0.0.1']) })
  t.equal(await textOf(await exchange()), 'here')
})

t.test(
  'refuses the port of the node although the list admits loopback, and store and admin ports at every listed address',
  async (t) => {
    const own = { node: [0], stores: [0], admin: () => new Set<number>() }
    const { target, origin, exchange } = await rigged(t, {
      own,
      allow: ['http:127.0.0.0/8', 'http:10.0.0.0/8'],
    })
    own.node = [target.port]
    t.equal(await textOf(await exchange()), 'destination_refused')
    Object.assign(own, { node: [], stores: [target.port] })
    t.equal(await textOf(await exchange()), 'destination_refused')
    t.match(await origin({ host: '10.0.0.9' }).check(), { failure: { name: 'destination_refused' } })
    Object.assign(own, { stores: [], admin: () => new Set([target.port]) })
    t.equal(await textOf(await exchange()), 'destination_refused')
    t.match(await origin({ host: '10.0.0.9' }).check(), { failure: { name: 'destination_refused' } })
    t.match(await origin({ host: '93.184.216.34' }).check(), { ok: true }, 'what is public is not ours')
    t.equal(target.connections, 0)
  },
)

t.test('an entry with a port admits that port only, and a callback never uses plain HTTP', async (t) => {
  const first = await rigged(t, { allow: ['http:127.0.0.1:1024'] })
  t.equal(await textOf(await first.exchange()), 'destination_refused')
  const { exchange, origin, target } = await rigged(t)
  t.equal(await textOf(await exchange()), 'here')
  let firstByte = 0
  target.answer(() => void firstByte++)
  const { exchange: callback } = origin({ purpose: 'callback' })
  t.match(await callback(exchangeRequest()), { failure: { name: 'upstream_failed' } })
  t.equal(firstByte, 0, 'it got a TLS greeting, which is no request')
})

t.test('a check resolves the name and connects to nothing', async (t) => {
  const answers = [['127.0.0.1'], ['10.0.0.1', '127.0.0.1'], []]
  const { target, origin } = await rigged(t, { resolve: () => Promise.resolve(answers.shift() ?? []) })
  t.match(await origin().check(), { ok: true })
  t.match(await origin().check(), { failure: { name: 'destination_refused' } })
  t.match(await origin().check(), {
    failure: { name: 'upstream_failed', detail: 'The host name does not resolve.' },
  })
  t.equal(target.connections, 0)
})
