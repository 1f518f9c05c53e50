import { once } from 'node:events'
import { connect } from 'node:net'
import t from 'tap'
import { fail, type Outcome } from '../../../../src/schemas/failures.ts'
import { SECRETS_PER_VAULT_MAX, VAULT_BODY_BYTES_MAX } from '../../../../src/schemas/vault/vault-limits.ts'
import { Timers } from '../../../../src/server/http/timers.ts'
import type { Vaults } from '../../../../src/server/ports/vault/vault.ts'
import { KEY } from '../../../support/front.ts'
import {
  HOST,
  openVaultFront,
  type VaultFront,
  type VaultFrontOptions,
} from '../../../support/vault/vault-front.ts'

const SECRET = { hosts: [HOST], value: 'v' }

interface Route {
  readonly method: string
  readonly path: string
  readonly body?: unknown
}

/** Method, path below `/vault` and a good body of each operation; `I` stands for an intern. */
const LIST: Route = { method: 'GET', path: '/secrets' }
const PUT: Route = { method: 'PUT', path: '/secrets/a', body: SECRET }
const DELETE: Route = { method: 'DELETE', path: '/secrets/a' }
const LIST_INTERN: Route = { method: 'GET', path: '/interns/I/secrets' }
const PUT_INTERN: Route = { method: 'PUT', path: '/interns/I/secrets/a', body: SECRET }
const DELETE_INTERN: Route = { method: 'DELETE', path: '/interns/I/secrets/a' }
const COPY: Route = { method: 'POST', path: '/interns/I/secrets/copy', body: { names: ['a'] } }
const EFFECTIVE: Route = { method: 'GET', path: '/interns/I/effective-secrets' }

function ask({ call, intern }: VaultFront, { method, path, body }: Route) {
  return call(method, path.replace('I', intern.internId), { body })
}

const GOOD: readonly (readonly [string, number, Route])[] = [
  ['vault.put_secret 200: a secret is stored and returned without its value', 200, PUT],
  ['vault.list_secrets 200: the secrets of the workspace', 200, LIST],
  ['vault.copy_secrets 200: the copies', 200, COPY],
  ['vault.list_intern_secrets 200: the secrets of the intern', 200, LIST_INTERN],
  ['vault.put_intern_secret 200: a secret of the intern is replaced', 200, PUT_INTERN],
  ['vault.list_effective_secrets 200: what the intern can use', 200, EFFECTIVE],
  ['vault.delete_intern_secret 204: no body', 204, DELETE_INTERN],
  ['vault.delete_secret 204: no body', 204, DELETE],
]

// All before the first test: one that ends while a front is opened would end the file with it.
const front = await openVaultFront(t)
/** A second passes in 25 ms. */
const hurried = await openVaultFront(t, { http: { timers: new Timers(() => performance.now() * 40) } })
const away = await openVaultFront(
  t,
  everyCall(() => Promise.resolve(fail('store_unavailable'))),
)
const silent = await openVaultFront(
  t,
  everyCall(() => new Promise(() => undefined), 50),
)
for (const [title, status, route] of GOOD) {
  t.test(title, async (t) => {
    const answer = await ask(front, route)
    t.equal(answer.status, status)
    t.equal(answer.text === '', status === 204)
    t.notMatch(answer.text, '"value"')
  })
}

const MISSING: readonly (readonly [string, Route])[] = [
  ['vault.delete_secret 404: it was deleted before', DELETE],
  ['vault.delete_intern_secret 404: it was deleted before', DELETE_INTERN],
  ['vault.copy_secrets 404: there is no such secret to copy', COPY],
]
for (const [title, route] of MISSING) {
  t.test(title, async (t) => {
    t.match(await ask(front, route), {
      status: 404,
      json: { error: { metadata: { error_type: 'secret_unknown' } } },
    })
  })
}

const FOREIGN: readonly (readonly [string, Route])[] = [
  ['vault.list_intern_secrets 404: there is no such intern', LIST_INTERN],
  ['vault.put_intern_secret 404: there is no such intern', PUT_INTERN],
  ['vault.list_effective_secrets 404: there is no such intern', EFFECTIVE],
]
for (const [title, { method, path, body }] of FOREIGN) {
  t.test(title, async (t) => {
    const answer = await front.call(method, path.replace('I', front.workspace.workspaceId), { body })
    t.match(answer, { status: 404, json: { error: { metadata: { error_type: 'intern_unknown' } } } })
  })
}

const OUTSIDE: readonly (readonly [string, Route])[] = [
  ['vault.list_secrets 404: the workspace is not in the programme', LIST],
  ['vault.put_secret 404: the workspace is not in the programme', PUT],
]
for (const [title, route] of OUTSIDE) {
  t.test(title, async (t) => {
    const closed = await openVaultFront(t, { facts: { isInProgramme: false } })
    t.match(await ask(closed, route), {
      status: 404,
      json: { error: { metadata: { error_type: 'programme_closed' } } },
    })
  })
}

const INVALID: readonly (readonly [string, Route])[] = [
  ['vault.list_secrets 400: a page that is too large', { ...LIST, path: '/secrets?limit=101' }],
  ['vault.put_secret 400: no hosts', { ...PUT, body: { hosts: [], value: 'v' } }],
  ['vault.delete_secret 400: no name', { ...DELETE, path: '/secrets/A' }],
  [
    'vault.list_intern_secrets 400: a page that is too far',
    { ...LIST_INTERN, path: '/interns/I/secrets?offset=10001' },
  ],
  ['vault.put_intern_secret 400: no value', { ...PUT_INTERN, body: { hosts: [HOST] } }],
  ['vault.delete_intern_secret 400: no name', { ...DELETE_INTERN, path: '/interns/I/secrets/a__b' }],
  ['vault.copy_secrets 400: no names', { ...COPY, body: { names: [] } }],
  [
    'vault.list_effective_secrets 400: a page of nothing',
    { ...EFFECTIVE, path: '/interns/I/effective-secrets?limit=0' },
  ],
]
for (const [title, route] of INVALID) {
  t.test(title, async (t) => {
    t.equal((await ask(front, route)).status, 400)
  })
}

const LARGE: readonly (readonly [string, Route])[] = [
  ['vault.put_secret 413: a body over its limit', PUT],
  ['vault.put_intern_secret 413: a body over its limit', PUT_INTERN],
  ['vault.copy_secrets 413: a body over its limit', COPY],
]
for (const [title, route] of LARGE) {
  t.test(title, async (t) => {
    t.equal((await ask(front, { ...route, body: ' '.repeat(VAULT_BODY_BYTES_MAX + 1) })).status, 413)
  })
}

const SLOW: readonly (readonly [string, Route])[] = [
  ['vault.put_secret 408: the body does not come', PUT],
  ['vault.put_intern_secret 408: the body does not come', PUT_INTERN],
  ['vault.copy_secrets 408: the body does not come', COPY],
]
for (const [title, { method, path }] of SLOW) {
  t.test(title, async (t) => {
    t.match(await stalled(hurried, method, path.replace('I', hurried.intern.internId)), /^HTTP\/1\.1 408 /)
  })
}

t.test('vault.put_intern_secret 409: the vault is full', async (t) => {
  const { vaults, intern, store, call } = front
  await call('PUT', `/interns/${intern.internId}/secrets/first`, { body: SECRET })
  await store.sql`
    INSERT INTO secrets (vault_id, name, hosts, version, key_id, sealed)
    SELECT vault_id, 'n' || n, hosts, nextval('secret_versions'), key_id, sealed FROM secrets, generate_series(2, ${SECRETS_PER_VAULT_MAX}) n
    WHERE name = 'first'`
  const answer = await call('PUT', `/interns/${intern.internId}/secrets/one_more`, { body: SECRET })
  t.match(answer, { status: 409, json: { error: { metadata: { error_type: 'vault_full' } } } })
  t.equal(
    (await call('PUT', `/interns/${intern.internId}/secrets/n5`, { body: SECRET })).status,
    200,
    'a replacement fits',
  )
  t.match(await vaults.list(intern, { limit: 1, offset: 0 }), { ok: true })
})

t.test('vault.copy_secrets 409: a secret without hosts, and an intern during its transfer', async (t) => {
  const { call, store, otherIntern, workspace } = front
  const path = `/interns/${otherIntern.internId}/secrets/copy`
  await call('PUT', '/secrets/legacy', { body: SECRET })
  await call('PUT', '/secrets/good', { body: SECRET })
  await store.sql`UPDATE secrets SET hosts = NULL, fingerprint = NULL WHERE name = 'legacy'`
  const names = ['good', 'legacy']
  t.match(await call('POST', path, { body: { names } }), {
    status: 409,
    json: { error: { metadata: { error_type: 'secret_uncopyable' } } },
  })
  await store.sql`UPDATE interns SET is_in_transfer = true WHERE id = ${otherIntern.internId}`
  const moved = await call('POST', path, { body: { names: ['good'] } })
  t.match(moved, { status: 409, json: { error: { metadata: { error_type: 'intern_in_transfer' } } } })
  t.same((await call('GET', `/interns/${otherIntern.internId}/secrets`)).json.data, [], 'nothing was copied')
  t.ok(workspace)
})

const AWAY: readonly (readonly [string, Route])[] = [
  ['vault.list_secrets 503, 504: the store is away, or does not answer', LIST],
  ['vault.put_secret 503, 504: the store is away, or does not answer', PUT],
  ['vault.delete_secret 503, 504: the store is away, or does not answer', DELETE],
  ['vault.list_intern_secrets 503, 504: the store is away, or does not answer', LIST_INTERN],
  ['vault.put_intern_secret 503, 504: the store is away, or does not answer', PUT_INTERN],
  ['vault.delete_intern_secret 503, 504: the store is away, or does not answer', DELETE_INTERN],
  ['vault.copy_secrets 503, 504: the store is away, or does not answer', COPY],
  ['vault.list_effective_secrets 503, 504: the store is away, or does not answer', EFFECTIVE],
]
for (const [title, route] of AWAY) {
  t.test(title, async (t) => {
    t.equal((await ask(away, route)).status, 503)
    t.equal((await ask(silent, route)).status, 504)
  })
}

/** A vault whose methods all do the same, except `see`. */
function everyCall(act: () => Promise<Outcome<never>>, deadlineMs?: number): VaultFrontOptions {
  return {
    vaults: (vaults: Vaults) => ({
      see: (scope) => vaults.see(scope),
      list: act,
      among: act,
      effective: act,
      put: act,
      remove: act,
      copy: act,
    }),
    ...(deadlineMs !== undefined && {
      operations: (all) => all.map((operation) => ({ ...operation, deadlineMs })),
    }),
  }
}

/** Announces a body, sends nothing of it, and waits for the answer. */
async function stalled({ front: { port } }: VaultFront, method: string, path: string): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  const headers = [
    'host: a',
    `authorization: Bearer ${KEY}`,
    'content-type: application/json',
    'content-length: 9',
  ]
  socket.write(`${method} /api/v1/vault${path} HTTP/1.1\r\n${headers.join('\r\n')}\r\n\r\n{`)
  const [bytes] = (await once(socket, 'data')) as [Buffer]
  socket.destroy()
  return bytes.toString()
}
