import t from 'tap'
import { plantGroup, plantMembers, plantUsers } from '../../../../support/scim/directory.ts'
import { openInternsFront } from '../../../../support/workspaces/interns-front.ts'
import { plantMany } from '../../../../support/stores/postgres.ts'
import { MAPPING_PREVIEWED_MAX } from '../../../../../src/schemas/scim/scim-limits.ts'

const NOBODY = '019a5b0c-4e21-7b1c-8d3e-4f5a6b7c8d9e'

/** Shared: every test has groups of its own. */
const front = await openInternsFront(t)
const { call, store, organizationId, workspace, other, foreignKey } = front

interface Asked {
  readonly scim_group_id: string
  readonly workspace_id?: string
  readonly role?: string
}

const preview = (asked: Asked, key?: string) =>
  call(
    'GET',
    `/admin/mapping-preview?${new URLSearchParams({ workspace_id: workspace.id, role: 'member', ...asked }).toString()}`,
    key === undefined ? {} : { key },
  )

const give = async (userId: string, workspaceId: string, role: string): Promise<void> => {
  await store.sql`
    INSERT INTO member_grants (workspace_id, user_id, source, role) VALUES (${workspaceId}, ${userId}, 'manual', ${role})`
}

t.test('admin.preview_mapping 404: foreign and unknown groups and workspaces', async (t) => {
  const group = await plantGroup(store, organizationId, 'seen by its own alone')
  for (const asked of [
    { scim_group_id: NOBODY },
    { scim_group_id: 'x' },
    { scim_group_id: "'; --" },
    { scim_group_id: group, workspace_id: NOBODY },
    { scim_group_id: group, workspace_id: 'default' },
  ])
    t.equal((await preview(asked)).status, 404, JSON.stringify(asked))
  t.equal((await preview({ scim_group_id: group }, foreignKey)).status, 404)
  const foreign = await store.sql<
    { id: string }[]
  >`SELECT id FROM workspaces WHERE organization_id <> ${organizationId} LIMIT 1`
  const [row] = foreign
  t.equal((await preview({ scim_group_id: group, workspace_id: row?.id ?? '' })).status, 404)
  await store.sql`UPDATE scim_groups SET deleted_at = now() WHERE id = ${group}`
  t.equal((await preview({ scim_group_id: group })).status, 404, 'a deleted group')
})

t.test('admin.preview_mapping 400: a missing group, and an unknown role', async (t) => {
  const group = await plantGroup(store, organizationId, 'asked for wrongly')
  t.match(await call('GET', '/admin/mapping-preview'), { status: 400, type: 'query_invalid' })
  t.match(await preview({ scim_group_id: group, role: 'owner' }), { status: 400, type: 'query_invalid' })
  t.match(await preview({ scim_group_id: '' }), { status: 400, type: 'query_invalid' })
})

t.test(
  'admin.preview_mapping 200: counts the users that a mapping would add, promote and leave unchanged, and changes none',
  async (t) => {
    const [stranger = '', member = '', admin = '', gone = ''] = await plantUsers(store, organizationId, [
      'preview stranger',
      'preview member',
      'preview admin',
      'preview gone',
    ])
    const group = await plantGroup(store, organizationId, 'previewed')
    await plantMembers(store, group, [stranger, member, admin, gone])
    await give(member, workspace.id, 'member')
    await give(admin, workspace.id, 'admin')
    await give(stranger, other.id, 'admin')
    await store.sql`UPDATE users SET is_active = false WHERE id = ${gone}`
    const counts = { joining: 1, promoted: 1, unchanged: 1, inactive: 1, is_cut: false }
    t.same((await preview({ scim_group_id: group, role: 'admin' })).body, { data: counts })
    t.same((await preview({ scim_group_id: group })).body, { data: { ...counts, promoted: 0, unchanged: 2 } })
    const [grants] = await store.sql<
      { count: number }[]
    >`SELECT count(*)::int AS count FROM member_grants WHERE user_id IN (${stranger}, ${member}, ${admin})`
    t.equal(grants?.count, 3, 'nothing was granted')
    const made = await call('POST', '/scim/group-mappings', {
      body: { scim_group_id: group, workspace_id: workspace.id, role: 'admin' },
    })
    t.equal(made.status, 201)
    const { body } = await call('GET', `/workspaces/${workspace.id}/members`)
    const { data } = body as unknown as { data: readonly { user_name: string; role: string }[] }
    t.same(
      data
        .filter(({ user_name: name }) => name.startsWith('preview'))
        .map((one) => `${one.user_name} ${one.role}`),
      ['preview admin admin', 'preview member admin', 'preview stranger admin'],
      'as the preview said',
    )
    t.same((await preview({ scim_group_id: group, role: 'admin' })).body, {
      data: { ...counts, joining: 0, promoted: 0, unchanged: 3 },
    })
  },
)

t.test('the preview for an empty group counts no users', async (t) => {
  const group = await plantGroup(store, organizationId, 'empty')
  t.same((await preview({ scim_group_id: group })).body, {
    data: { joining: 0, promoted: 0, unchanged: 0, inactive: 0, is_cut: false },
  })
})

t.test('counts members of a group up to a maximum, and reports that the count is cut off', async (t) => {
  const group = await plantGroup(store, organizationId, 'everybody')
  await plantMany(
    store,
    (tx) => tx`
    WITH made AS (
      INSERT INTO users (id, organization_id, user_name)
      SELECT gen_random_uuid(), ${organizationId}, 'everybody ' || n FROM generate_series(1, ${MAPPING_PREVIEWED_MAX + 1}::int) n
      RETURNING id)
    INSERT INTO scim_members (group_id, user_id) SELECT ${group}, id FROM made`,
  )
  t.match((await preview({ scim_group_id: group })).body, {
    data: { joining: MAPPING_PREVIEWED_MAX + 1, is_cut: true },
  })
})
