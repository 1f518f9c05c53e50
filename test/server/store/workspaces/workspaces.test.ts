import t from 'tap'
import { setWorkspace } from '../../../support/workspaces/set-workspace.ts'
import {
  createOrganization,
  findOrganization,
} from '../../../../src/server/store/workspaces/organizations.ts'
import type { Store } from '../../../../src/server/store/base/open.ts'
import { createWorkspace, listWorkspaces } from '../../../../src/server/store/workspaces/workspaces.ts'
import { findWorkspace } from '../../../../src/server/store/base/find-workspace.ts'
import { auditOf } from '../../../support/audit/audit.ts'
import { must } from '../../../support/must.ts'
import { openTestStore } from '../../../support/stores/postgres.ts'

async function organization(store: Store, name: string): Promise<string> {
  return must(await createOrganization(store, { name })).organization.id
}

t.test('one of two workspaces made at once with one slug is refused', async (t) => {
  const store = await openTestStore(t)
  const organizationId = await organization(store, 'o')
  const made = await Promise.all(
    [1, 2].map(() => createWorkspace(store, { organizationId, name: 'w', slug: 'team' })),
  )
  t.same(made.map((outcome) => (outcome.ok ? 'made' : outcome.failure.name)).sort(), ['made', 'slug_taken'])
})

t.test('organizations may use the same slug, which then names several workspaces', async (t) => {
  const store = await openTestStore(t)
  const [one, two] = [await organization(store, 'one'), await organization(store, 'two')]
  t.match(await findWorkspace(store.sql, 'default', null), {
    ok: false,
    failure: { name: 'reference_ambiguous' },
  })
  t.match(await findWorkspace(store.sql, 'default', two), { ok: true, value: { organizationId: two } })
  t.match(await listWorkspaces(store, one), { ok: true, value: [{ organizationId: one, isDefault: true }] })
})

t.test('a workspace is found only by its id or its slug', async (t) => {
  const store = await openTestStore(t)
  const organizationId = await organization(store, 'o')
  const made = must(await createWorkspace(store, { organizationId, name: 'w', slug: 'team' }))
  t.match(await findWorkspace(store.sql, made.id, null), { ok: true, value: made })
  t.match(await findWorkspace(store.sql, 'team', null), { ok: true, value: made })
  t.match(await findWorkspace(store.sql, "'; DROP TABLE workspaces; --", null), {
    ok: false,
    failure: { name: 'workspace_unknown' },
  })
})

t.test(
  'a workspace is in the programme with vault writes until an operator changes that, which is audited',
  async (t) => {
    const store = await openTestStore(t)
    const organizationId = await organization(store, 'o')
    const made = must(await createWorkspace(store, { organizationId, name: 'w', slug: 'team' }))
    t.match(made, { isInProgramme: true, mayWriteVault: true })
    t.match(await setWorkspace(store, made.id, { mayWriteVault: false }), {
      value: { workspace: { isInProgramme: true, mayWriteVault: false } },
    })
    t.match(await setWorkspace(store, made.id, { isInProgramme: false }), {
      value: {
        workspace: { isInProgramme: false, mayWriteVault: false },
        change: { kind: 'workspace', id: made.id },
      },
    })
    t.match(await listWorkspaces(store, organizationId), {
      value: [{ isInProgramme: true }, { isInProgramme: false, mayWriteVault: false }],
    })
    t.match(await auditOf(store), [
      {
        operation: 'cli.workspaces-set',
        object_id: made.id,
        before: { programme: true, vault_writes: true },
        after: { vault_writes: false },
      },
      {
        actor: { kind: 'cli', id: 'ann' },
        before: { programme: true },
        after: { programme: false, vault_writes: false },
      },
    ])
    t.match(await setWorkspace(store, organizationId, {}), { failure: { name: 'workspace_unknown' } })
  },
)

t.test(
  'an organization is found by id or name, and without a reference when it is the only one',
  async (t) => {
    const store = await openTestStore(t)
    t.match(await findOrganization(store.sql, null), { ok: false, failure: { name: 'organization_unknown' } })
    const id = await organization(store, 'one')
    t.match(await findOrganization(store.sql, null), { ok: true, value: { id } })
    await organization(store, 'two')
    t.match(await findOrganization(store.sql, null), { ok: false, failure: { name: 'reference_ambiguous' } })
    t.match(await findOrganization(store.sql, 'one'), { ok: true, value: { id } })
    const twins = [await organization(store, 'twin'), await organization(store, 'twin')]
    const ids = twins.map((twin) => `${twin} (twin)`).join(', ')
    t.match(await findOrganization(store.sql, 'twin'), {
      failure: { name: 'reference_ambiguous', detail: `The organizations are ${ids}.` },
    })
    for (let nth = 0; nth < 4; nth++) await organization(store, 'twin')
    const { failure } = (await findOrganization(store.sql, 'twin')) as { failure: { detail: string } }
    t.match([failure.detail.split('(twin)').length - 1, failure.detail], [5, / and more\.$/])
  },
)
