import t from 'tap'
import { createOrganization, findOrganization } from '../../../src/server/store/organizations.ts'
import type { Store } from '../../../src/server/store/open.ts'
import { createWorkspace, findWorkspace, listWorkspaces } from '../../../src/server/store/workspaces.ts'
import { must } from '../../support/must.ts'
import { openTestStore } from '../../support/postgres.ts'

async function organization(store: Store, name: string): Promise<string> {
  return must(await createOrganization(store, { name })).organization.id
}

t.test('of two workspaces made at once with one slug one is refused', async (t) => {
  const store = await openTestStore(t)
  const organizationId = await organization(store, 'o')
  const made = await Promise.all([1, 2].map(() => createWorkspace(store, { organizationId, name: 'w', slug: 'team' })))
  t.same(made.map((outcome) => (outcome.ok ? 'made' : outcome.failure.name)).sort(), ['made', 'slug_taken'])
})

t.test('organizations may use the same slug, which then names several workspaces', async (t) => {
  const store = await openTestStore(t)
  const [one, two] = [await organization(store, 'one'), await organization(store, 'two')]
  t.match(await findWorkspace(store.sql, 'default', null), { ok: false, failure: { name: 'reference_ambiguous' } })
  t.match(await findWorkspace(store.sql, 'default', two), { ok: true, value: { organizationId: two } })
  t.match(await listWorkspaces(store, one), { ok: true, value: [{ organizationId: one, isDefault: true }] })
})

t.test('a workspace is found by its id and by its slug, and not by anything else', async (t) => {
  const store = await openTestStore(t)
  const organizationId = await organization(store, 'o')
  const made = must(await createWorkspace(store, { organizationId, name: 'w', slug: 'team' }))
  t.match(await findWorkspace(store.sql, made.id, null), { ok: true, value: made })
  t.match(await findWorkspace(store.sql, 'team', null), { ok: true, value: made })
  t.match(await findWorkspace(store.sql, "'; DROP TABLE workspaces; --", null), { ok: false, failure: { name: 'workspace_unknown' } })
})

t.test('an organization is found by id or name, and without a reference when it is the only one', async (t) => {
  const store = await openTestStore(t)
  t.match(await findOrganization(store.sql, null), { ok: false, failure: { name: 'organization_unknown' } })
  const id = await organization(store, 'one')
  t.match(await findOrganization(store.sql, null), { ok: true, value: { id } })
  await organization(store, 'two')
  t.match(await findOrganization(store.sql, null), { ok: false, failure: { name: 'reference_ambiguous' } })
  t.match(await findOrganization(store.sql, 'one'), { ok: true, value: { id } })
})
