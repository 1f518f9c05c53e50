import type { Test } from 'tap'
import { createOrganization } from '../../../src/server/store/workspaces/organizations.ts'
import { openFolder } from '../files/storage.ts'
import { must } from '../must.ts'
import type { Settings } from '../nodes/node.ts'
import { openTestStore } from '../stores/postgres.ts'
import { verbsOf } from './verbs.ts'

/** An organization in a database of the test's own, and its verbs. */
export async function openInstallation(t: Test, own: Settings = {}, name = 'o') {
  const store = await openTestStore(t)
  const { organization, workspace } = must(await createOrganization(store, { name }))
  const settings = { DATABASE_URL: store.options.url, SLUICE_DATA: await openFolder(t), ...own }
  const ids = { organizationId: organization.id, workspaceId: workspace.id }
  return { store, organization, workspace, ...ids, settings, ...verbsOf(settings) }
}
