import t from 'tap'
import { INTERN_KEY, OTHER_KEY } from '../../../support/front.ts'
import { REFUSED_HOSTS } from '../../../support/egress/near-hosts.ts'
import { HOST, openVaultFront, type VaultFront } from '../../../support/vault/vault-front.ts'

const front = await openVaultFront(t)
const { call, intern, otherIntern, store } = front
const OWN = `/interns/${intern.internId}`
const FOREIGN = `/interns/${otherIntern.internId}`
const body = (value = 'v', hosts: readonly string[] = [HOST]) => ({ hosts, value })

const put = (path: string, value?: string, hosts?: readonly string[]) =>
  call('PUT', path, { body: body(value, hosts) })
const namesOf = async ({ call: ask }: VaultFront, path: string, key?: string) =>
  (await ask('GET', path, key === undefined ? {} : { key })).json.data.map(({ name }) => name)

t.test(
  'a secret is returned with name, hosts, fingerprint and the time of its first store, and its value appears nowhere',
  async (t) => {
    const { json, text } = await put('/secrets/told', 'never to be seen')
    t.same(Object.keys(json.data), ['name', 'hosts', 'fingerprint', 'created_at'])
    t.match(json.data.created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    t.match(json.data.fingerprint, /^sha256:[0-9a-f]{64}$/)
    t.notMatch(text + (await call('GET', '/secrets')).text + front.front.lines.join(), 'never to be seen')
  },
)

t.test(
  'a replacement keeps the time of the first store, and has the new hosts and fingerprint',
  async (t) => {
    const first = (await put('/secrets/again', 'one')).json.data
    const second = (await put('/secrets/again', 'two', ['b.example'])).json.data
    t.equal(second.created_at, first.created_at)
    t.same(second.hosts, ['b.example'])
    t.not(second.fingerprint, first.fingerprint)
  },
)

t.test('a secret that is stored again after its deletion counts as new', async (t) => {
  const first = (await put('/secrets/reborn')).json.data
  t.equal((await call('DELETE', '/secrets/reborn')).status, 204)
  const second = (await put('/secrets/reborn')).json.data
  t.ok(second.created_at >= first.created_at)
  const [row] = await store.sql`SELECT created_at = updated_at AS is_new FROM secrets WHERE name = 'reborn'`
  t.equal(row?.['is_new'], true)
})

t.test(
  'the same value has the same fingerprint within a vault, also when stored again, and another one in another vault',
  async (t) => {
    const one = (await put('/secrets/print_a', 'same')).json.data.fingerprint
    const twin = (await put('/secrets/print_b', 'same')).json.data.fingerprint
    const again = (await put('/secrets/print_a', 'same', ['b.example'])).json.data.fingerprint
    const elsewhere = await Promise.all([
      put(`${OWN}/secrets/print_a`, 'same'),
      call('PUT', '/secrets/print_a', { key: OTHER_KEY, body: body('same') }),
    ])
    t.same([twin, again], [one, one])
    t.equal(new Set([one, ...elsewhere.map(({ json }) => json.data.fingerprint)]).size, 3)
  },
)

t.test('hosts are stored normalized, once and sorted', async (t) => {
  const { json } = await put('/secrets/hosts', 'v', ['Z.example', 'api.EXAMPLE.com.', 'api.example.com'])
  t.same(json.data.hosts, ['api.example.com', 'z.example'])
})

t.test('the error for an invalid host has its position, not its text, and nothing is stored', async (t) => {
  for (const host of REFUSED_HOSTS) {
    const { status, json } = await put('/secrets/refused', 'hidden value', [HOST, host])
    t.equal(status, 400, JSON.stringify(host))
    t.match(json.error.metadata.issues?.[0]?.path, /^\/hosts\/1$/)
  }
  const { text } = await put('/secrets/refused', 'hidden value', ['https://hidden.example'])
  t.notMatch(text, 'hidden')
  t.notOk((await namesOf(front, '/secrets')).includes('refused'))
})

t.test('the error for an unknown member of the body names the member and contains no value', async (t) => {
  const { status, json, text } = await call('PUT', '/secrets/more', {
    body: { ...body('hidden value'), hots: ['hidden.example'] },
  })
  t.equal(status, 400)
  t.match(json.error.metadata.issues, [{ path: '/hots', message: 'is not a known member' }])
  t.notMatch(text, 'hidden')
})

t.test('a member __proto__ is unknown too', async (t) => {
  const refused = await call('PUT', '/secrets/x', {
    body: `{"hosts":["${HOST}"],"value":"v","__proto__":{"value":"w"}}`,
  })
  t.match(refused, { status: 400, json: { error: { metadata: { issues: [{ path: '/__proto__' }] } } } })
})

t.test('the error for a copy with missing sources has their positions in the request', async (t) => {
  await put('/secrets/here')
  const { status, json } = await call('POST', `${OWN}/secrets/copy`, {
    body: { names: ['none_a', 'here', 'none_b'] },
  })
  t.equal(status, 404)
  const message =
    'There is no such secret: /names/0 is not a known name, expected the name of a secret of the workspace (and 1 more).'
  t.match(json, {
    error: {
      message,
      metadata: { error_type: 'secret_unknown', issues: [{ path: '/names/0' }, { path: '/names/2' }] },
    },
  })
  await call('DELETE', '/secrets/here')
})

t.test(
  'an intern may have a secret named `copy` like the action, and can replace and delete it',
  async (t) => {
    await put('/secrets/copy')
    t.equal((await put(`${OWN}/secrets/copy`)).status, 200)
    t.equal((await call('POST', `${OWN}/secrets/copy`, { body: { names: ['copy'] } })).status, 200)
    t.equal((await call('DELETE', `${OWN}/secrets/copy`)).status, 204)
    t.notOk((await namesOf(front, `${OWN}/secrets`)).includes('copy'))
    const { status, headers } = await fetch(`${front.front.url}/api/v1/vault${OWN}/secrets/copy`, {
      method: 'PATCH',
    })
    t.same([status, headers.get('allow')], [405, 'DELETE, POST, PUT'])
    await call('DELETE', '/secrets/copy')
  },
)

t.test('errors for a body of any size contain no value, and nothing of the body is logged', async (t) => {
  const before = front.front.lines.length
  const bodies = [
    { hosts: [HOST], value: ['hidden value'] },
    { hosts: 'hidden value', value: 'hidden value' },
    { value: 'hidden value' },
    { hosts: [HOST], value: 'hidden value'.repeat(6_000) },
    { hosts: [HOST], value: 'hidden value'.repeat(30_000) },
    '{"hosts":["a.example"],"value":"hidden value"',
    '"hidden value"',
  ]
  for (const wrong of bodies) {
    const { status, text } = await call('PUT', '/secrets/wrong', { body: wrong })
    t.equal(status, 400)
    t.notMatch(text, 'hidden')
  }
  t.notMatch(front.front.lines.slice(before).join(), 'hidden')
})

t.test('stores a value of the maximum length, in its shortest and longest JSON encoding', async (t) => {
  for (const one of ['x', '𝄞', '\u0001'])
    t.equal((await put('/secrets/long', one.repeat(65_536))).status, 200, JSON.stringify(one))
  t.equal((await put('/secrets/long', 'x'.repeat(65_537))).status, 400)
})

t.test('a list is sorted by name, in pages, and reports whether more follow', async (t) => {
  for (const name of ['p_c', 'p_a', 'p_b', 'p0', 'pz'])
    await call('PUT', `/secrets/${name}`, { key: OTHER_KEY, body: body() })
  const page = async (query: string) => {
    const { json } = await call('GET', `/secrets${query}`, { key: OTHER_KEY })
    // Another test's, which stands before `pz`.
    return [
      json.data
        .map(({ name }) => name)
        .filter((name) => name !== 'print_a')
        .join(' '),
      json.has_more,
    ]
  }
  t.same(await page(''), ['p0 p_a p_b p_c pz', false])
  t.same(await page('?limit=2'), ['p0 p_a', true])
  t.same(await page('?limit=2&offset=2'), ['p_b p_c', true])
  t.same(await page('?limit=2&offset=4'), ['pz', false])
  t.same(await page('?offset=10000'), ['', false])
})

t.test('a workspace lists only its own secrets, and cannot find names of another workspace', async (t) => {
  await put('/secrets/mine')
  t.notOk((await namesOf(front, '/secrets', OTHER_KEY)).includes('mine'))
  t.equal((await call('DELETE', '/secrets/mine', { key: OTHER_KEY })).status, 404)
  t.equal((await call('GET', `${OWN}/secrets`, { key: OTHER_KEY })).status, 404)
  t.ok((await namesOf(front, '/secrets')).includes('mine'))
})

t.test(
  'an intern key gets 404 on every route of the workspace and of other interns, before any other refusal',
  async (t) => {
    const routes = [
      ['GET', '/secrets?limit=0'],
      ['PUT', '/secrets/BAD'],
      ['DELETE', '/secrets/BAD'],
      ['GET', `${FOREIGN}/secrets`],
      ['PUT', `${FOREIGN}/secrets/a`],
      ['DELETE', `${FOREIGN}/secrets/a`],
      ['POST', `${FOREIGN}/secrets/copy`],
      ['GET', `${FOREIGN}/effective-secrets`],
      ['GET', '/interns/x/secrets'],
    ] as const
    for (const [method, path] of routes) {
      const answer = await call(method, path, {
        key: INTERN_KEY,
        ...(method !== 'GET' && method !== 'DELETE' && { body: {} }),
      })
      t.equal(answer.status, 404, `${method} ${path}`)
    }
  },
)

t.test("an intern key reads, writes, copies and deletes its own intern's secrets", async (t) => {
  await put('/secrets/source')
  const key = INTERN_KEY
  t.equal((await call('PUT', `${OWN}/secrets/of_intern`, { key, body: body() })).status, 200)
  t.equal((await call('POST', `${OWN}/secrets/copy`, { key, body: { names: ['source'] } })).status, 200)
  t.same(
    (await namesOf(front, `${OWN}/secrets`, key)).filter((name) => /^(of_intern|source)$/.test(name)),
    ['of_intern', 'source'],
  )
  t.equal((await call('GET', `${OWN}/effective-secrets`, { key })).status, 200)
  t.equal((await call('DELETE', `${OWN}/secrets/of_intern`, { key })).status, 204)
})

t.test('an unknown intern, a foreign intern and an invalid id get the same 404', async (t) => {
  const unknown = ['0190a1b2-c3d4-7e5f-8a6b-7c8d9e0f1a2b', 'x', '%00', 'a%2Fb', "'", '%ff']
  for (const id of unknown) {
    const { status, json } = await call('GET', `/interns/${id}/secrets`)
    t.same([status, json.error.metadata.error_type], [404, 'intern_unknown'], id)
  }
})

t.test('copies are made all or none: a missing name copies nothing', async (t) => {
  await put('/secrets/there')
  t.equal(
    (await call('POST', `${FOREIGN}/secrets/copy`, { body: { names: ['there', 'not_there'] } })).status,
    404,
  )
  t.same(await namesOf(front, `${FOREIGN}/secrets`), [])
})

t.test('the error for a repeated name in a copy has its position', async (t) => {
  const { status, json } = await call('POST', `${FOREIGN}/secrets/copy`, { body: { names: ['a', 'b', 'a'] } })
  t.equal(status, 400)
  t.match(json.error.metadata.issues, [{ path: '/names/2' }])
})

t.test('a copy keeps its hosts, and copy and source stay when the other one is deleted', async (t) => {
  for (const name of ['c_one', 'c_two']) await put(`/secrets/${name}`, name, ['b.example', 'a.example'])
  const { json } = await call('POST', `${FOREIGN}/secrets/copy`, { body: { names: ['c_two', 'c_one'] } })
  t.same(
    json.data.map(({ name, hosts }) => [name, hosts]),
    [
      ['c_two', ['a.example', 'b.example']],
      ['c_one', ['a.example', 'b.example']],
    ],
  )
  await call('DELETE', '/secrets/c_one')
  await call('DELETE', `${FOREIGN}/secrets/c_two`)
  t.same(await namesOf(front, `${FOREIGN}/secrets`), ['c_one'])
  t.ok((await namesOf(front, '/secrets')).includes('c_two'))
})

t.test('legacy rows have null hosts and a null fingerprint until they are stored again', async (t) => {
  await put('/secrets/legacy')
  await store.sql`UPDATE secrets SET hosts = NULL, fingerprint = NULL WHERE name = 'legacy'`
  const answer = async () => (await call('GET', '/secrets')).json.data.find(({ name }) => name === 'legacy')
  t.match(await answer(), { hosts: null, fingerprint: null })
  await put('/secrets/legacy')
  t.match(await answer(), { hosts: [HOST], fingerprint: /^sha256:/ })
})

t.test('writes are refused while they are disabled, and reads still work', async (t) => {
  const closed = await openVaultFront(t, { facts: { mayWriteVault: false } })
  t.equal((await closed.call('PUT', '/secrets/a', { body: 'not even JSON' })).status, 503, 'before the body')
  t.equal((await closed.call('PUT', '/secrets/BAD', { body: body() })).status, 503, 'before the name')
  t.equal((await closed.call('DELETE', '/secrets/a')).status, 503)
  t.equal((await closed.call('GET', '/secrets')).status, 200)
})
