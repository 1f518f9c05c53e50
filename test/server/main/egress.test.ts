import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { egress as findings } from '../../../src/server/cli/operator/doctor/examine.ts'
import { UPSTREAM_LONG_CALLS_DEFAULT } from '../../../src/schemas/models/provider-limits.ts'
import { readFrom, type Config } from '../../../src/server/config.ts'
import type { Texts } from '../../../src/server/config/texts.ts'
import { openGate } from '../../../src/server/main/egress.ts'
import { countRoots } from '../../../src/server/main/extra-roots.ts'
import { NO_OPENSSL } from '../../support/wire/certificate.ts'
import { startAuthority } from '../../support/wire/certificate-authority.ts'
import { exchangeRequest, startTarget, textOf } from '../../support/egress/vetted-stand.ts'
import { UPSTREAM_LONG_CALLS_MAX } from '../../../src/schemas/operator/settings.ts'

function configOf(texts: Texts): Config {
  const reading = readFrom(texts)
  if (!reading.ok) throw new Error(JSON.stringify(reading.problems))
  return reading.generation.config
}

/** What a target on loopback says, or the name of the failure, to a caller of a node with these settings. */
async function text(
  t: Test,
  texts: (port: number) => Texts,
  tls: { key: string; cert: string } | null = null,
): Promise<string> {
  const target = await startTarget(tls)
  const gate = openGate(configOf(texts(target.port)))
  t.teardown(() => gate.close().then(() => target.close()))
  const origin = gate.vetted({ host: '127.0.0.1', port: target.port, purpose: 'caller' })
  return origin.ok ? textOf(await origin.value.exchange(exchangeRequest())) : origin.failure.name
}

const ALLOW = { SLUICE_EGRESS_ALLOW: 'http:127.0.0.0/8' }

t.test(
  'the gateway connects neither to its own ports nor to its stores, whatever the list admits',
  async (t) => {
    t.equal(await text(t, () => ALLOW), 'here')
    const own: Readonly<Record<string, (port: number) => Texts>> = {
      'the service': (port) => ({ SLUICE_PORT: String(port) }),
      'the admin port': (port) => ({ SLUICE_ADMIN_PORT: String(port) }),
      Postgres: (port) => ({ DATABASE_URL: `postgres://u:p@127.0.0.1:${port}/d` }),
      'Postgres of several hosts': (port) => ({
        DATABASE_URL: `postgres://u:p@10.0.0.1:5439,10.0.0.2:${port}/d`,
      }),
      Redis: (port) => ({ REDIS_URL: `rediss://10.0.0.1:${port}` }),
    }
    for (const [what, texts] of Object.entries(own)) {
      t.equal(await text(t, (port) => ({ ...ALLOW, ...texts(port) })), 'destination_refused', what)
    }
  },
)

t.test('trusts the roots of SLUICE_EGRESS_CA as well as those of Node', { skip: NO_OPENSSL }, async (t) => {
  const authority = startAuthority(t)
  const pair = authority.issue(['IP:127.0.0.1'])
  const allow = { SLUICE_EGRESS_ALLOW: '127.0.0.1' }
  t.equal(await text(t, () => allow, pair), 'upstream_failed')
  t.equal(await text(t, () => ({ ...allow, SLUICE_EGRESS_CA: authority.rootFile }), pair), 'here')
})

t.test('counts root certificates, and ignores an unreadable one', { skip: NO_OPENSSL }, async (t) => {
  const { root } = startAuthority(t)
  t.equal(countRoots(''), 0)
  t.equal(countRoots('-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n'), 0)
  t.equal(countRoots(`# ours\n${root}\n${root}`), 2)
  t.equal(countRoots(`${root}-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n`), null)
})

t.test(
  'doctor warns of ranges that include this machine or a metadata service, and of files without root certificates',
  async (t) => {
    const file = join(t.testdir({}), 'roots.pem')
    writeFileSync(file, 'none')
    t.same(findings({ egressAllow: [], egressCaFile: null }), [])
    const list = (...egressAllow: readonly string[]): unknown => findings({ egressAllow, egressCaFile: null })
    t.match(list('10.0.0.0/8', 'http:127.0.0.1:8000'), [{ check: 'egress_allow', level: 'ok' }])
    t.match(list('0.0.0.0/0'), [{ level: 'warning', detail: /this machine.*metadata.*virtual machine/ }])
    t.match(list('http:169.254.0.0/16'), [{ level: 'warning', detail: /metadata/ }])
    t.match(findings({ egressAllow: [], egressCaFile: file }), [
      { check: 'egress_ca', level: 'problem', detail: 'the file contains no certificate' },
    ])
    t.match(findings({ egressAllow: [], egressCaFile: `${file}.gone` }), [
      { check: 'egress_ca', level: 'problem' },
    ])
  },
)

t.test('the gate has as many places for long calls as the settings allow, and at least one', async (t) => {
  t.equal(configOf({}).streams, UPSTREAM_LONG_CALLS_DEFAULT)
  for (const given of ['0', '-1', '1.5', 'many', String(UPSTREAM_LONG_CALLS_MAX + 1)]) {
    const reading = readFrom({ SLUICE_STREAMS: given })
    t.match(reading.ok ? [] : reading.problems, [{ name: 'SLUICE_STREAMS', got: given }])
  }
  const target = await startTarget()
  const gate = openGate(configOf({ SLUICE_STREAMS: '1' }))
  t.teardown(() => gate.close().then(() => target.close()))
  const origin = gate.trusted(`http://127.0.0.1:${target.port}`)
  const first = origin.exchange(exchangeRequest())
  t.match(await origin.exchange(exchangeRequest()), { ok: false, failure: { name: 'busy' } })
  t.equal(await textOf(await first), 'here')
})
