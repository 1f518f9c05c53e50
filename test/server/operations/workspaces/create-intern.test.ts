import t from 'tap'
import { INLINE_JSON_BYTES_MAX } from '../../../../src/schemas/limits/limits.ts'
import { INTERN_BODY_BYTES_MAX, NAME_CHARS_MAX } from '../../../../src/schemas/workspaces/workspace-limits.ts'
import { createAttachableVault } from '../../../../src/server/store/vault/attachable-vaults.ts'
import { setWorkspace } from '../../../support/workspaces/set-workspace.ts'
import { auditOf, CLI } from '../../../support/audit/audit.ts'
import { openInternsFront } from '../../../support/workspaces/interns-front.ts'
import { must } from '../../../support/must.ts'

const ADA = { name: 'Ada', provision: false }
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

t.test('interns.create 201: returns a record with every key, stopped whatever was requested', async (t) => {
  const { call, workspace } = await openInternsFront(t)
  const made = await call('POST', '/interns', {
    body: { name: 'Ada', provision: true, description: 'Reads', model: 'ignored', status: 'running' },
  })
  t.equal(made.status, 201)
  const { id, vault_id, created_at, updated_at, ...others } = made.body
  t.same(others, {
    name: 'Ada',
    status: 'stopped',
    workspace_id: workspace.id,
    attached_vault_id: null,
    description: 'Reads',
    hostname: null,
    instructions: null,
    model: null,
    last_failure_message: null,
    progress: null,
  })
  for (const made of [id, vault_id]) t.match(made, UUID)
  for (const instant of [created_at, updated_at]) t.match(instant, INSTANT)
})

t.test(
  'an intern is made in the workspace that body or query name, by id or slug, else in the default one',
  async (t) => {
    const { call, workspace, other } = await openInternsFront(t)
    const placeOf = async (query: string, body: object): Promise<unknown> =>
      (await call('POST', `/interns${query}`, { body: { ...ADA, ...body } })).body['workspace_id']
    t.equal(await placeOf('', {}), workspace.id)
    t.equal(await placeOf('', { workspace_id: 'other' }), other.id)
    t.equal(await placeOf('?workspace_id=other', {}), other.id)
    t.equal(await placeOf('?workspace_id=default', { workspace_id: other.id }), other.id)
  },
)

t.test(
  'interns.create 404: an unknown workspace, one of another organization, one outside of the programme',
  async (t) => {
    const { call, store, workspace, other, foreignKey } = await openInternsFront(t)
    const make = async (workspace_id: string, key?: string) =>
      (await call('POST', '/interns', { body: { ...ADA, workspace_id }, ...(key !== undefined && { key }) }))
        .type
    t.equal(await make('nowhere'), 'workspace_unknown')
    t.equal(await make('no\u0000where'), 'workspace_unknown')
    t.equal(await make(workspace.id, foreignKey), 'workspace_unknown')
    must(await setWorkspace(store, other.id, { isInProgramme: false }))
    t.equal(await make('other'), 'programme_closed')
    t.equal(await make('default'), undefined)
  },
)

t.test('only an attachable vault of the same workspace can be attached', async (t) => {
  const { call, store, workspace, other, organizationId, intern } = await openInternsFront(t)
  const vaultIn = async (workspaceId: string) =>
    must(await createAttachableVault(store, { organizationId, workspaceId, name: 'team' }, CLI)).id
  const vaultId = await vaultIn(workspace.id)
  const attached = await call('POST', '/interns', { body: { ...ADA, vault_id: vaultId } })
  t.match(attached, { status: 201, body: { attached_vault_id: vaultId } })
  const own = (await call('GET', `/interns/${await intern()}`)).body['vault_id']
  for (const vault_id of [await vaultIn(other.id), own, workspace.id, 'team', "'; --", '']) {
    t.match(await call('POST', '/interns', { body: { ...ADA, vault_id } }), {
      status: 404,
      type: 'vault_unknown',
    })
  }
})

t.test('interns.create 400: names each member that is missing or invalid', async (t) => {
  const { call } = await openInternsFront(t)
  const wrong: readonly [object, string][] = [
    [{ provision: false }, '/name'],
    [{ name: 'Ada' }, '/provision'],
    [{ ...ADA, name: '' }, '/name'],
    [{ ...ADA, name: '  ' }, '/name'],
    [{ ...ADA, name: 'x'.repeat(NAME_CHARS_MAX + 1) }, '/name'],
    [{ ...ADA, name: 'a\u0000' }, '/name'],
    [{ ...ADA, provision: 'yes' }, '/provision'],
    [{ ...ADA, description: 5 }, '/description'],
    [{ ...ADA, instructions: 'a\u0000b' }, '/instructions'],
    [{ ...ADA, vault_id: 7 }, '/vault_id'],
  ]
  for (const [body, path] of wrong) {
    const refused = await call('POST', '/interns', { body })
    t.match(
      refused,
      { status: 400, type: 'body_invalid', body: { error: { metadata: { issues: [{ path }] } } } },
      JSON.stringify(body).slice(0, 60),
    )
  }
  t.match(await call('POST', '/interns?workspace_id=', { body: ADA }), { status: 400, type: 'query_invalid' })
  t.match(await call('POST', '/interns', { body: { ...ADA, name: '😀'.repeat(NAME_CHARS_MAX) } }), {
    status: 201,
  })
})

t.test('instructions may fill a body of the maximum size, and are returned unchanged', async (t) => {
  const { call } = await openInternsFront(t)
  const around = JSON.stringify({ ...ADA, instructions: '' }).length
  for (const chars of [INLINE_JSON_BYTES_MAX, INTERN_BODY_BYTES_MAX - around]) {
    const made = await call('POST', '/interns', { body: { ...ADA, instructions: 'i'.repeat(chars) } })
    t.equal(made.status, 201)
    t.equal(String(made.body['instructions']).length, chars)
  }
  t.match(
    await call('POST', '/interns', {
      body: { ...ADA, instructions: 'i'.repeat(INTERN_BODY_BYTES_MAX - around + 1) },
    }),
    { status: 413 },
  )
})

t.test('a repetition under an Idempotency-Key makes no second intern', async (t) => {
  const { call, store } = await openInternsFront(t)
  const headers = { 'idempotency-key': 'once' }
  const first = await call('POST', '/interns', { body: ADA, headers })
  const again = await call('POST', '/interns', { body: ADA, headers })
  t.same([again.status, again.body, again.headers.get('idempotent-replayed')], [201, first.body, 'true'])
  t.match(await call('POST', '/interns', { body: { ...ADA, name: 'Bob' }, headers }), {
    status: 400,
    type: 'idempotency_mismatch',
  })
  t.match(await store.sql`SELECT count(*)::int AS count FROM interns`, [{ count: 1 }])
})

t.test('a repetition creates no second intern when the body has the maximum size', async (t) => {
  const { call, store } = await openInternsFront(t)
  const around = JSON.stringify({ ...ADA, instructions: '' }).length
  const body = { ...ADA, instructions: 'i'.repeat(INTERN_BODY_BYTES_MAX - around) }
  const headers = { 'idempotency-key': 'once' }
  const first = await call('POST', '/interns', { body, headers })
  const again = await call('POST', '/interns', { body, headers })
  t.same([first.status, again.status, again.body['id']], [201, 201, first.body['id']])
  t.match(await store.sql`SELECT count(*)::int AS count FROM interns`, [{ count: 1 }])
})

t.test('a new intern is audited with its actor, and without its instructions', async (t) => {
  const { call, store, organizationId, workspace } = await openInternsFront(t)
  const made = await call('POST', '/interns', {
    body: { ...ADA, instructions: 'secret sauce' },
    headers: { 'x-request-id': 'mine' },
  })
  const events = await auditOf(store)
  t.match(events, [
    {
      organization_id: organizationId,
      workspace_id: workspace.id,
      operation: 'interns.create',
      outcome: 'changed',
      request_id: 'mine',
      actor: { kind: 'key', id: /^[0-9a-f]{64}$/ },
      object_kind: 'intern',
      object_id: made.body['id'],
      before: null,
      after: { name: 'Ada', instructions_sha256: /^[0-9a-f]{64}$/ },
    },
  ])
  t.notMatch(JSON.stringify(events), /sauce/)
})

t.test('an inference key is the wrong kind', async (t) => {
  const { call, key } = await openInternsFront(t)
  t.match(await call('POST', '/interns', { body: ADA, key: await key('inference') }), {
    status: 403,
    type: 'wrong_key_kind',
  })
})
