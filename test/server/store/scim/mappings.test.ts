import t, { type Test } from 'tap'
import type { GroupMapping } from '../../../../src/server/ports/scim/directory.ts'
import type { Outcome } from '../../../../src/schemas/failures.ts'
import { membersJoined } from '../../../../src/server/store/scim/grants.ts'
import { openGroupMappings } from '../../../../src/server/store/scim/mappings.ts'
import { openWorkspaces } from '../../../../src/server/store/lifecycle/open-workspaces.ts'
import { addMember, listMembers, removeMember } from '../../../../src/server/store/workspaces/members.ts'
import { createOrganization } from '../../../../src/server/store/workspaces/organizations.ts'
import { createWorkspace } from '../../../../src/server/store/workspaces/workspaces.ts'
import { auditOf, CLI } from '../../../support/audit/audit.ts'
import { grantsIn, plantGroup, plantMembers, plantUsers } from '../../../support/scim/directory.ts'
import { must } from '../../../support/must.ts'
import { openTestStore } from '../../../support/stores/postgres.ts'
import { untilWaiting } from '../../../support/stores/lock-waiters.ts'
import { GRANTED_AT_ONCE } from '../../../../src/schemas/scim/scim-limits.ts'
import { lockDirectory } from '../../../../src/server/store/scim/one-at-a-time.ts'

/** `npm test` runs a tenth of the races of the proof. */
const RACES = 100

t.test(
  'of a concurrent role change and deletion, either both happen or only the deletion, never half of one',
  async (t) => {
    const { store, mappings, by, input, workspace, group, users } = await openDirectory(t, ['ann'])
    must(await addMember(store, { workspace, userName: 'bob', role: 'member' }, CLI))
    for (let race = 0; race < RACES; race++) {
      const { id } = must(await mappings.create({ ...input, groupId: group }, by))
      const keeps = race % 2 === 0
      const both = [() => mappings.setRole(id, 'admin', by), () => mappings.remove(id, keeps, by)] as const
      const order = race % 4 < 2 ? both : [both[1], both[0]]
      const reported: readonly Outcome<GroupMapping | null>[] = await Promise.all(order.map((run) => run()))
      const [changed, removed] = race % 4 < 2 ? reported : [reported[1], reported[0]]
      t.ok(removed?.ok, 'a deletion is never too late')
      t.equal(
        changed?.ok === false ? changed.failure.name : null,
        changed?.ok === true ? null : 'mapping_unknown',
      )
      const kept = keeps ? [`ann ${changed?.ok === true ? 'admin' : 'member'} manual`] : []
      t.same(await grantsIn(store, workspace.id), [...kept, 'bob member manual'])
      await store.sql`DELETE FROM member_grants WHERE user_id = ${users[0] ?? ''}`
    }
  },
)

t.test('many callers that create the same mapping at once create one, with one audit event', async (t) => {
  const { store, mappings, by, input, group } = await openDirectory(t, ['ann'], 8)
  const reported = await Promise.all(
    Array.from({ length: 12 }, (_, n) =>
      mappings.create({ ...input, groupId: group, role: n % 3 === 0 ? 'admin' : 'member' }, by),
    ),
  )
  const made = reported.flatMap((outcome) => (outcome.ok ? [outcome.value] : []))
  t.equal(new Set(made.map(({ id }) => id)).size, 1)
  t.ok(reported.every((outcome) => outcome.ok || outcome.failure.name === 'mapping_role_differs'))
  t.equal(
    (await auditOf(store)).filter(
      (event) => (event as { object_kind: string }).object_kind === 'group_mapping',
    ).length,
    1,
  )
})

t.test(
  'removing a mapping without keeping its members revokes only its own grants; other grants stay',
  async (t) => {
    const { store, mappings, by, input, workspace, organizationId, users } = await openDirectory(t, [
      'ann',
      'bob',
      'cat',
    ])
    const [one, two] = [
      await plantGroup(store, organizationId, 'one', users),
      await plantGroup(store, organizationId, 'two', users.slice(1)),
    ]
    must(await addMember(store, { workspace, userName: 'cat', role: 'member' }, CLI))
    const gone = must(await mappings.create({ ...input, groupId: one, role: 'admin' }, by))
    const left = must(await mappings.create({ ...input, groupId: two }, by))
    must(await mappings.remove(gone.id, false, by))
    t.same(await grantsIn(store, workspace.id), [
      `bob member ${left.id}`,
      `cat member ${left.id}`,
      'cat member manual',
    ])
  },
)

t.test(
  'removing a mapping and keeping its members leaves each the stronger role, with its original start',
  async (t) => {
    const { store, mappings, by, input, workspace, group } = await openDirectory(t, ['ann', 'bob', 'cat'])
    must(await addMember(store, { workspace, userName: 'bob', role: 'member' }, CLI))
    must(await addMember(store, { workspace, userName: 'cat', role: 'admin' }, CLI))
    const since = async () =>
      (await listMembers(store.sql, workspace.id, { limit: 1, offset: 0 })).rows[0]?.grants[0]?.createdAt
    const mapping = must(await mappings.create({ ...input, groupId: group, role: 'admin' }, by))
    const before = await since()
    must(await mappings.remove(mapping.id, true, by))
    t.same(await grantsIn(store, workspace.id), ['ann admin manual', 'bob admin manual', 'cat admin manual'])
    t.same(await since(), before)
    const weak = must(await mappings.create({ ...input, groupId: group }, by))
    must(await mappings.remove(weak.id, true, by))
    t.same(
      await grantsIn(store, workspace.id),
      ['ann admin manual', 'bob admin manual', 'cat admin manual'],
      'a weaker role takes nothing away',
    )
  },
)

t.test('a new mapping also applies to groups larger than one batch, and skips inactive users', async (t) => {
  const { store, mappings, by, input, workspace, organizationId } = await openDirectory(t, [])
  const many = await plantUsers(
    store,
    organizationId,
    Array.from({ length: 2 * GRANTED_AT_ONCE }, (_, n) => `u${n}`),
  )
  const group = await plantGroup(store, organizationId, 'many', many)
  await store.sql`UPDATE users SET is_active = false WHERE user_name = 'u7'`
  const { id } = must(await mappings.create({ ...input, groupId: group }, by))
  t.equal((await listMembers(store.sql, workspace.id, { limit: 1, offset: 0 })).totalCount, many.length - 1)
  must(await mappings.remove(id, true, by))
  t.equal((await store.sql`SELECT 1 FROM member_grants WHERE source = 'manual'`).length, many.length - 1)
})

t.test(
  'deleting a workspace while groups are mapped to it and users are added removes all memberships',
  async (t) => {
    const { store, mappings, by, input, organizationId, group } = await openDirectory(t, ['ann'], 8)
    const workspaces = openWorkspaces(store, async () => undefined)
    for (let race = 0; race < 10; race++) {
      const workspace = must(await createWorkspace(store, { organizationId, name: 'w', slug: `w${race}` }))
      const reported = await Promise.all([
        mappings.create({ ...input, groupId: group, workspaceId: workspace.id }, by),
        workspaces.remove({ organizationId, reference: workspace.id }, false, {
          ...CLI,
          operation: 'test.remove',
        }),
        addMember(store, { workspace, userName: 'ann', role: 'admin' }, CLI),
        removeMember(store, { workspace, userName: 'ann' }, CLI),
      ])
      t.ok(reported[1].ok)
      for (const outcome of reported)
        if (!outcome.ok) t.match(outcome.failure.name, /^(workspace|user)_unknown$/)
      t.same(await grantsIn(store, workspace.id), [])
      t.equal((await store.sql`SELECT 1 FROM scim_mappings WHERE workspace_id = ${workspace.id}`).length, 0)
    }
  },
)

t.test(
  'changing a mapping or removing its workspace waits for running member changes, and misses none',
  async (t) => {
    const {
      store,
      mappings,
      by,
      input,
      organizationId,
      group,
      users: [ann = ''],
    } = await openDirectory(t, ['ann'], 8)
    const workspaces = openWorkspaces(store, async () => undefined)
    const changes: Readonly<Record<string, (made: GroupMapping) => Promise<Outcome<unknown>>>> = {
      admin: ({ id }) => mappings.setRole(id, 'admin', by),
      manual: ({ id }) => mappings.remove(id, true, by),
      none: ({ id }) => mappings.remove(id, false, by),
      gone: ({ workspaceId }) =>
        workspaces.remove({ organizationId, reference: workspaceId }, false, {
          ...CLI,
          operation: 'test.remove',
        }),
    }
    const left: Record<string, string> = {}
    for (const [name, change] of Object.entries(changes)) {
      const { id: workspaceId } = must(await createWorkspace(store, { organizationId, name, slug: name }))
      await store.sql`DELETE FROM scim_members`
      const made = must(await mappings.create({ ...input, groupId: group, workspaceId }, by))
      let reported: Promise<Outcome<unknown>> | undefined
      await store.sql.begin(async (tx) => {
        await lockDirectory(tx, organizationId)
        await plantMembers({ sql: tx }, group, [ann])
        await membersJoined(tx, group, [ann])
        reported = change(made)
        await Promise.race([reported, untilWaiting(store.sql)])
      })
      t.match(await reported, { ok: true })
      left[name] = (await grantsIn(store, workspaceId)).join().replace(made.id, 'mapping')
    }
    t.same(left, { admin: 'ann admin mapping', manual: 'ann member manual', none: '', gone: '' })
  },
)

async function openDirectory(t: Test, names: readonly string[], poolMax = 4) {
  const store = await openTestStore(t, poolMax)
  const {
    organization: { id: organizationId },
    workspace,
  } = must(await createOrganization(store, { name: 'o' }))
  const users = await plantUsers(store, organizationId, names)
  return {
    store,
    organizationId,
    workspace,
    users,
    group: await plantGroup(store, organizationId, 'all', users),
    mappings: openGroupMappings(store),
    by: { ...CLI, operation: 'test.map', organizationId },
    input: { workspaceId: workspace.id, role: 'member' as const },
  }
}
