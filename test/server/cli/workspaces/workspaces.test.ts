import t from 'tap'
import { auditOf } from '../../../support/audit/audit.ts'
import { plantGroup, plantMapping, plantUsers } from '../../../support/scim/directory.ts'
import { openInstallation } from '../../../support/operator/installation.ts'

t.setTimeout(600_000)

t.test('workspaces create, get, update and delete match the API and are audited', async (t) => {
  const { store, run, json } = await openInstallation(t)
  const made = await json(
    'workspaces create --name Team --slug team --storage-quota 5 --vault-writes off --default-max-output 16',
  )
  t.match(made, {
    slug: 'team',
    storage_quota_bytes: 5,
    default_max_output_tokens: 16,
    vault_writes: false,
    programme: true,
    organization_id: String,
  })
  t.match(await run('workspaces get team'), { code: 0, stdout: /^slug +team$/m })
  const changes = [
    '--storage-quota',
    'none',
    '--default-max-output',
    'none',
    '--byok-in-budgets',
    'on',
    '--callback-url',
    'https://192.0.2.1:99/',
  ]
  t.match(await run('workspaces', 'update', 'team', ...changes), {
    code: 1,
    stderr: /Webhooks cannot be sent to this URL/,
  })
  t.match(await json('workspaces', 'update', 'team', ...changes.slice(0, 6)), {
    storage_quota_bytes: null,
    default_max_output_tokens: null,
    include_byok_in_budgets: true,
  })
  t.match(await run('workspaces update team'), { code: 2 })
  t.match(await json('workspaces delete team'), { id: made['id'], deleted: true })
  t.match(await run('workspaces delete default --confirm-default'), {
    code: 1,
    stderr: /The only workspace/,
  })
  t.match(await auditOf(store), [
    { operation: 'cli.workspaces-create', actor: { kind: 'cli' }, after: { slug: 'team' } },
    {
      operation: 'cli.workspaces-update',
      before: { storage_quota_bytes: 5 },
      after: { storage_quota_bytes: null },
    },
    { operation: 'cli.workspaces-delete', before: { slug: 'team' }, after: null },
  ])
  t.match(
    await json(`audit list --workspace ${String(made['id'])}`),
    { data: [{ n: 3 }, { n: 2 }, { n: 1 }] },
    'its events stay',
  )
})

t.test('organizations create is audited in the chain of the new organization', async (t) => {
  const { store, json } = await openInstallation(t)
  const { id } = await json('organizations create --name Acme')
  t.match(await auditOf(store), [
    {
      operation: 'cli.organizations-create',
      organization_id: id,
      object_kind: 'organization',
      object_id: id,
      after: { name: 'Acme' },
    },
    {
      operation: 'cli.organizations-create',
      organization_id: id,
      object_kind: 'workspace',
      after: { slug: 'default', is_default: true },
    },
  ])
})

t.test('members list shows the mapping that makes a user a member', async (t) => {
  const { store, workspace, run } = await openInstallation(t)
  const { organizationId } = workspace
  const [userId] = await plantUsers(store, organizationId, ['ann'])
  const groupId = await plantGroup(store, organizationId, 'g', [String(userId)])
  const mappingId = await plantMapping(store, {
    organizationId,
    groupId,
    workspaceId: workspace.id,
    role: 'admin',
  })
  await store.sql`
    INSERT INTO member_grants (workspace_id, user_id, source, mapping_id, role) VALUES (${workspace.id}, ${String(userId)}, 'mapping', ${mappingId}, 'admin')`
  await run('members add default ann')
  const { stdout } = await run('members list default')
  t.match(stdout, `mapping ${mappingId}`)
  t.match(stdout, /ann +admin .*manual.* /)
})

t.test('members add, list and remove match user names in any case', async (t) => {
  const { store, run, json } = await openInstallation(t)
  const added = await json('members add default Ann@acme.example --role admin')
  t.match(await json('members add default ann@acme.example'), {
    user_id: added['user_id'],
    role: 'member',
  })
  t.match(await run('members list default'), {
    code: 0,
    stdout: /USER +ROLE +BY +ID\nAnn@acme.example +member +manual/,
  })
  t.match(await json(`members remove default ${String(added['user_id'])}`), { removed: true })
  t.match(await json('members list default'), { data: [], total_count: 0 })
  t.match(await run('members remove default ann@acme.example'), { code: 1, stderr: /no such user/ })
  t.match(await auditOf(store), [
    { operation: 'cli.members-add', object_kind: 'member', before: null, after: { role: 'admin' } },
    { operation: 'cli.members-add', before: { role: 'admin' }, after: { role: 'member' } },
    { operation: 'cli.members-remove', before: { role: 'member' }, after: null },
  ])
})
