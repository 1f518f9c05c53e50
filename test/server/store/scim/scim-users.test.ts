import t from 'tap'
import { fail, ok } from '../../../../src/schemas/failures.ts'
import type { ScimUser } from '../../../../src/server/ports/scim/scim.ts'
import { addMember } from '../../../../src/server/store/workspaces/members.ts'
import { auditOf, CLI } from '../../../support/audit/audit.ts'
import { grantsIn } from '../../../support/scim/directory.ts'
import { must } from '../../../support/must.ts'
import { EVERYTHING, openScimStand } from '../../../support/scim/scim.ts'
import { SCIM_AUDITED_NAMES_MAX } from '../../../../src/server/store/scim/scim-users.ts'

t.test('one of twenty concurrent creates of a user succeeds, whatever the case of the name', async (t) => {
  const { store, users, by, organizationId } = await openScimStand(t, 20)
  const before = (await auditOf(store)).length
  const input = { externalId: null, displayName: null, isActive: true, attributes: {} }
  const made = await Promise.all(
    Array.from({ length: 20 }, (_, n) =>
      users.create({ ...input, userName: n % 2 === 0 ? 'Ann' : 'aNN' }, by),
    ),
  )
  t.equal(made.filter(({ ok }) => ok).length, 1)
  t.same([...new Set(made.flatMap((one) => (one.ok ? [] : [one.failure.name])))], ['scim_user_taken'])
  t.equal(must(await users.list(organizationId, EVERYTHING)).totalResults, 1)
  t.equal((await auditOf(store)).length, before + 1)
})

t.test('a refused or empty change leaves version and log as they are', async (t) => {
  const { store, users, user, by, organizationId } = await openScimStand(t)
  const [ann, bob] = [
    await user({ userName: 'ann', attributes: { title: 't', name: { givenName: 'A' } } }),
    await user({ userName: 'bob' }),
  ]
  const before = await auditOf(store)
  t.match(await users.update(ann.id, () => fail('scim_value_invalid'), null, by), {
    failure: { name: 'scim_value_invalid' },
  })
  t.match(await users.update(ann.id, (one) => ok({ ...one, userName: 'BOB' }), null, by), {
    failure: { name: 'scim_user_taken' },
  })
  t.match(await users.update(ann.id, (one) => ok({ ...one, displayName: 'x' }), [2], by), {
    failure: { name: 'scim_version_differs' },
  })
  t.match(
    must(
      await users.update(
        ann.id,
        (one) => ok({ ...one, attributes: { name: { givenName: 'A' }, title: 't' } }),
        [1],
        by,
      ),
    ),
    { version: 1 },
  )
  t.same(must(await users.get(organizationId, ann.id)), ann)
  t.same(await auditOf(store), before)
  t.match(must(await users.update(bob.id, (one) => ok({ ...one, userName: 'Bob' }), [1], by)), {
    version: 2,
    userName: 'Bob',
  })
})

t.test(
  'a manually created user can be read and changed like the others, and keeps its membership',
  async (t) => {
    const { store, users, by, organizationId, workspaceId } = await openScimStand(t)
    const workspace = { id: workspaceId, organizationId }
    const { id } = must(await addMember(store, { workspace, userName: 'hand', role: 'admin' }, CLI))
    await store.sql`UPDATE users SET email = 'hand@example.com' WHERE id = ${id}`
    const [seen] = must(
      await users.list(organizationId, { ...EVERYTHING, filter: 'emails.value eq "HAND@example.com"' }),
    ).resources
    t.match(seen, {
      id,
      userName: 'hand',
      version: 1,
      attributes: { emails: [{ value: 'hand@example.com', primary: true }] },
    })
    const adopted = must(await users.update(id, (one) => ok({ ...one, externalId: 'e1' }), null, by))
    t.match(adopted, { externalId: 'e1', email: 'hand@example.com', version: 2 })
    t.same(await grantsIn(store, workspaceId), ['hand admin manual'])
  },
)

t.test('a deleted user leaves its groups, whose versions change, and its workspaces', async (t) => {
  const { store, users, groups, user, group, members, by, organizationId, workspaceId } =
    await openScimStand(t)
  const [ann, bob] = [await user({ userName: 'ann' }), await user({ userName: 'bob' })]
  const { id } = await group('all', [ann.id, bob.id])
  must(
    await addMember(
      store,
      { workspace: { id: workspaceId, organizationId }, userName: 'ann', role: 'admin' },
      CLI,
    ),
  )
  t.same(must(await users.get(organizationId, ann.id)).groups, [{ id, displayName: 'all' }])
  must(await users.remove(ann.id, null, by))
  t.match(await users.get(organizationId, ann.id), { failure: { name: 'user_unknown' } })
  t.match(await users.remove(ann.id, null, by), { failure: { name: 'user_unknown' } })
  t.same([await members(id), await grantsIn(store, workspaceId)], [[bob.id], []])
  t.equal(must(await groups.get(organizationId, id, false)).version, 2)
})

t.test('users of another organization are unknown', async (t) => {
  const { users, user, foreign } = await openScimStand(t)
  const { id } = await user()
  const change = (before: ScimUser) => ok(before)
  const changed = [users.update(id, change, null, foreign), users.remove(id, null, foreign)]
  const asked = [users.get(foreign.organizationId, id), users.get(foreign.organizationId, 'x'), ...changed]
  for (const answer of await Promise.all(asked)) t.match(answer, { failure: { name: 'user_unknown' } })
  t.equal(must(await users.list(foreign.organizationId, EVERYTHING)).totalResults, 0)
})

t.test('changing a user of another organization fails without waiting for a lock', async (t) => {
  const { store, users, groups, user, group, foreign } = await openScimStand(t)
  const [{ id }, all] = [await user(), await group('all')]
  await store.sql.begin(async (tx) => {
    await tx`SELECT 1 FROM users, scim_groups FOR UPDATE`
    const changed = [users.update(id, (before) => ok(before), null, foreign), users.remove(id, null, foreign)]
    for (const answer of await Promise.all(changed)) t.match(answer, { failure: { name: 'user_unknown' } })
    t.match(await groups.remove(all.id, null, foreign), { failure: { name: 'scim_group_unknown' } })
  })
})

t.test('the audit log has only the names of changed attributes', async (t) => {
  const { store, users, user, by } = await openScimStand(t)
  const { id } = await user({ userName: 'ann', attributes: { title: 'before' } })
  must(
    await users.update(
      id,
      (one) => ok({ ...one, isActive: false, attributes: { title: 'secret-title', nickName: 'n' } }),
      null,
      by,
    ),
  )
  const [event] = (await auditOf(store)).slice(-1)
  t.match(event, {
    object_kind: 'user',
    before: { user_name: 'ann', active: true },
    after: { active: false, changed_attributes: ['nickName', 'title'] },
  })
  t.notMatch(JSON.stringify(event), 'secret-title')
})

t.test('the log has a bounded number of names of changed attributes', async (t) => {
  const { store, users, user, by } = await openScimStand(t)
  const { id } = await user({ userName: 'ann' })
  const attributes = Object.fromEntries(
    Array.from({ length: SCIM_AUDITED_NAMES_MAX + 1 }, (_, n) => [`own${n}`, n]),
  )
  must(await users.update(id, (one) => ok({ ...one, attributes }), null, by))
  const [event] = (await auditOf(store)).slice(-1) as { after: { changed_attributes: readonly string[] } }[]
  t.equal(event?.after.changed_attributes.length, SCIM_AUDITED_NAMES_MAX)
})
