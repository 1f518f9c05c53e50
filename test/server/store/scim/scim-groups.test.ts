import t from 'tap'
import { LIST_PAGE_BYTES_MAX } from '../../../../src/schemas/limits/limits.ts'
import { SCIM_LISTED_MEMBERS_MAX } from '../../../../src/schemas/scim/scim-limits.ts'
import type { ScimGroupStep } from '../../../../src/server/ports/scim/scim.ts'
import { newId } from '../../../../src/server/store/base/ids.ts'
import { auditOf } from '../../../support/audit/audit.ts'
import { grantsIn, plantMapping, plantUsers } from '../../../support/scim/directory.ts'
import { must } from '../../../support/must.ts'
import { EVERYTHING, openScimStand } from '../../../support/scim/scim.ts'
import { plantMany } from '../../../support/stores/postgres.ts'
import { SCIM_AUDITED_MEMBERS_MAX } from '../../../../src/server/store/scim/scim-groups.ts'

t.test(
  'twenty connections that add one member each lose none, and each makes a version and an event',
  async (t) => {
    const { store, groups, group, members, by, organizationId } = await openScimStand(t, 20)
    const { id } = await group('all')
    const users = await plantUsers(
      store,
      organizationId,
      Array.from({ length: 20 }, (_, n) => `u${n}`),
    )
    const events = (await auditOf(store)).length
    const added = await Promise.all(
      users.map((user) => groups.update(id, [{ kind: 'add', userIds: [user] }], null, by)),
    )
    t.same(
      added.map(({ ok }) => ok),
      users.map(() => true),
    )
    t.same(await members(id), [...users].sort())
    t.equal(must(await groups.get(organizationId, id, false)).version, 21)
    t.equal((await auditOf(store)).length, events + 20)
  },
)

t.test('a change that fails in a later step changes nothing, grants included', async (t) => {
  const { store, groups, group, user, members, by, organizationId, workspaceId } = await openScimStand(t)
  const [ann, bob] = [await user({ userName: 'ann' }), await user({ userName: 'bob' })]
  const { id } = await group('all', [ann.id])
  await plantMapping(store, { organizationId, groupId: id, workspaceId, role: 'admin' })
  const before = await auditOf(store)
  const wrong: readonly ScimGroupStep[] = [
    { kind: 'add', userIds: [newId()] },
    { kind: 'add', userIds: ['nobody'] },
    { kind: 'replace', userIds: [newId()] },
  ]
  for (const step of wrong) {
    const done = await groups.update(
      id,
      [{ kind: 'set', displayName: 'x' }, { kind: 'add', userIds: [bob.id] }, step],
      null,
      by,
    )
    t.match(done, { failure: { name: 'scim_member_unknown' } })
  }
  t.same(
    [
      await members(id),
      await grantsIn(store, workspaceId),
      must(await groups.get(organizationId, id, false)).displayName,
    ],
    [[ann.id], [], 'all'],
  )
  t.same(await auditOf(store), before)
})

t.test('refuses members of another organization, and hides groups from it', async (t) => {
  const { users, groups, group, foreign, by, organizationId } = await openScimStand(t)
  const stranger = must(
    await users.create(
      { userName: 's', externalId: null, displayName: null, isActive: true, attributes: {} },
      foreign,
    ),
  )
  t.match(await groups.create({ displayName: 'g', externalId: null, userIds: [stranger.id] }, by), {
    failure: { name: 'scim_member_unknown' },
  })
  const { id } = await group('own')
  t.match(await groups.get(foreign.organizationId, id, true), { failure: { name: 'scim_group_unknown' } })
  t.match(await groups.update(id, [{ kind: 'set', displayName: 'x' }], null, foreign), {
    failure: { name: 'scim_group_unknown' },
  })
  t.match(await groups.remove(id, null, foreign), { failure: { name: 'scim_group_unknown' } })
  t.equal(must(await groups.list(foreign.organizationId, EVERYTHING, true)).totalResults, 0)
  t.match(must(await groups.list(organizationId, EVERYTHING, true)).resources, [
    { id, displayName: 'own', members: '[]' },
  ])
})

t.test('a change without effect makes no version and no event', async (t) => {
  const { store, groups, group, user, by } = await openScimStand(t)
  const [ann, bob] = [await user(), await user()]
  const { id } = await group('all', [ann.id])
  const before = await auditOf(store)
  const idle: readonly (readonly ScimGroupStep[])[] = [
    [],
    [{ kind: 'add', userIds: [ann.id, ann.id.toUpperCase()] }],
    [{ kind: 'remove', userIds: [bob.id, newId(), 'nobody'] }],
    [{ kind: 'replace', userIds: [ann.id] }],
    [{ kind: 'set', displayName: 'all', externalId: null }],
    [
      { kind: 'add', userIds: [bob.id] },
      { kind: 'remove', userIds: [bob.id] },
    ],
    [
      { kind: 'replace', userIds: [] },
      { kind: 'add', userIds: [ann.id] },
    ],
  ]
  for (const steps of idle) t.match(must(await groups.update(id, steps, null, by)), { version: 1 })
  t.same(await auditOf(store), before)
})

t.test('adding, removing and replacing members each makes a version and an event', async (t) => {
  const { store, groups, group, user, members, by } = await openScimStand(t)
  const [ann, bob] = [await user(), await user()]
  const { id } = await group('all')
  const events = (await auditOf(store)).length
  const changes: readonly (readonly [ScimGroupStep, readonly string[]])[] = [
    [{ kind: 'add', userIds: [ann.id, bob.id] }, [ann.id, bob.id]],
    [{ kind: 'remove', userIds: [ann.id] }, [bob.id]],
    [{ kind: 'replace', userIds: [] }, []],
  ]
  for (const [index, [step, left]] of changes.entries()) {
    t.match(must(await groups.update(id, [step], null, by)), { version: index + 2 })
    t.same(await members(id), [...left].sort())
    t.equal((await auditOf(store)).length, events + index + 1)
  }
})

t.test('after a group was changed, only clients that send its new version can change it', async (t) => {
  const { groups, group, by, organizationId } = await openScimStand(t)
  const { id } = await group('all')
  const rename = (displayName: string, ifMatch: readonly number[] | null) =>
    groups.update(id, [{ kind: 'set', displayName }], ifMatch, by)
  t.match(must(await rename('two', [1])), { version: 2 })
  t.match(await rename('three', [1]), { failure: { name: 'scim_version_differs' } })
  t.match(await groups.remove(id, [1], by), { failure: { name: 'scim_version_differs' } })
  t.match(must(await groups.get(organizationId, id, false)), { displayName: 'two', version: 2 })
  t.match(must(await rename('three', [7, 2])), { version: 3 })
})

t.test('a name belongs to one group, ignoring case, until the group is deleted', async (t) => {
  const { groups, group, by, organizationId } = await openScimStand(t)
  const [one, two] = [await group('Sales'), await group('other')]
  t.match(await groups.create({ displayName: 'SALES', externalId: null, userIds: [] }, by), {
    failure: { name: 'scim_group_taken' },
  })
  t.match(await groups.update(two.id, [{ kind: 'set', displayName: 'sales' }], null, by), {
    failure: { name: 'scim_group_taken' },
  })
  must(await groups.remove(one.id, null, by))
  t.match(await groups.get(organizationId, one.id, true), { failure: { name: 'scim_group_unknown' } })
  must(await groups.update(two.id, [{ kind: 'set', displayName: 'sales' }], null, by))
})

t.test('members join and leave the workspaces of mappings when they join and leave the group', async (t) => {
  const { store, groups, group, user, users, by, organizationId, workspaceId } = await openScimStand(t)
  const [ann, bob] = [await user({ userName: 'ann' }), await user({ userName: 'bob' })]
  const { id } = await group('all')
  const mapping = await plantMapping(store, { organizationId, groupId: id, workspaceId, role: 'admin' })
  const grants = () => grantsIn(store, workspaceId)
  must(await groups.update(id, [{ kind: 'add', userIds: [ann.id] }], null, by))
  must(await groups.update(id, [{ kind: 'add', userIds: [bob.id] }], null, by))
  t.same(await grants(), [`ann admin ${mapping}`, `bob admin ${mapping}`])
  must(
    await users.update(ann.id, (before) => ({ ok: true, value: { ...before, isActive: false } }), null, by),
  )
  t.same(await grants(), [`bob admin ${mapping}`])
  must(await users.update(ann.id, (before) => ({ ok: true, value: { ...before, isActive: true } }), null, by))
  must(await groups.update(id, [{ kind: 'replace', userIds: [ann.id] }], null, by))
  t.same(await grants(), [`ann admin ${mapping}`])
  must(await groups.remove(id, null, by))
  t.same(await grants(), [])
})

t.test('the audit log has the numbers of joined and left members, and the first of their ids', async (t) => {
  const { store, groups, group, by, organizationId } = await openScimStand(t)
  const ids = await plantUsers(
    store,
    organizationId,
    Array.from({ length: SCIM_AUDITED_MEMBERS_MAX + 5 }, (_, n) => `u${n}`),
  )
  const { id } = await group('all', ids.slice(0, 1))
  must(await groups.update(id, [{ kind: 'replace', userIds: ids.slice(1) }], null, by))
  const [event] = (await auditOf(store)).slice(-1) as {
    after: { members_added: number; member_ids_added: readonly string[]; members_removed: number }
  }[]
  t.match(event, {
    operation: 'scim.test',
    object_kind: 'scim_group',
    object_id: id,
    before: { display_name: 'all' },
    after: { members_removed: 1 },
  })
  t.same(
    [event?.after.members_added, event?.after.member_ids_added.length],
    [ids.length - 1, SCIM_AUDITED_MEMBERS_MAX],
  )
})

t.test(
  'a page of groups has a byte limit, and a page whose first group alone exceeds it is refused',
  async (t) => {
    const { store, groups, group, organizationId } = await openScimStand(t)
    const members = LIST_PAGE_BYTES_MAX / 200 / 2
    const large = await Promise.all(['g0', 'g1', 'g2', 'g3'].map(async (name) => (await group(name)).id))
    const ids = await plantUsers(
      store,
      organizationId,
      Array.from({ length: members + 1 }, (_, n) => `u${n}`),
    )
    await store.sql`
    INSERT INTO scim_members (group_id, user_id)
    SELECT g, u FROM unnest(string_to_array(${large.join(',')}, ',')::uuid[]) g, unnest(string_to_array(${ids.join(',')}, ',')::uuid[]) u`
    const pageFrom = async (startIndex: number, hasMembers = true) =>
      must(await groups.list(organizationId, { ...EVERYTHING, startIndex }, hasMembers))
    const first = await pageFrom(1)
    t.same([first.resources.length, first.totalResults], [2, 4])
    t.equal((JSON.parse(first.resources[0]?.members ?? '') as readonly unknown[]).length, ids.length)
    t.same((await pageFrom(3)).resources.length, 2)
    t.same((await pageFrom(1, false)).resources.length, 4)
  },
)

t.test(
  'refuses a page whose first group has more members than one answer holds, and serves it without members',
  async (t) => {
    const { store, groups, group, organizationId } = await openScimStand(t)
    const { id } = await group('huge')
    // No call makes so many rows at once, and none has the time for it.
    await plantMany(store, async (tx) => {
      await tx`ALTER TABLE scim_members DISABLE TRIGGER ALL`
      await tx`INSERT INTO scim_members (group_id, user_id) SELECT ${id}, gen_random_uuid() FROM generate_series(0, ${SCIM_LISTED_MEMBERS_MAX}::int)`
    })
    t.match(await groups.list(organizationId, EVERYTHING, true), { failure: { name: 'scim_too_many' } })
    t.equal(must(await groups.list(organizationId, EVERYTHING, false)).resources.length, 1)
  },
)
