import { randomUUID } from 'node:crypto'
import t from 'tap'
import { ISSUES_MAX } from '../../../../src/schemas/limits/limits.ts'
import { auditOf } from '../../../support/audit/audit.ts'
import { openScimFront } from '../../../support/scim/scim-front.ts'
import { anyOpenRouterClient } from '../../../support/wire/foreign-clients.ts'
import { MEMBERS_AT_ONCE_MAX, USER_REFERENCE_CHARS_MAX } from '../../../../src/schemas/workspaces/members.ts'

/** Shared: every test has users and workspaces of its own. */
const front = await openScimFront(t)
const { manage, user, group, call, foreignKey, foreignToken } = front

let made = 0
const place = async (): Promise<string> => {
  const slug = `place-${++made}`
  const { body } = await manage('POST', '/workspaces', { body: { name: slug, slug } })
  return String((body['data'] as { id: unknown }).id)
}
const users = async (...names: readonly string[]): Promise<readonly string[]> => {
  const ids: string[] = []
  for (const name of names) ids.push(await user(`${name}-${++made}@example.com`))
  return ids
}
const add = (id: string, ids: readonly string[], more: object = {}) =>
  manage('POST', `/workspaces/${id}/members/add`, { body: { user_ids: ids, ...more } })
const remove = (id: string, ids: readonly string[]) =>
  manage('POST', `/workspaces/${id}/members/remove`, { body: { user_ids: ids } })
const membersOf = async (id: string) =>
  (await manage('GET', `/workspaces/${id}/members`)).body['data'] as readonly {
    readonly user_id: string
    readonly role: string
    readonly grants: readonly { readonly source: string }[]
  }[]
const eventsOf = async (id: string) =>
  (await auditOf(front.store))
    .filter((event) => (event as { workspace_id: string }).workspace_id === id)
    .slice(1)
const pathsOf = (answer: { readonly body: object }) =>
  (answer.body as { error: { metadata: { issues: { path: string }[] } } }).error.metadata.issues.map(
    ({ path }) => path,
  )

t.test('workspaces.add_members 200: adds users as manual members, and audits each once', async (t) => {
  const [id, [ann = '', bob = '']] = [await place(), await users('ann', 'bob')]
  const added = await add(id, [ann, bob, ann.toUpperCase()])
  t.match(added, {
    status: 200,
    body: {
      added_count: 2,
      data: [
        { id: `${id}:${ann}`, workspace_id: id, user_id: ann, role: 'member' },
        { user_id: bob, grants: [{ source: 'manual', mapping_id: null }] },
      ],
    },
  })
  t.same(
    (await membersOf(id)).map(({ user_id: one }) => one),
    [ann, bob],
  )
  t.match(await add(id, [ann]), { status: 200, body: { added_count: 0, data: [{ user_id: ann }] } })
  t.match(await add(id, [ann], { role: 'admin' }), { body: { added_count: 1, data: [{ role: 'admin' }] } })
  t.match(await eventsOf(id), [
    { operation: 'workspaces.add_members', object_kind: 'member', object_id: ann, before: null },
    { operation: 'workspaces.add_members', object_id: bob, after: { role: 'member', source: 'manual' } },
    { object_id: ann, before: { role: 'member' }, after: { role: 'admin' } },
  ])
  t.equal((await eventsOf(id)).length, 3)
})

t.test('a manually added user of a mapped group stays a member when the group is deleted', async (t) => {
  const [id, [ann = '']] = [await place(), await users('ann')]
  const groupId = await group(`of ${id}`, [ann])
  await manage('POST', '/scim/group-mappings', {
    body: { scim_group_id: groupId, workspace_id: id, role: 'admin' },
  })
  t.match(await add(id, [ann]), { body: { added_count: 1, data: [{ role: 'admin' }] } })
  await call('DELETE', `/Groups/${groupId}`)
  t.match(await membersOf(id), [{ user_id: ann, role: 'member', grants: [{ source: 'manual' }] }])
})

t.test('workspaces.add_members 400: no user is added when one is unknown, foreign or inactive', async (t) => {
  const [id, [ann = '', gone = '']] = [await place(), await users('ann', 'gone')]
  const made = await call('POST', '/Users', { body: { userName: 'theirs' }, token: foreignToken })
  await call('PUT', `/Users/${gone}`, { body: { userName: 'gone', active: false } })
  const refused = await add(id, [ann, randomUUID(), made.body.id, gone, 'no id', 'a\0b'])
  t.match(refused, { status: 400, type: 'body_invalid' })
  t.same(pathsOf(refused), ['/user_ids/1', '/user_ids/2', '/user_ids/3', '/user_ids/4', '/user_ids/5'])
  t.same(await membersOf(id), [])
  t.same(await eventsOf(id), [])
  const nobody = Array.from({ length: MEMBERS_AT_ONCE_MAX }, () => randomUUID())
  t.equal(pathsOf(await add(id, nobody)).length, ISSUES_MAX)
  const long = 'x'.repeat(USER_REFERENCE_CHARS_MAX + 1)
  for (const ids of [undefined, [], ann, [...nobody, ann], [1], [long]])
    t.match(await manage('POST', `/workspaces/${id}/members/add`, { body: { user_ids: ids } }), {
      status: 400,
    })
  t.equal((await add(id, [ann], { role: 'owner' })).status, 400)
})

t.test('workspaces.add_members 403, 404: other kinds of keys, and a foreign workspace', async (t) => {
  const [id, ids] = [await place(), await users('ann')]
  const as = (key: string, at = id) =>
    manage('POST', `/workspaces/${at}/members/add`, { key, body: { user_ids: ids } })
  t.match(await as(foreignKey), { status: 404, type: 'workspace_unknown' })
  t.match(await as(await front.key('inference')), { status: 403, type: 'wrong_key_kind' })
})

t.test('workspaces.add_members 404: an unknown workspace', async (t) => {
  t.match(await add(randomUUID(), await users('ann')), { status: 404, type: 'workspace_unknown' })
})

t.test('workspaces.remove_members 200: ends manual memberships, and skips users without one', async (t) => {
  const [id, [ann = '', bob = '']] = [await place(), await users('ann', 'bob')]
  await add(id, [ann])
  t.match(await remove(id, [ann, bob, ann]), { status: 200, body: { removed_count: 1 } })
  t.match(await remove(id, [ann]), { status: 200, body: { removed_count: 0 } })
  t.same(await membersOf(id), [])
  t.match((await eventsOf(id)).slice(1), [
    { operation: 'workspaces.remove_members', object_id: ann, before: { role: 'member' }, after: null },
  ])
  t.equal((await eventsOf(id)).length, 2)
})

t.test('workspaces.remove_members 400: keeps members by a mapping, and creators of live keys', async (t) => {
  const [id, [ann = '', bob = '', cid = '']] = [await place(), await users('ann', 'bob', 'cid')]
  const groupId = await group(`of ${id}`, [ann])
  await manage('POST', '/scim/group-mappings', {
    body: { scim_group_id: groupId, workspace_id: id, role: 'member' },
  })
  await add(id, [ann, bob, cid])
  const key = await manage('POST', '/keys', {
    body: { name: 'k', workspace_id: id, creator_user_id: bob.toUpperCase() },
  })
  const refused = await remove(id, [cid, bob, ann, randomUUID()])
  t.match(refused, { status: 400, type: 'body_invalid' })
  t.same(pathsOf(refused), ['/user_ids/3'], 'first who is nobody')
  const kept = await remove(id, [cid, bob, ann])
  t.same(pathsOf(kept), ['/user_ids/1', '/user_ids/2'])
  t.equal((await membersOf(id)).length, 3, 'none was removed')
  const path = `/keys/${String((key.body['data'] as { hash: unknown }).hash)}`
  await manage('PATCH', path, { body: { disabled: true } })
  t.match(await remove(id, [bob]), { status: 200, body: { removed_count: 1 } }, 'a disabled key keeps nobody')
  await add(id, [bob])
  await manage('PATCH', path, { body: { disabled: false } })
  t.equal((await remove(id, [bob])).status, 400)
  await manage('DELETE', path)
  t.match(await remove(id, [bob, cid]), { status: 200, body: { removed_count: 2 } })
})

t.test('workspaces.remove_members 404: an unknown workspace, and a foreign one', async (t) => {
  const [id, ids] = [await place(), await users('ann')]
  t.match(await remove(randomUUID(), ids), { status: 404, type: 'workspace_unknown' })
  const path = `/workspaces/${id}/members/remove`
  t.match(await manage('POST', path, { key: foreignKey, body: { user_ids: ids } }), {
    status: 404,
    type: 'workspace_unknown',
  })
})

t.test(
  'organization.list_members 200: active users of the organization only, by name, in pages',
  async (t) => {
    const own = await openScimFront(t)
    const ann = await own.user('ann', { name: { givenName: 'Ann', familyName: 'Lee' }, displayName: 'A' })
    const bob = await own.user('Bob', { emails: [{ value: 'bob@example.com', primary: true }] })
    const gone = await own.user('cid')
    await own.call('PUT', `/Users/${gone}`, { body: { userName: 'cid', active: false } })
    await own.call('POST', '/Users', { body: { userName: 'theirs' }, token: own.foreignToken })
    const list = (query = '', more: object = {}) => own.manage('GET', `/organization/members${query}`, more)
    t.same((await list()).body, {
      data: [
        {
          id: ann,
          email: 'ann',
          first_name: 'Ann',
          last_name: 'Lee',
          role: 'org:member',
          user_name: 'ann',
          display_name: 'A',
        },
        {
          id: bob,
          email: 'bob@example.com',
          first_name: null,
          last_name: null,
          role: 'org:member',
          user_name: 'Bob',
          display_name: null,
        },
      ],
      total_count: 2,
      has_more: false,
    })
    t.match((await list('?limit=1&offset=1')).body, { data: [{ id: bob }], total_count: 2, has_more: false })
    t.match((await list('?limit=1')).body, { data: [{ id: ann }], has_more: true })
    t.match((await list('?offset=7')).body, { data: [], total_count: 2, has_more: false })
    t.match((await list('', { key: own.foreignKey })).body, {
      data: [{ user_name: 'theirs' }],
      total_count: 1,
    })
    for (const query of ['?limit=0', '?limit=101', '?offset=-1', '?limit=x'])
      t.equal((await list(query)).status, 400)
    t.match(await list('', { key: await own.key('inference') }), { status: 401, type: 'wrong_key_kind' })
  },
)

t.test("OpenRouter's client lists, adds and removes members", async (t) => {
  const own = await openScimFront(t)
  const management = await own.key('management')
  const client = await anyOpenRouterClient({ baseUrl: own.url, apiKey: management })
  const ids: string[] = []
  for (let nth = 0; nth < 51; nth++) ids.push(await own.user(`user-${String(nth).padStart(2, '0')}`))
  const seen: unknown[] = []
  for await (const page of (await client['organization']?.['listMembers']?.()) as AsyncIterable<{
    readonly result: { readonly data: readonly { readonly id: string }[] }
  }>)
    seen.push(...page.result.data.map(({ id }) => id))
  t.same(seen, ids, 'on two pages')
  const { id } = own.other
  const workspaces = client['workspaces'] ?? {}
  const asked = { id, bulkAddWorkspaceMembersRequest: { userIds: ids.slice(0, 2) } }
  t.match(await workspaces['bulkAddMembers']?.(asked), {
    addedCount: 2,
    data: [{ userId: ids[0], workspaceId: id, role: 'member' }, {}],
  })
  for await (const page of (await workspaces['listMembers']?.({ id })) as AsyncIterable<object>)
    t.match(page, {
      result: { totalCount: 2, data: [{ userId: ids[0], id: `${id}:${String(ids[0])}` }, {}] },
    })
  const removing = { id, bulkRemoveWorkspaceMembersRequest: { userIds: ids.slice(0, 2) } }
  t.match(await workspaces['bulkRemoveMembers']?.(removing), { removedCount: 2 })
})
