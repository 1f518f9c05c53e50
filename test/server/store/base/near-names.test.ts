/** Messages for an unknown name: the name, and near names that the caller may see. C39. */
import t from 'tap'
import { textOf, type Outcome } from '../../../../src/schemas/failures.ts'
import {
  createOrganization,
  findOrganization,
} from '../../../../src/server/store/workspaces/organizations.ts'
import { openPresetRows, openPresets } from '../../../../src/server/store/presets/presets.ts'
import { createWorkspace } from '../../../../src/server/store/workspaces/workspaces.ts'
import { findWorkspace, workspaceIdOf } from '../../../../src/server/store/base/find-workspace.ts'
import { must } from '../../../support/must.ts'
import { openTestStore } from '../../../support/stores/postgres.ts'
import { presetInput } from '../../../support/presets/presets.ts'

const reported = (outcome: Outcome<unknown>): string => (outcome.ok ? 'found' : textOf(outcome.failure))

const store = await openTestStore(t)
const { organization: own, workspace } = must(await createOrganization(store, { name: 'Acme' }))
const { organization: other } = must(await createOrganization(store, { name: 'Acmes' }))
for (const [{ id: organizationId }, slug] of [
  [own, 'production'],
  [other, 'productions'],
] as const) {
  must(await createWorkspace(store, { organizationId, name: slug, slug }))
}

t.test('suggests to an organization only its own workspaces, and to the command line all', async (t) => {
  const own1 = 'There is no such workspace. `prodction` was not found. Nearest: `production`.'
  t.equal(reported(await findWorkspace(store.sql, 'prodction', own.id)), own1)
  t.equal(reported(await workspaceIdOf(store.sql, own.id, 'prodction')), own1)
  t.equal(
    reported(await findWorkspace(store.sql, 'prodction', null)),
    own1.replace('`production`.', '`production`, `productions`.'),
  )
  t.equal(
    reported(await findWorkspace(store.sql, 'far-away', own.id)),
    'There is no such workspace. `far-away` was not found.',
  )
  t.match(
    reported(await findWorkspace(store.sql, 'no\0where', own.id)),
    /^There is no such workspace\. `no where` was not found\.$/,
  )
})

t.test('suggests near names for a misspelt organization', async (t) => {
  t.equal(
    reported(await findOrganization(store.sql, 'Amce')),
    'There is no such organization. `Amce` was not found. Nearest: `Acme`.',
  )
})

t.test('suggests usable presets of the same workspace for an unknown one', async (t) => {
  const by = {
    actor: { kind: 'cli', id: null },
    requestId: null,
    operation: 'presets.put',
    organizationId: own.id,
  } as const
  const presets = openPresets(store, () => Promise.resolve())
  for (const slug of ['support-search', 'support-searches'])
    must(await presets.put({ workspaceId: workspace.id, slug }, presetInput('m'), by))
  must(await presets.archive({ workspaceId: workspace.id, slug: 'support-searches' }, by))
  const text = 'There is no such preset. `suport-search` was not found. Nearest: `support-search`.'
  const ref = { workspaceId: workspace.id, slug: 'suport-search' }
  t.equal(reported(await presets.get(ref)), text)
  t.equal(reported(await presets.archive(ref, by)), text)
  t.equal(reported(await openPresetRows(store).unknown(ref)), text)
})
