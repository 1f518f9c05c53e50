import { Duplex } from 'node:stream'
import { createSecureContext, TLSSocket } from 'node:tls'
import t, { type Test } from 'tap'
import { openEgress } from '../../../src/server/egress/egress.ts'
import type { Outcome } from '../../../src/schemas/failures.ts'
import type { EgressExchange } from '../../../src/server/ports/egress/egress.ts'
import { NO_OPENSSL } from '../../support/wire/certificate.ts'
import { startAuthority, type KeyPair } from '../../support/wire/certificate-authority.ts'
import { must } from '../../support/must.ts'
import { bytesServer } from '../../support/wire/raw-server.ts'
import { exchangeRequest, startTarget, textOf, type Target } from '../../support/egress/vetted-stand.ts'

const skip = NO_OPENSSL

interface Input {
  readonly tls: KeyPair
  readonly roots?: readonly string[]
  readonly host?: string
}

interface Asked {
  readonly outcome: Outcome<EgressExchange>
  readonly target: Target
  readonly requests: () => number
}

/** One exchange with a TLS server on loopback, which the allow-list admits without `http:`. */
async function asked(t: Test, { tls, roots = [], host = 'good.example' }: Input): Promise<Asked> {
  const target = await startTarget(tls)
  let requests = 0
  target.answer((req, res) => {
    requests++
    res.end(
      `${req.headers.host?.replace(/:\d+$/, '')} ${'servername' in req.socket ? String(req.socket.servername) : ''}`,
    )
  })
  const egress = openEgress({
    allow: ['127.0.0.0/8'],
    extraCa: roots,
    resolve: () => Promise.resolve(['127.0.0.1']),
  })
  t.teardown(() => egress.close().then(() => target.close()))
  const origin = egress.vetted({ host, port: target.port, purpose: 'callback' })
  if (!origin.ok) throw new Error(origin.failure.detail)
  return { outcome: await origin.value.exchange(exchangeRequest()), target, requests: () => requests }
}

t.test(
  'with a root certificate of the operator the host name is sent and verified, although Sluice chose the address',
  { skip },
  async (t) => {
    const authority = startAuthority(t)
    const { outcome } = await asked(t, {
      tls: authority.issue(['DNS:good.example']),
      roots: [authority.root],
    })
    t.equal(await textOf(outcome), 'good.example good.example')
  },
)

t.test(
  'a connection that breaks during its handshake counts as broken, not as a refused address',
  { skip },
  async (t) => {
    const authority = startAuthority(t)
    const { key, cert } = authority.issue(['DNS:good.example'])
    const port = await bytesServer(t, (socket, hello) => {
      // All that the handshake needs of the server comes with the end of the connection.
      const raw = new Duplex({
        read: () => undefined,
        write: (bytes: Buffer, _, done) =>
          void socket.write(bytes, () => {
            socket.resetAndDestroy()
            done()
          }),
      })
      new TLSSocket(raw, { isServer: true, secureContext: createSecureContext({ key, cert }) }).on(
        'error',
        () => undefined,
      )
      raw.push(hello)
    })
    const egress = openEgress({
      allow: ['127.0.0.0/8'],
      extraCa: [authority.root],
      resolve: () => Promise.resolve(['127.0.0.1']),
    })
    t.teardown(() => egress.close())
    const origin = must(egress.vetted({ host: 'good.example', port, purpose: 'caller' }))
    t.match(await origin.exchange(exchangeRequest()), { failure: { name: 'upstream_failed' } })
  },
)

t.test('an IP address that the caller names is verified as that address', { skip }, async (t) => {
  const authority = startAuthority(t)
  const good = await asked(t, {
    tls: authority.issue(['IP:127.0.0.1']),
    roots: [authority.root],
    host: '127.0.0.1',
  })
  t.equal(await textOf(good.outcome), '127.0.0.1 false')
  const other = await asked(t, {
    tls: authority.issue(['IP:127.0.0.2']),
    roots: [authority.root],
    host: '127.0.0.1',
  })
  t.match(other.outcome, {
    failure: { name: 'upstream_failed', detail: "The server's certificate was refused." },
  })
})

t.test(
  'refuses a certificate with another name or issuer, or an expired one, and sends nothing',
  { skip },
  async (t) => {
    const [known, unknown] = [startAuthority(t), startAuthority(t)]
    const bad: Readonly<Record<string, Input>> = {
      'another name': { tls: known.issue(['DNS:other.example']), roots: [known.root] },
      'a parent name': { tls: known.issue(['DNS:example']), roots: [known.root] },
      'a name below': { tls: known.issue(['DNS:*.good.example']), roots: [known.root] },
      'the address and not the name': { tls: known.issue(['IP:127.0.0.1']), roots: [known.root] },
      'a root that is not ours': { tls: unknown.issue(['DNS:good.example']), roots: [known.root] },
      'no root of ours at all': { tls: known.issue(['DNS:good.example']) },
      'a time that is over': { tls: known.issue(['DNS:good.example'], true), roots: [known.root] },
    }
    for (const [what, input] of Object.entries(bad)) {
      const { outcome, requests, target } = await asked(t, input)
      t.match(
        outcome,
        { failure: { name: 'upstream_failed', detail: "The server's certificate was refused." } },
        what,
      )
      t.same([requests(), target.connections], [0, 1], what)
    }
  },
)
