import t, { type Test } from 'tap'
import type { MemberRole } from '../../../../src/schemas/workspaces/workspaces.ts'
import {
  groupRemoved,
  membersJoined,
  membersLeft,
  userActivated,
  userDeactivated,
  userRemoved,
} from '../../../../src/server/store/scim/grants.ts'
import { addMember, listMembers } from '../../../../src/server/store/workspaces/members.ts'
import type { Transaction } from '../../../../src/server/store/base/open.ts'
import { createOrganization } from '../../../../src/server/store/workspaces/organizations.ts'
import { CLI } from '../../../support/audit/audit.ts'
import {
  grantsIn,
  plantGroup,
  plantMapping,
  plantMembers,
  plantUsers,
} from '../../../support/scim/directory.ts'
import { must } from '../../../support/must.ts'
import { openTestStore } from '../../../support/stores/postgres.ts'
import { GRANTED_AT_ONCE } from '../../../../src/schemas/scim/scim-limits.ts'

t.test(
  'active members of a group have one grant of each of its mappings, as long as they are members',
  async (t) => {
    const {
      store,
      within,
      users: [ann, bob, cat],
      mapped,
      grants,
    } = await openDirectory(t, ['ann', 'bob', 'cat'])
    const [group, mapping] = await mapped('admin')
    await store.sql`UPDATE users SET is_active = false WHERE id = ${cat}`
    await plantMembers(store, group, [ann, bob, cat])
    await within((tx) => membersJoined(tx, group, [ann, bob, cat]))
    await within((tx) => membersJoined(tx, group, [ann, bob]))
    t.same(await grants(), [`ann admin ${mapping}`, `bob admin ${mapping}`])
    await within((tx) => membersLeft(tx, group, [bob, cat]))
    t.same(await grants(), [`ann admin ${mapping}`])
  },
)

t.test('only members of the group get its grant, and other mapped or manual grants stay', async (t) => {
  const {
    store,
    within,
    users: [ann, bob],
    mapped,
    grants,
    workspace,
  } = await openDirectory(t, ['ann', 'bob'])
  const [[one], [two, kept]] = [await mapped('admin'), await mapped('member')]
  must(await addMember(store, { workspace, userName: 'ann', role: 'member' }, CLI))
  for (const group of [one, two]) {
    await plantMembers(store, group, [ann])
    await within((tx) => membersJoined(tx, group, [ann, bob]))
  }
  await within((tx) => membersLeft(tx, one, [ann]))
  t.same(await grants(), ['ann member manual', `ann member ${kept}`].sort())
})

t.test(
  'an inactive user is not a member; on activation the user gets current group grants and manual grants',
  async (t) => {
    const {
      store,
      within,
      users: [ann],
      mapped,
      grants,
      workspace,
    } = await openDirectory(t, ['ann'])
    const [group, mapping] = await mapped('admin')
    await plantMembers(store, group, [ann])
    must(await addMember(store, { workspace, userName: 'ann', role: 'member' }, CLI))
    await within((tx) => membersJoined(tx, group, [ann]))
    await store.sql`UPDATE users SET is_active = false WHERE id = ${ann}`
    await within((tx) => userDeactivated(tx, ann))
    t.same(await grants(), ['ann member manual'])
    t.same(await listMembers(store.sql, workspace.id, { limit: 10, offset: 0 }), { rows: [], totalCount: 0 })
    await within((tx) => userActivated(tx, ann))
    t.same(await grants(), ['ann member manual'], 'not before it is active')
    await store.sql`UPDATE users SET is_active = true WHERE id = ${ann}`
    await within((tx) => userActivated(tx, ann))
    t.same(await grants(), ['ann member manual', `ann admin ${mapping}`].sort())
    t.match(await listMembers(store.sql, workspace.id, { limit: 10, offset: 0 }), {
      rows: [{ role: 'admin' }],
      totalCount: 1,
    })
  },
)

t.test('removes all grants of a removed user or group, and no others', async (t) => {
  const {
    store,
    within,
    users: [ann, bob],
    mapped,
    grants,
    workspace,
  } = await openDirectory(t, ['ann', 'bob'])
  const [[one, gone], [two, kept]] = [await mapped('admin'), await mapped('member')]
  must(await addMember(store, { workspace, userName: 'ann', role: 'member' }, CLI))
  for (const group of [one, two]) {
    await plantMembers(store, group, [ann, bob])
    await within((tx) => membersJoined(tx, group, [ann, bob]))
  }
  await within((tx) => userRemoved(tx, ann))
  t.same(await grants(), [`bob admin ${gone}`, `bob member ${kept}`])
  t.same(await within((tx) => groupRemoved(tx, one)), { mappings: 1, grants: 1 })
  t.same(await grants(), [`bob member ${kept}`])
  t.same(await store.sql`SELECT group_id, user_id FROM scim_members`, [{ group_id: two, user_id: bob }])
  t.match(await store.sql`SELECT id FROM scim_groups WHERE deleted_at IS NOT NULL`, [{ id: one }])
})

t.test('more users can join and leave than fit in one statement', async (t) => {
  const { store, within, organizationId, mapped, workspace } = await openDirectory(t, [])
  const [group] = await mapped('member')
  const users = await plantUsers(
    store,
    organizationId,
    Array.from({ length: GRANTED_AT_ONCE + 2 }, (_, n) => `u${n}`),
  )
  await plantMembers(store, group, users)
  await within((tx) => membersJoined(tx, group, users))
  t.equal((await listMembers(store.sql, workspace.id, { limit: 1, offset: 0 })).totalCount, users.length)
  await within((tx) => membersLeft(tx, group, users.slice(1)))
  t.equal((await listMembers(store.sql, workspace.id, { limit: 1, offset: 0 })).totalCount, 1)
})

async function openDirectory<const N extends readonly string[]>(t: Test, names: N) {
  const store = await openTestStore(t)
  const {
    organization: { id: organizationId },
    workspace,
  } = must(await createOrganization(store, { name: 'o' }))
  const users = (await plantUsers(store, organizationId, names)) as { readonly [K in keyof N]: string }
  return {
    store,
    organizationId,
    workspace,
    users,
    within: <T>(work: (tx: Transaction) => Promise<T>) => store.sql.begin(work),
    grants: () => grantsIn(store, workspace.id),
    /** A new group, empty, with a mapping to the workspace. */
    async mapped(role: MemberRole): Promise<readonly [string, string]> {
      const groupId = await plantGroup(store, organizationId, `to ${role}`)
      return [
        groupId,
        await plantMapping(store, { organizationId, groupId, workspaceId: workspace.id, role }),
      ]
    },
  }
}
