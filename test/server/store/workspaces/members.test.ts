import t from 'tap'
import { groupRemoved, userActivated } from '../../../../src/server/store/scim/grants.ts'
import {
  addMember,
  findUser,
  grantByHand,
  listMembers,
  revokeByHand,
} from '../../../../src/server/store/workspaces/members.ts'
import { createOrganization } from '../../../../src/server/store/workspaces/organizations.ts'
import { auditOf, CLI } from '../../../support/audit/audit.ts'
import { plantGroup, plantMapping, plantUsers } from '../../../support/scim/directory.ts'
import { must } from '../../../support/must.ts'
import { openTestStore } from '../../../support/stores/postgres.ts'

const ALL = { limit: 100, offset: 0 }

t.test('a member has the strongest role of its grants, and stays until the last is removed', async (t) => {
  const store = await openTestStore(t)
  const { organization, workspace } = must(await createOrganization(store, { name: 'o' }))
  const organizationId = organization.id
  const [userId = ''] = await plantUsers(store, organizationId, ['ann'])
  const groups = [
    await plantGroup(store, organizationId, 'one', [userId]),
    await plantGroup(store, organizationId, 'two', [userId]),
  ]
  const [strong = '', weak = ''] = await Promise.all(
    groups.map((groupId, index) =>
      plantMapping(store, {
        organizationId,
        groupId,
        workspaceId: workspace.id,
        role: index === 0 ? 'admin' : 'member',
      }),
    ),
  )
  const at = { workspaceId: workspace.id, userId }
  const shown = async () =>
    (await listMembers(store.sql, workspace.id, ALL)).rows.map(({ role, grants }) => [
      role,
      grants.map((grant) => grant.mappingId),
    ])
  t.equal(await store.sql.begin((tx) => grantByHand(tx, at, 'admin')), null)
  t.equal(
    await store.sql.begin((tx) => grantByHand(tx, at, 'member')),
    'admin',
    'a second one changes the role',
  )
  await store.sql.begin((tx) => userActivated(tx, userId))
  t.same(await shown(), [['admin', [null, ...[strong, weak].sort()]]])
  await store.sql.begin((tx) => groupRemoved(tx, groups[0] ?? ''))
  t.same(await shown(), [['member', [null, weak]]])
  t.equal(await store.sql.begin((tx) => revokeByHand(tx, at)), 'member')
  t.equal(await store.sql.begin((tx) => revokeByHand(tx, at)), null, 'once')
  t.same(await shown(), [['member', [weak]]])
  await store.sql.begin((tx) => groupRemoved(tx, groups[1] ?? ''))
  t.same(await listMembers(store.sql, workspace.id, ALL), { rows: [], totalCount: 0 })
})

t.test('granting the same role manually again changes nothing, and is not in the audit log', async (t) => {
  const store = await openTestStore(t)
  const { workspace } = must(await createOrganization(store, { name: 'o' }))
  const add = async (role: 'admin' | 'member') =>
    must(await addMember(store, { workspace, userName: 'ann', role }, CLI))
  const { id } = await add('admin')
  const before = await auditOf(store)
  t.equal((await add('admin')).id, id)
  t.same(await auditOf(store), before)
  await add('member')
  t.equal((await auditOf(store)).length, before.length + 1)
})

t.test('a user name is unique ignoring case, and found in its own organization only', async (t) => {
  const store = await openTestStore(t)
  const [one, two] = [
    must(await createOrganization(store, { name: 'one' })),
    must(await createOrganization(store, { name: 'two' })),
  ]
  const input = { workspace: one.workspace, userName: 'Ann', role: 'admin' } as const
  const [first, second] = await Promise.all([
    addMember(store, input, CLI),
    addMember(store, { ...input, userName: 'ANN' }, CLI),
  ])
  t.equal(must(first).id, must(second).id)
  t.equal((await listMembers(store.sql, one.workspace.id, ALL)).totalCount, 1)
  t.match(await findUser(store.sql, one.organization.id, 'aNN'), { value: { id: must(first).id } })
  t.match(await findUser(store.sql, one.organization.id, must(first).id), { ok: true })
  for (const reference of ['ann', must(first).id]) {
    t.match(await findUser(store.sql, two.organization.id, reference), { failure: { name: 'user_unknown' } })
  }
})
