import t from 'tap'
import {
  SCIM_NAME_CHARS_MAX,
  SCIM_RESULTS_DEFAULT,
  SCIM_RESULTS_MAX,
  SCIM_VALUES_MAX,
} from '../../../../src/schemas/scim/scim-limits.ts'
import { plantUsers } from '../../../support/scim/directory.ts'
import { openScimFront } from '../../../support/scim/scim-front.ts'
import { SCIM_ATTRIBUTES_BYTES_MAX } from '../../../../src/server/operations/scim/user-input.ts'
import { SCIM_USER_BODY_BYTES_MAX } from '../../../../src/schemas/bodies.ts'

const NOBODY = '/Users/019a5b0c-4e21-7b1c-92d3-e4f5a6b7c8d9'

t.test('scim.list_users 200, 400: pages, sorts, selects attributes, refuses invalid filters', async (t) => {
  const { store, call, user, organizationId } = await openScimFront(t)
  const ann = await user('ann', {
    title: 'Z',
    name: { familyName: 'A', givenName: 'B' },
    emails: [{ value: 'a@b.c', type: 'work' }],
  })
  await plantUsers(
    store,
    organizationId,
    Array.from({ length: SCIM_RESULTS_MAX }, (_, n) => `u${n}`),
  )
  const page = async (query: string) =>
    (await call('GET', `/Users?${query}`)).body as unknown as {
      totalResults: number
      startIndex: number
      itemsPerPage: number
      Resources: readonly Record<string, unknown>[]
    }
  t.match(await page(''), {
    totalResults: SCIM_RESULTS_MAX + 1,
    startIndex: 1,
    itemsPerPage: SCIM_RESULTS_DEFAULT,
  })
  t.match(await page('count=0'), { totalResults: SCIM_RESULTS_MAX + 1, itemsPerPage: 0, Resources: [] })
  t.match(await page('count=-3&startIndex=-1'), { startIndex: 1, itemsPerPage: 0 })
  t.match(await page('count=100000&startIndex=2'), { startIndex: 2, itemsPerPage: SCIM_RESULTS_MAX })
  t.match(await page('count=100000'), { itemsPerPage: SCIM_RESULTS_MAX })
  t.match(await page('startIndex=5000'), { totalResults: SCIM_RESULTS_MAX + 1, itemsPerPage: 0 })
  t.equal((await page('sortBy=userName&sortOrder=descending&count=1')).Resources[0]?.['userName'], 'u99')
  t.equal((await page('sortBy=name.familyName&count=1')).Resources[0]?.['userName'], 'ann')
  const [some] = (await page('filter=title pr&attributes=userName,NAME.familyName,emails.value')).Resources
  t.same(some, {
    schemas: some?.['schemas'],
    id: ann,
    userName: 'ann',
    name: { familyName: 'A' },
    emails: [{ value: 'a@b.c' }],
  })
  const [rest] = (await page('filter=title pr&excludedAttributes=name,emails.type,id,meta,groups')).Resources
  t.same(rest, {
    schemas: rest?.['schemas'],
    id: ann,
    userName: 'ann',
    title: 'Z',
    active: true,
    emails: [{ value: 'a@b.c' }],
  })
  t.match(await call('GET', '/Users?filter=shoeSize eq 5'), {
    status: 400,
    body: { scimType: 'invalidFilter', detail: /shoeSize/ },
  })
  t.match(await call('GET', '/Users?sortBy=shoeSize'), { status: 400, body: { scimType: 'invalidValue' } })
  t.equal((await call('GET', '/Users?count=many')).status, 400)
})

t.test('scim.search_users 200, 400: returns the list for a query in the body', async (t) => {
  const { call, user } = await openScimFront(t)
  const id = await user('ann', { title: 't' })
  await user('bob')
  const found = await call('POST', '/Users/.search', {
    body: { filter: 'userName sw "A"', attributes: ['title'], startIndex: 1, count: 5 },
  })
  t.match(found, { status: 200, body: { totalResults: 1, Resources: [{ id, title: 't' }] } })
  t.notMatch(JSON.stringify(found.body), 'userName')
  t.match(await call('POST', '/Users/.search', { body: { filter: 'userName' } }), {
    status: 400,
    body: { scimType: 'invalidFilter' },
  })
})

t.test('scim.get_user 200, 404: a user with its version, or an empty 304 for a known one', async (t) => {
  const { call, user, foreignToken } = await openScimFront(t)
  const path = `/Users/${await user('ann')}`
  const read = await call('GET', path)
  t.match(read, {
    status: 200,
    body: { userName: 'ann', active: true, groups: [], meta: { version: 'W/"1"', resourceType: 'User' } },
  })
  t.equal(read.headers.get('etag'), 'W/"1"')
  t.equal((await call('GET', path, { headers: { 'if-none-match': 'W/"1"' } })).status, 304)
  t.equal((await call('GET', path, { headers: { 'if-none-match': 'W/"2", "x"' } })).status, 200)
  for (const answer of [
    await call('GET', NOBODY),
    await call('GET', '/Users/x'),
    await call('GET', path, { token: foreignToken }),
  ]) {
    t.match(answer, {
      status: 404,
      body: { status: '404', schemas: ['urn:ietf:params:scim:api:messages:2.0:Error'] },
    })
  }
})

t.test(
  'joining or renaming a group gives a user a new ETag, and a change may still be conditional on the old one',
  async (t) => {
    const { call, user } = await openScimFront(t)
    const id = await user('ann')
    const path = `/Users/${id}`
    const tags = [(await call('GET', path)).headers.get('etag') ?? '']
    const group = await call('POST', '/Groups', { body: { displayName: 'Staff', members: [{ value: id }] } })
    tags.push(
      (await call('GET', path, { headers: { 'if-none-match': tags[0] ?? '' } })).headers.get('etag') ?? '',
    )
    await call('PUT', `/Groups/${String(group.body['id'])}`, {
      body: { displayName: 'Crew', members: [{ value: id }] },
    })
    const read = await call('GET', path, { headers: { 'if-none-match': tags.join(', ') } })
    t.match(read, {
      status: 200,
      body: { groups: [{ display: 'Crew' }], meta: { version: read.headers.get('etag') } },
    })
    tags.push(read.headers.get('etag') ?? '')
    t.equal(new Set(tags).size, 3)
    t.equal((await call('GET', path, { headers: { 'if-none-match': tags[2] ?? '' } })).status, 304)
    const changed = await call('PUT', path, {
      body: { userName: 'ann', title: 't' },
      headers: { 'if-match': tags[0] ?? '' },
    })
    t.match(changed, { status: 200, body: { title: 't' } })
    t.equal(
      (await call('PUT', path, { body: { userName: 'ann' }, headers: { 'if-match': tags[2] ?? '' } })).status,
      412,
    )
  },
)

t.test('scim.create_user 201, 400, 409: refuses missing fields, and a name in use', async (t) => {
  const { call, events } = await openScimFront(t)
  const before = await events()
  const made = await call('POST', '/Users', {
    body: { USERNAME: 'Ann', Active: 'FALSE', NickName: 'n', custom: { any: [1] }, password: 'p4ss-w0rd' },
  })
  t.match(made, {
    status: 201,
    body: { userName: 'Ann', active: false, nickName: 'n', custom: { any: [1] } },
  })
  t.notMatch(JSON.stringify(made.body), 'p4ss-w0rd')
  t.match(await call('POST', '/Users', { body: { userName: 'aNN' } }), {
    status: 409,
    body: { scimType: 'uniqueness' },
  })
  const wrong = [
    {},
    { userName: '' },
    { userName: 5 },
    { userName: 'x'.repeat(SCIM_NAME_CHARS_MAX + 1) },
    { userName: 'x', active: 'maybe' },
    { userName: 'x', name: 'X' },
    { userName: 'x', externalId: 5 },
    { userName: 'x\0' },
    { userName: 'x', title: { deep: ['\0'] } },
    { userName: 'x', title: 'x'.repeat(SCIM_ATTRIBUTES_BYTES_MAX) },
    { userName: 'x', roles: Array.from({ length: SCIM_VALUES_MAX + 1 }, (_, n) => n) },
  ]
  for (const body of wrong) {
    t.match(
      await call('POST', '/Users', { body }),
      { status: 400, body: { scimType: 'invalidValue' } },
      JSON.stringify(body).slice(0, 60),
    )
  }
  t.equal(
    (await call('POST', '/Users', { body: { userName: 'x', title: 'x'.repeat(SCIM_USER_BODY_BYTES_MAX) } }))
      .status,
    413,
  )
  t.equal(await events(), before + 1, 'one made, one told')
})

t.test('scim.replace_user 200, 400, 404, 409, 412: replaces a user if the version matches', async (t) => {
  const { call, user, events, foreignToken } = await openScimFront(t)
  const path = `/Users/${await user('ann', { title: 't', externalId: 'e', active: false })}`
  await user('bob')
  const before = await events()
  const put = (body: object, headers: Record<string, string> = {}, to = path) =>
    call('PUT', to, { body, headers })
  t.match(await put({ userName: 'ann', title: 't', externalId: 'e' }), {
    status: 200,
    body: { meta: { version: 'W/"1"' }, active: false },
  })
  t.equal(await events(), before, 'the same again is no change')
  t.match(await put({ userName: 'BOB' }), { status: 409, body: { scimType: 'uniqueness' } })
  t.match(await put({ userName: 'ann' }, { 'if-match': 'W/"7"' }), { status: 412 })
  t.match(await put({ title: 'x' }), { status: 400 })
  t.match(await put({ userName: 'x' }, {}, NOBODY), { status: 404 })
  t.match(await call('PUT', path, { body: { userName: 'x' }, token: foreignToken }), { status: 404 })
  const replaced = await put(
    { userName: 'anne', id: 'other', meta: {}, groups: [{ value: 'x' }], password: 'p4ss' },
    { 'if-match': 'W/"1"' },
  )
  t.match(replaced, { status: 200, body: { userName: 'anne', groups: [], meta: { version: 'W/"2"' } } })
  t.notMatch(JSON.stringify(replaced.body), /title|externalId|p4ss/)
  t.equal(await events(), before + 1)
})

t.test('scim.patch_user 200, 400, 404, 409, 412: applies all of the operations or none', async (t) => {
  const { call, patch, user, events } = await openScimFront(t)
  const path = `/Users/${await user('ann', { title: 't' })}`
  await user('bob')
  const before = await events()
  t.match(
    await patch(
      path,
      { op: 'replace', path: 'title', value: 'x' },
      { op: 'replace', path: 'userName', value: 'Bob' },
    ),
    { status: 409 },
  )
  t.match(
    await patch(path, { op: 'replace', path: 'title', value: 'x' }, { op: 'remove', path: 'userName' }),
    { status: 400 },
  )
  t.match(await patch(NOBODY, { op: 'replace', path: 'title', value: 'x' }), { status: 404 })
  const body = { Operations: [{ op: 'replace', path: 'title', value: 'x' }] }
  t.equal((await call('PATCH', path, { body, headers: { 'if-match': '"2"' } })).status, 412)
  t.match(await patch(path, { op: 'replace', path: 'title', value: 't' }), {
    status: 200,
    body: { title: 't', meta: { version: 'W/"1"' } },
  })
  t.equal(await events(), before)
  t.match(await call('PATCH', path, { body, headers: { 'if-match': '*' } }), {
    status: 200,
    body: { title: 'x', meta: { version: 'W/"2"' } },
  })
  t.equal(await events(), before + 1)
})

t.test('scim.delete_user 204, 404, 412: deletes a user once', async (t) => {
  const { call, user, events, foreignToken } = await openScimFront(t)
  const path = `/Users/${await user('ann')}`
  const before = await events()
  t.equal((await call('DELETE', path, { headers: { 'if-match': 'W/"2"' } })).status, 412)
  t.equal((await call('DELETE', path, { token: foreignToken })).status, 404)
  t.equal(await events(), before)
  t.match(await call('DELETE', path), { status: 204, body: null })
  t.equal((await call('DELETE', path)).status, 404)
  t.equal(await events(), before + 1)
})

t.test('the audit log identifies the token that created a user by its hash', async (t) => {
  const { store, manage, user, organizationId } = await openScimFront(t)
  const id = await user('ann')
  const [token] = await store.sql<
    { hash: string }[]
  >`SELECT hash FROM scim_tokens WHERE organization_id = ${organizationId}`
  const { body } = await manage('GET', `/audit?actor_id=${token?.hash ?? ''}`)
  t.match(body['data'], [
    { operation: 'scim.create_user', object_id: id, actor: { kind: 'scim_token', id: token?.hash } },
  ])
})
