import t from 'tap'
import { newId } from '../../../src/server/store/ids.ts'
import { addMember, ensureUser, findUser, grantRole, listMembers, revokeRole } from '../../../src/server/store/members.ts'
import { createOrganization } from '../../../src/server/store/organizations.ts'
import { CLI } from '../../support/audit.ts'
import { must } from '../../support/must.ts'
import { openTestStore } from '../../support/postgres.ts'

const ALL = { limit: 100, offset: 0 }

t.test('a member has the strongest role of all sources, and stays one until the last has gone', async (t) => {
  const store = await openTestStore(t)
  const { organization, workspace } = must(await createOrganization(store, { name: 'o' }))
  const user = await store.sql.begin((tx) => ensureUser(tx, { organizationId: organization.id, userName: 'ann' }))
  const [mappingId, other] = [newId(), newId()]
  const at = { workspaceId: workspace.id, userId: user.id }
  const shown = async () => (await listMembers(store.sql, workspace.id, ALL)).rows.map(({ role, grants }) => [role, grants.map((grant) => grant.mappingId)])
  const grants = [[null, 'member'], [mappingId, 'admin'], [other, 'member']] as const
  for (const [by, role] of grants) t.equal(await store.sql.begin((tx) => grantRole(tx, { ...at, mappingId: by }, role)), null)
  t.same(await shown(), [['admin', [null, mappingId, other]]])
  t.equal(await store.sql.begin((tx) => grantRole(tx, { ...at, mappingId: other }, 'admin')), 'member', 'a second grant of a source changes its role')
  t.equal(await store.sql.begin((tx) => revokeRole(tx, { ...at, mappingId })), 'admin')
  t.equal(await store.sql.begin((tx) => revokeRole(tx, { ...at, mappingId })), null, 'once')
  t.same(await shown(), [['admin', [null, other]]])
  await store.sql.begin((tx) => revokeRole(tx, { ...at, mappingId: other }))
  t.same(await shown(), [['member', [null]]])
  await store.sql.begin((tx) => revokeRole(tx, { ...at, mappingId: null }))
  t.same(await listMembers(store.sql, workspace.id, ALL), { rows: [], totalCount: 0 })
})

t.test('a user is one whatever the case of the name, and found in its own organization only', async (t) => {
  const store = await openTestStore(t)
  const [one, two] = [must(await createOrganization(store, { name: 'one' })), must(await createOrganization(store, { name: 'two' }))]
  const wish = { workspace: one.workspace, userName: 'Ann', role: 'admin' } as const
  const [first, second] = await Promise.all([addMember(store, wish, CLI), addMember(store, { ...wish, userName: 'ANN' }, CLI)])
  t.equal(must(first).id, must(second).id)
  t.equal((await listMembers(store.sql, one.workspace.id, ALL)).totalCount, 1)
  t.match(await findUser(store.sql, one.organization.id, 'aNN'), { value: { id: must(first).id } })
  t.match(await findUser(store.sql, one.organization.id, must(first).id), { ok: true })
  for (const reference of ['ann', must(first).id]) {
    t.match(await findUser(store.sql, two.organization.id, reference), { failure: { name: 'user_unknown' } })
  }
})
