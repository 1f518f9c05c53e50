import t from 'tap'
import { plantUsers } from '../../../support/scim/directory.ts'
import { openScimFront } from '../../../support/scim/scim-front.ts'

const NONE = '019a5b0c-4e21-7b1c-92d3-e4f5a6b7c8d9'

t.test('scim.list_scim_groups 200, 400: returns groups with or without members', async (t) => {
  const { call, user, group } = await openScimFront(t)
  const ann = await user('ann', { displayName: 'A "quoted" \u2028 name' })
  const [one, two] = [await group('one', [ann]), await group('two')]
  const listed = await call('GET', '/Groups?sortBy=displayName&sortOrder=descending')
  t.match(listed, {
    status: 200,
    body: { totalResults: 2, Resources: [{ id: two, members: [] }, { id: one }] },
  })
  const members = [{ value: ann, display: 'A "quoted" \u2028 name', $ref: `Users/${ann}`, type: 'User' }]
  t.match((listed.body as unknown as { Resources: readonly object[] }).Resources[1], { members })
  t.notMatch(JSON.stringify((await call('GET', '/Groups?attributes=displayName')).body), /"members"|"meta"/)
  t.match(await call('GET', '/Groups?count=0'), { body: { totalResults: 2, Resources: [] } })
  t.match(await call('GET', '/Groups?filter=members.display eq "x"'), {
    status: 400,
    body: { scimType: 'invalidFilter', detail: /members\.display/ },
  })
})

t.test('scim.search_groups 200, 400: returns the list for a query in the body', async (t) => {
  const { call, user, group } = await openScimFront(t)
  const ann = await user('ann')
  const id = await group('one', [ann])
  await group('two')
  const body = { filter: `members[value eq "${ann}"]`, excludedAttributes: ['meta'] }
  t.match(await call('POST', '/Groups/.search', { body }), {
    status: 200,
    body: { totalResults: 1, Resources: [{ id, members: [{ value: ann }] }] },
  })
  t.match(await call('POST', '/Groups/.search', { body: { filter: '(' } }), {
    status: 400,
    body: { scimType: 'invalidFilter' },
  })
})

t.test('scim.get_group 200, 404: a group with its version, or an empty 304 for a known one', async (t) => {
  const { call, group, foreignToken } = await openScimFront(t)
  const path = `/Groups/${await group('one')}`
  const read = await call('GET', path)
  const meta = { resourceType: 'Group', location: `https://sluice.example/scim/v2${path}` }
  t.match(read, { status: 200, body: { displayName: 'one', members: [], meta } })
  t.equal(read.headers.get('content-type'), 'application/scim+json')
  t.equal(
    (await call('GET', path, { headers: { 'if-none-match': read.headers.get('etag') ?? '' } })).status,
    304,
  )
  for (const answer of [
    await call('GET', `/Groups/${NONE}`),
    await call('GET', path, { token: foreignToken }),
  ])
    t.match(answer, { status: 404 })
})

t.test('scim.create_group 201, 400, 409: refuses missing fields, and a name in use', async (t) => {
  const { call, user, events } = await openScimFront(t)
  const ann = await user('ann')
  const before = await events()
  const made = await call('POST', '/Groups', { body: { DisplayName: 'one', Members: [{ Value: ann }, ann] } })
  t.match(made, { status: 201, body: { members: [{ value: ann }] } })
  t.match(await call('POST', '/Groups', { body: { displayName: 'ONE' } }), {
    status: 409,
    body: { scimType: 'uniqueness' },
  })
  const wrong = [
    {},
    { displayName: ' ' },
    { displayName: 'x\0' },
    { displayName: 'x', members: [{}] },
    { displayName: 'x', members: [{ value: NONE }] },
  ]
  for (const body of wrong) {
    t.match(await call('POST', '/Groups', { body }), { status: 400, body: { scimType: 'invalidValue' } })
  }
  t.equal(await events(), before + 1)
})

t.test('scim.replace_group 200, 400, 404, 409, 412: replaces the group including its members', async (t) => {
  const { call, user, group, members, events } = await openScimFront(t)
  const [ann, bob] = [await user('ann'), await user('bob')]
  const id = await group('one', [ann])
  await group('two')
  const path = `/Groups/${id}`
  const before = await events()
  const put = (body: object, headers: Record<string, string> = {}, to = path) =>
    call('PUT', to, { body, headers })
  t.match(await put({ displayName: 'one', members: [{ value: ann }] }), {
    status: 200,
    body: { meta: { version: 'W/"1"' } },
  })
  t.equal((await put({ displayName: 'TWO' })).status, 409)
  t.equal((await put({ displayName: 'one' }, { 'if-match': 'W/"2"' })).status, 412)
  t.equal((await put({ displayName: 'x', members: [{ value: bob }, { value: NONE }] })).status, 400)
  t.equal((await put({ displayName: 'x' }, {}, `/Groups/${NONE}`)).status, 404)
  t.same([await members(id), await events()], [['ann'], before])
  const input = { displayName: 'new', externalId: 'e', members: [{ value: bob }] }
  t.match(await put(input), { status: 200, body: input })
  t.same([await members(id), await events()], [['bob'], before + 1])
})

t.test('scim.patch_group 204, 400, 404, 409, 412: applies all of the operations or none', async (t) => {
  const { call, patch, user, group, members, events } = await openScimFront(t)
  const [ann, bob] = [await user('ann'), await user('bob')]
  const id = await group('one', [ann])
  await group('two')
  const path = `/Groups/${id}`
  const before = await events()
  const add = { op: 'add', path: 'members', value: [{ value: bob }] }
  const refused: readonly (readonly [readonly object[], number, string | undefined])[] = [
    [[add, { op: 'replace', path: 'displayName', value: 'Two' }], 409, 'uniqueness'],
    [[add, { op: 'add', path: 'members', value: [{ value: NONE }] }], 400, 'invalidValue'],
    [[add, { op: 'replace', path: 'id', value: NONE }], 400, 'mutability'],
    [[add, { op: 'replace', value: { id: NONE } }], 400, 'mutability'],
    [[add, { op: 'add', path: 'members[display eq "x"]', value: 1 }], 400, 'invalidPath'],
    [[add, { op: 'replace', path: 'externalId' }], 400, 'invalidValue'],
    [[add, { op: 'add', path: `members[value eq "${ann}"]`, value: [{ value: bob }] }], 400, 'invalidPath'],
    [[add, { op: 'remove', path: `members[value eq "${ann}" or display eq "x"]` }], 400, 'invalidPath'],
    [[add, { op: 'replace', path: `members[value eq "${ann}"].display`, value: 'x' }], 400, 'mutability'],
    [[add, { op: 'replace', path: 'shoeSize', value: 5 }], 400, 'invalidPath'],
    [[add, { op: 'remove', path: 'displayName' }], 400, 'invalidValue'],
    [[add, { op: 'remove' }], 400, 'noTarget'],
    [[add, { op: 'move', path: 'members' }], 400, 'invalidValue'],
    [[], 400, 'invalidValue'],
  ]
  for (const [operations, status, scimType] of refused)
    t.match(await patch(path, ...operations), { status, body: { scimType } }, JSON.stringify(operations[1]))
  t.equal(
    (await call('PATCH', path, { body: { Operations: [add] }, headers: { 'if-match': 'W/"9"' } })).status,
    412,
  )
  t.equal((await patch(`/Groups/${NONE}`, add)).status, 404)
  t.same([await members(id), await events()], [['ann'], before])
  const idle = await patch(
    path,
    { op: 'add', path: 'members', value: { value: ann } },
    { op: 'remove', path: `members[value eq "${bob}"]` },
  )
  t.same([idle.status, idle.headers.get('etag'), await events()], [204, 'W/"1"', before])
  const changed = await patch(path, add, {
    op: 'add',
    value: { externalId: 'e', 'urn:x:y:Ext': { z: 1 }, unknown: 1 },
  })
  t.same(
    [changed.status, changed.headers.get('etag'), await members(id), await events()],
    [204, 'W/"2"', ['ann', 'bob'], before + 1],
  )
  t.equal(
    (await patch(path, { op: 'remove', path: `members[value eq "${ann}" or value eq "${bob}"]` })).status,
    204,
  )
  t.same(await members(id), [])
})

t.test('the last of several operations that replace all members takes effect', async (t) => {
  const { patch, user, group, members } = await openScimFront(t)
  const [ann, bob] = [await user('ann'), await user('bob')]
  const id = await group('one', [ann])
  const all = (...ids: readonly string[]) => ({
    op: 'replace',
    path: 'members',
    value: ids.map((value) => ({ value })),
  })
  t.equal((await patch(`/Groups/${id}`, all(ann, bob), all(bob))).status, 204)
  t.same(await members(id), ['bob'])
})

t.test('scim.delete_group 204, 404, 412: deletes a group once, and frees its name', async (t) => {
  const { call, group, events, foreignToken } = await openScimFront(t)
  const path = `/Groups/${await group('one')}`
  const before = await events()
  t.equal((await call('DELETE', path, { headers: { 'if-match': 'W/"2"' } })).status, 412)
  t.equal((await call('DELETE', path, { token: foreignToken })).status, 404)
  t.match(await call('DELETE', path, { headers: { 'if-match': '"1"' } }), { status: 204 })
  t.equal((await call('DELETE', path)).status, 404)
  t.equal(await events(), before + 1)
  await group('One')
})

t.test(
  'twenty connections that add one member each lose none, and one request adds a thousand',
  async (t) => {
    const { store, patch, group, members, organizationId } = await openScimFront(t)
    const names = Array.from({ length: 1_000 }, (_, n) => `u${String(n).padStart(3, '0')}`)
    const ids = await plantUsers(store, organizationId, names)
    const id = await group('all')
    const answers = await Promise.all(
      ids
        .slice(0, 20)
        .map((value) => patch(`/Groups/${id}`, { op: 'add', path: 'members', value: [{ value }] })),
    )
    t.same(
      answers.map(({ status }) => status),
      answers.map(() => 204),
    )
    t.same(await members(id), names.slice(0, 20))
    t.equal(
      (
        await patch(
          `/Groups/${id}`,
          ...ids.map((value) => ({ op: 'Add', path: 'members', value: [{ value }] })),
        )
      ).status,
      204,
    )
    t.same(await members(id), names)
  },
)
