import t from 'tap'
import { openSyncWork } from '../../../../../src/server/store/scim/sync-work.ts'
import { createWorkspace } from '../../../../../src/server/store/workspaces/workspaces.ts'
import { auditOf } from '../../../../support/audit/audit.ts'
import { grantsIn, plantGroup, plantMapping, plantUsers } from '../../../../support/scim/directory.ts'
import { openInternsFront } from '../../../../support/workspaces/interns-front.ts'
import { must } from '../../../../support/must.ts'
import { SCIM_OFFSET_MAX, SCIM_PAGE_MAX } from '../../../../../src/schemas/scim/group-mappings.ts'
import { SCIM_PAGE_DEFAULT } from '../../../../../src/schemas/scim/scim-limits.ts'

const NOBODY = '019a5b0c-4e21-7b1c-8d3e-4f5a6b7c8d9e'
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

/** Shared: every test has groups and workspaces of its own. */
const front = await openInternsFront(t)
const { call, store, organizationId, workspace, foreignKey } = front

let made = 0
/** A group of one user, and a workspace. */
async function pair(name = `g${++made}`) {
  const users = await plantUsers(store, organizationId, [`user of ${name}`])
  const group = await plantGroup(store, organizationId, name, users)
  const { id } = must(await createWorkspace(store, { organizationId, name: 'W', slug: `w${++made}` }))
  return { scim_group_id: group, workspace_id: id }
}

const map = async (body: object, more: object = {}) => call('POST', '/scim/group-mappings', { body, ...more })
const dataOf = (answer: { readonly body: Readonly<Record<string, unknown>> }) =>
  answer.body['data'] as Readonly<Record<string, unknown>>
const idOf = async (body: object) => String(dataOf(await map(body))['id'])
const eventsOf = async (id: unknown) =>
  (await auditOf(store)).filter((event) => (event as { object_id: string }).object_id === id)

t.test(
  'scim.create_mapping 201: returns a mapping with all its keys, and the same mapping for a repeated request',
  async (t) => {
    const input = { ...(await pair()), role: 'member' }
    const first = await map({ ...input, unknown: 1 })
    t.equal(first.status, 201)
    const { id, created_at, updated_at, ...others } = dataOf(first)
    t.same(others, { ...input, organization_id: organizationId })
    t.match([created_at, updated_at], [INSTANT, INSTANT])
    const again = await map(input)
    t.same([again.status, again.body], [201, first.body])
    t.match(await eventsOf(id), [
      {
        operation: 'scim.create_mapping',
        object_kind: 'group_mapping',
        workspace_id: input.workspace_id,
        before: null,
        after: input,
        actor: { kind: 'key' },
      },
    ])
    t.equal((await eventsOf(id)).length, 1, 'the second time changed nothing')
  },
)

t.test('a repeated Idempotency-Key gets the first answer again', async (t) => {
  const input = { ...(await pair()), role: 'admin' }
  const headers = { 'idempotency-key': 'k-mapping' }
  const first = await map(input, { headers })
  await call('DELETE', `/scim/group-mappings/${String(dataOf(first)['id'])}?keep_members=false`)
  const again = await map(input, { headers })
  t.same([again.status, again.body, again.headers.get('idempotent-replayed')], [201, first.body, 'true'])
})

t.test('scim.create_mapping 400: names the path of a missing member or an invalid UUID', async (t) => {
  const whole = { ...(await pair()), role: 'member' }
  const wrong = {
    role: ['owner', null, 1],
    scim_group_id: ['x', '', 1, null],
    workspace_id: ['default', '', null],
  }
  for (const [name, values] of Object.entries(wrong)) {
    for (const value of [undefined, ...values]) {
      const {
        status,
        body: { error },
      } = await map({ ...whole, [name]: value })
      t.equal(status, 400)
      t.match((error as { metadata: object }).metadata, { issues: [{ path: `/${name}` }] })
    }
  }
})

t.test(
  'scim.create_mapping 404: a group or a workspace that is deleted or not in the organization',
  async (t) => {
    const whole = { ...(await pair()), role: 'member' }
    const [foreign = { id: '' }] = await store.sql<
      { id: string }[]
    >`SELECT id FROM organizations WHERE id <> ${organizationId}`
    const gone = await pair()
    await store.sql`UPDATE scim_groups SET deleted_at = now() WHERE id = ${gone.scim_group_id}`
    for (const scim_group_id of [NOBODY, await plantGroup(store, foreign.id, 'theirs'), gone.scim_group_id]) {
      t.match(await map({ ...whole, scim_group_id }), { status: 404, type: 'scim_group_unknown' })
    }
    await call('DELETE', `/workspaces/${gone.workspace_id}`)
    for (const workspace_id of [NOBODY, gone.workspace_id])
      t.match(await map({ ...whole, workspace_id }), { status: 404, type: 'workspace_unknown' })
    t.match(await map(whole, { key: foreignKey }), { status: 404, type: 'workspace_unknown' })
  },
)

t.test('scim.create_mapping 409: the error names the other role of an existing mapping', async (t) => {
  const whole = { ...(await pair()), role: 'member' }
  const id = await idOf(whole)
  const refused = await map({ ...whole, role: 'admin' })
  t.match(refused, { status: 409, type: 'mapping_role_differs', body: { error: { message: /`member`/ } } })
  t.equal((await eventsOf(id)).length, 1)
})

t.test('scim.list_mappings 200: lists mappings of the organization, oldest first, in pages', async (t) => {
  const ids: string[] = []
  for (let count = 0; count < 3; count++) ids.push(await idOf({ ...(await pair()), role: 'member' }))
  const all = await call('GET', `/scim/group-mappings?limit=${SCIM_PAGE_MAX}`)
  t.equal(all.status, 200)
  const rows = all.body['data'] as readonly { readonly id: string }[]
  t.same(
    rows.slice(-3).map(({ id }) => id),
    ids,
  )
  t.equal(all.body['total_count'], rows.length)
  const page = await call('GET', `/scim/group-mappings?limit=1&offset=${rows.length - 2}`)
  t.same([page.body['data'], page.body['total_count']], [rows.slice(-2, -1), rows.length])
  t.same((await call('GET', '/scim/group-mappings', { key: foreignKey })).body, {
    data: [],
    total_count: 0,
    has_more: false,
  })
  for (const query of [
    'limit=0',
    `limit=${SCIM_PAGE_MAX + 1}`,
    'offset=-1',
    `offset=${SCIM_OFFSET_MAX + 1}`,
    'limit=1&limit=1',
  ]) {
    t.match(await call('GET', `/scim/group-mappings?${query}`), { status: 400, type: 'query_invalid' })
  }
})

t.test('scim.list_groups 200: sorted by name, without deleted groups', async (t) => {
  const plant = (name: string) => plantGroup(store, organizationId, name)
  const [b, a, gone] = [await plant('B-list'), await plant('a-list'), await plant('aa')]
  await store.sql`UPDATE scim_groups SET deleted_at = now() WHERE id = ${gone}`
  await store.sql`UPDATE scim_groups SET external_id = 'x' WHERE id = ${a}`
  const answer = await call('GET', '/scim/groups')
  t.equal(answer.status, 200)
  const rows = answer.body['data'] as readonly Readonly<Record<string, unknown>>[]
  t.equal(answer.body['total_count'], rows.length)
  const { created_at, updated_at, ...first } = rows.find(({ id }) => id === a) ?? {}
  t.same(first, { id: a, display_name: 'a-list', external_id: 'x', organization_id: organizationId })
  t.match([created_at, updated_at], [INSTANT, INSTANT])
  t.same(
    rows.filter(({ id }) => id === a || id === b || id === gone).map(({ id }) => id),
    [a, b],
  )
  t.same((await call('GET', '/scim/groups?limit=1')).body['data'], rows.slice(0, 1))
  t.ok(rows.length <= SCIM_PAGE_DEFAULT)
})

t.test('scim.get_mapping 200, 404: returns an own mapping; an invalid UUID is unknown', async (t) => {
  const input = { ...(await pair()), role: 'admin' }
  const id = await idOf(input)
  t.match(await call('GET', `/scim/group-mappings/${id}`), { status: 200, body: { data: { id, ...input } } })
  for (const other of [NOBODY, 'x', '%00'])
    t.match(await call('GET', `/scim/group-mappings/${other}`), { status: 404, type: 'mapping_unknown' })
  t.match(await call('GET', `/scim/group-mappings/${id}`, { key: foreignKey }), {
    status: 404,
    type: 'mapping_unknown',
  })
})

t.test(
  'scim.update_mapping 200: its members have the new role; the same role again changes nothing',
  async (t) => {
    const input = { ...(await pair('patched')), role: 'member' }
    const id = await idOf(input)
    const changed = await call('PATCH', `/scim/group-mappings/${id}`, { body: { role: 'admin' } })
    t.match(changed, { status: 200, body: { data: { id, role: 'admin' } } })
    t.same(await grantsIn(store, input.workspace_id), [`user of patched admin ${id}`])
    t.same(
      (await call('PATCH', `/scim/group-mappings/${id}`, { body: { role: 'admin' } })).body,
      changed.body,
    )
    t.match((await eventsOf(id)).slice(1), [
      { operation: 'scim.update_mapping', before: { role: 'member' }, after: { role: 'admin' } },
    ])
    t.equal((await eventsOf(id)).length, 2)
  },
)

t.test('scim.update_mapping 400, 404: a missing or unknown role, and an unknown mapping', async (t) => {
  const id = await idOf({ ...(await pair()), role: 'member' })
  for (const body of [{}, { role: 'owner' }, { role: null }, [], '{'])
    t.equal((await call('PATCH', `/scim/group-mappings/${id}`, { body })).status, 400)
  const body = { role: 'admin' }
  t.match(await call('PATCH', '/scim/group-mappings/x', { body }), { status: 400, type: 'params_invalid' })
  t.match(await call('PATCH', `/scim/group-mappings/${NOBODY}`, { body }), {
    status: 404,
    type: 'mapping_unknown',
  })
  t.match(await call('PATCH', `/scim/group-mappings/${id}`, { body, key: foreignKey }), {
    status: 404,
    type: 'mapping_unknown',
  })
  t.equal((await eventsOf(id)).length, 1, 'refusals leave no row')
})

t.test('scim.delete_mapping 200: keeps or removes the members, and audits their number', async (t) => {
  for (const [keep, left, more] of [
    ['false', [], { grants_removed: 1 }],
    ['true', ['user of kept-true member manual'], { grants_kept: 1 }],
  ] as const) {
    const input = { ...(await pair(`kept-${keep}`)), role: 'member' }
    const id = await idOf(input)
    const gone = await call('DELETE', `/scim/group-mappings/${id}?keep_members=${keep}`)
    t.same([gone.status, gone.body], [200, { deleted: true }])
    t.same(await grantsIn(store, input.workspace_id), left)
    t.match((await eventsOf(id)).slice(1), [
      {
        operation: 'scim.delete_mapping',
        before: { ...input, keep_members: keep === 'true', ...more },
        after: null,
      },
    ])
    t.match(await call('DELETE', `/scim/group-mappings/${id}?keep_members=${keep}`), {
      status: 404,
      type: 'mapping_unknown',
    })
    t.equal((await eventsOf(id)).length, 2)
  }
})

t.test(
  'scim.delete_mapping 400, 404: a missing, repeated or invalid keep_members, an invalid UUID, and a foreign mapping',
  async (t) => {
    const id = await idOf({ ...(await pair()), role: 'member' })
    for (const query of [
      '',
      '?keep_members',
      '?keep_members=',
      '?keep_members=1',
      '?keep_members=TRUE',
      '?keep_members=yes',
      '?keep_members=true&keep_members=true',
      '?keep_members=true&keep_members=false',
      '?keepMembers=true',
    ]) {
      t.match(
        await call('DELETE', `/scim/group-mappings/${id}${query}`),
        { status: 400, type: 'query_invalid' },
        query,
      )
    }
    t.match(
      JSON.stringify(await call('DELETE', `/scim/group-mappings/${id}?keep_members=yes`)),
      /keep_members[^,]*, expected true or false/,
    )
    t.match(await call('DELETE', '/scim/group-mappings/x?keep_members=true'), {
      status: 400,
      type: 'params_invalid',
    })
    t.match(await call('DELETE', `/scim/group-mappings/${NOBODY}?keep_members=true`), {
      status: 404,
      type: 'mapping_unknown',
    })
    t.match(await call('DELETE', `/scim/group-mappings/${id}?keep_members=true`, { key: foreignKey }), {
      status: 404,
      type: 'mapping_unknown',
    })
    t.equal((await call('GET', `/scim/group-mappings/${id}`)).status, 200)
  },
)

t.test('scim.start_sync 202: queues a sync, and later callers get the same one', async (t) => {
  const syncs = async () =>
    (await auditOf(store)).filter((event) => (event as { operation: string }).operation === 'scim.start_sync')
      .length
  const before = await syncs()
  const started = await call('POST', '/scim/sync-jobs')
  t.equal(started.status, 202)
  const { id, created_at, ...others } = dataOf(started)
  t.same(others, {
    status: 'queued',
    started_at: null,
    finished_at: null,
    synced_groups: null,
    deleted_groups: null,
    error_message: null,
  })
  t.match(created_at, INSTANT)
  t.equal(started.headers.get('location'), `/api/v1/scim/sync-jobs/${String(id)}`)
  const together = await Promise.all(Array.from({ length: 5 }, () => call('POST', '/scim/sync-jobs')))
  t.same(
    together.map(({ body }) => body),
    together.map(() => started.body),
  )
  t.match(await eventsOf(id), [
    { operation: 'scim.start_sync', object_kind: 'sync_job', before: null, after: { status: 'queued' } },
  ])
  t.equal(await syncs(), before + 1, 'who is answered with another’s sync has changed nothing')
  must(await openSyncWork(store).claimNext(60_000))
  t.not(
    dataOf(await call('POST', '/scim/sync-jobs'))['id'],
    id,
    'one that has begun may have passed what is new',
  )
})

t.test('scim.get_sync 200, 404: returns an own sync; an invalid UUID is unknown', async (t) => {
  const { id } = dataOf(await call('POST', '/scim/sync-jobs'))
  t.match(await call('GET', `/scim/sync-jobs/${String(id)}`), { status: 200, body: { data: { id } } })
  for (const other of [NOBODY, 'x'])
    t.match(await call('GET', `/scim/sync-jobs/${other}`), { status: 404, type: 'sync_job_unknown' })
  t.match(await call('GET', `/scim/sync-jobs/${String(id)}`, { key: foreignKey }), {
    status: 404,
    type: 'sync_job_unknown',
  })
})

t.test('members are listed with the mapping that granted the membership', async (t) => {
  const users = await plantUsers(store, organizationId, ['seen'])
  const group = await plantGroup(store, organizationId, 'seers', users)
  const id = await idOf({ scim_group_id: group, workspace_id: workspace.id, role: 'admin' })
  const { body } = await call('GET', '/workspaces/default/members')
  const seen = (body['data'] as { user_name: string }[]).find(({ user_name }) => user_name === 'seen')
  t.match(seen, { role: 'admin', grants: [{ source: 'mapping', mapping_id: id }] })
})

t.test('deleting a workspace deletes its mappings, and the audit log names them', async (t) => {
  const [input, other] = [{ ...(await pair()), role: 'member' }, await pair()]
  const id = await idOf(input)
  const kept = await plantMapping(store, {
    organizationId,
    groupId: input.scim_group_id,
    workspaceId: other.workspace_id,
    role: 'admin',
  })
  t.equal((await call('DELETE', `/workspaces/${input.workspace_id}`)).status, 200)
  t.equal((await call('GET', `/scim/group-mappings/${id}`)).status, 404)
  t.equal((await call('GET', `/scim/group-mappings/${kept}`)).status, 200)
  t.match((await eventsOf(id)).slice(1), [
    { operation: 'workspaces.delete', object_kind: 'group_mapping', before: input, after: null },
  ])
  t.same(await grantsIn(store, input.workspace_id), [])
})
