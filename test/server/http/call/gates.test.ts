import t, { type Test } from 'tap'
import Type from 'typebox'
import { fail, ok, type Outcome } from '../../../../src/schemas/failures.ts'
import type { HttpOptions } from '../../../../src/server/http/front.ts'
import type { OperationAccess } from '../../../../src/server/operations/define.ts'
import type { KeyRecord } from '../../../../src/server/ports/keys/keys.ts'
import {
  accessTo,
  INTERN_KEY,
  KEY,
  keyRecords,
  LIMITED_KEY,
  MANAGEMENT_KEY,
  openFront,
  operation,
} from '../../../support/front.ts'
import { gate } from '../../../support/gate.ts'
import { rawClient } from '../../../support/wire/raw-http.ts'

const EVERY_GATE: OperationAccess = {
  keys: ['inference', 'intern'],
  isOfProgramme: true,
  refusesRegional: true,
  writesVault: true,
}
const REGIONAL = ['eu.sluice.example', '127.0.0.1']

interface Shut {
  readonly key?: Partial<KeyRecord>
  readonly access?: Partial<OperationAccess>
  readonly http?: Partial<HttpOptions>
}

/** A put of `/things/{intern_id}/{name}` that has every gate, of which `shut` closes some. */
async function openGated(t: Test, shut: Shut) {
  const gated = operation({
    id: 'test.gated',
    method: 'put',
    path: '/things/{intern_id}/{name}',
    access: { ...EVERY_GATE, ...shut.access },
    input: {
      params: Type.Object({ intern_id: Type.String(), name: Type.String({ maxLength: 3 }) }),
      body: 'embeddings',
    },
    statuses: [400, 403, 404, 413, 429, 500, 503],
  })
  const { url, ...front } = await openFront(t, [gated], {
    access: accessTo(keyRecords(shut.key)),
    ...shut.http,
  })
  const ask = async (key: string, path = '/things/i/toolong', body = 'no JSON'): Promise<string> => {
    const answer = await fetch(`${url}/api/v1${path}`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body,
    })
    const { error } = (await answer.json()) as { error?: { metadata: { error_type: string } } }
    return `${answer.status} ${error?.metadata.error_type ?? ''}`
  }
  return { ...front, url, ask }
}

t.test(
  'refusals have a fixed order: credentials, kind, programme, region, scope, writes, limit, name, body',
  async (t) => {
    const unknown = { scope: () => fail('intern_unknown') }
    const closed = { isInProgramme: false, mayWriteVault: false }
    const http = { regionalHosts: REGIONAL }
    const all = await openGated(t, { key: closed, access: unknown, http })
    t.equal(await all.ask('sk-sluice-v1-nobody'), '401 key_unknown')
    t.equal(await all.ask(MANAGEMENT_KEY), '403 wrong_key_kind')
    t.equal(await all.ask(LIMITED_KEY), '404 programme_closed')
    const inside = { mayWriteVault: false }
    t.equal(
      await (await openGated(t, { key: inside, access: unknown, http })).ask(LIMITED_KEY),
      '403 regional_refused',
    )
    t.equal(
      await (await openGated(t, { key: inside, access: unknown })).ask(LIMITED_KEY),
      '404 intern_unknown',
    )
    t.equal(await (await openGated(t, { key: inside })).ask(LIMITED_KEY), '503 vault_writes_disabled')
    const open = await openGated(t, {})
    t.equal(await open.ask(LIMITED_KEY), '429 rate_limited')
    t.equal(await open.ask(KEY), '400 params_invalid')
    t.equal(await open.ask(KEY, '/things/i/x'), '400 body_malformed')
    t.equal(await open.ask(KEY, '/things/i/x', JSON.stringify({ model: 'm', input: 'x' })), '200 ')
  },
)

t.test(
  'an operation without gates is served outside the programme, on regional hostnames and while writes are disabled',
  async (t) => {
    const shut = { key: { isInProgramme: false, mayWriteVault: false }, http: { regionalHosts: REGIONAL } }
    const { url } = await openFront(t, [operation()], {
      access: accessTo(keyRecords(shut.key)),
      ...shut.http,
    })
    const answer = await fetch(`${url}/api/v1/echo`, {
      method: 'POST',
      headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'm', input: 'x' }),
    })
    t.equal(answer.status, 200)
  },
)

t.test(
  'a hostname is regional in any case, with any port or a final dot, and only on an exact match',
  async (t) => {
    const { port } = await openGated(t, { http: { regionalHosts: ['eu.sluice.example'] } })
    const statusAt = async (host: string): Promise<string> => {
      const client = rawClient(port)
      const headers = [
        `Host: ${host}`,
        `Authorization: Bearer ${KEY}`,
        'Content-Length: 0',
        'Connection: close',
      ]
      client.send(`PUT /api/v1/things/i/long HTTP/1.1\r\n${headers.join('\r\n')}\r\n\r\n`)
      return (await client.closed()).slice(9, 12)
    }
    const regional = [
      'eu.sluice.example',
      'EU.Sluice.Example',
      'eu.sluice.example.',
      'eu.sluice.example:8080',
      'eu.sluice.example.:443',
    ]
    for (const host of regional) {
      t.equal(await statusAt(host), '403', host)
    }
    for (const host of [
      'sluice.example',
      'x.eu.sluice.example',
      'eu.sluice.example.evil',
      'eu.sluice.examplee',
      'eu.sluice.example..',
      '',
    ]) {
      t.equal(await statusAt(host), '400', host)
    }
  },
)

t.test('a scope gets the key and the decoded segments, even next to an undecodable segment', async (t) => {
  const seen: unknown[] = []
  const scope: OperationAccess['scope'] = ({ key, param }) => {
    seen.push([key.internId, param('intern_id'), param('name'), param('other')])
    return ok(null)
  }
  const { ask } = await openGated(t, { access: { scope } })
  t.equal(await ask(INTERN_KEY, '/things/a%2Fb/long'), '400 params_invalid')
  t.equal(await ask(INTERN_KEY, '/things/a%20b/%E0%A4'), '400 params_invalid')
  t.same(seen, [
    ['n', 'a/b', 'long', null],
    ['n', 'a b', null, null],
  ])
})

t.test('the body is read only after the scope is looked up', async (t) => {
  const answer = gate()
  const scope = async (): Promise<Outcome<null>> => {
    await answer.opened
    return ok(null)
  }
  const { ask, front } = await openGated(t, { access: { scope } })
  const asked = ask(KEY, '/things/i/x', JSON.stringify({ model: 'm', input: 'x'.repeat(300_000) }))
  await until(() => front.load.calls === 1)
  answer.open()
  t.equal(await asked, '200 ')
})

t.test(
  'a client that disconnects while its scope is looked up leaves nothing, and its operation does not run',
  async (t) => {
    const [looked, answer] = [gate(), gate()]
    const scope = async (): Promise<Outcome<null>> => {
      looked.open()
      await answer.opened
      return ok(null)
    }
    const { port, front, settled, untilSettled } = await openGated(t, { access: { scope } })
    const client = rawClient(port)
    client.send(
      `PUT /api/v1/things/i/x HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${KEY}\r\nContent-Length: 900\r\n\r\nabc`,
    )
    await looked.opened
    client.destroy()
    await untilSettled(1)
    answer.open()
    await new Promise((resolve) => setImmediate(resolve))
    t.match(settled, [{ failure: 'client_gone', isClientGone: true, status: 0 }])
    t.equal(settled.length, 1)
    t.same(front.load, { calls: 0, timers: 0, bodyBytes: 0 })
  },
)

t.test('a scope that throws is 500 without its message', async (t) => {
  const { ask } = await openGated(t, { access: { scope: () => Promise.reject(new Error('secret words')) } })
  t.equal(await ask(KEY), '500 internal')
})

async function until(isReached: () => boolean): Promise<void> {
  while (!isReached()) await new Promise((resolve) => setImmediate(resolve))
}
