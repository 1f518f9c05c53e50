import { ok, type Outcome } from '../../../schemas/failures.ts'
import type { FirstKeys } from '../../ports/keys/keys.ts'
import { insertKey } from '../keys/api-keys.ts'
import type { Store } from '../base/open.ts'
import { insertOrganization } from '../workspaces/organizations.ts'
import { reach } from '../base/translate.ts'

/**
 * Creates the first organization with its workspace `default`, an inference key without a rate limit and a
 * management key, all or none, when the store has no organization yet.
 * @param keep stores the keys for the operator, before the commit: after a crash in between the next start
 * creates new keys, and no valid key is lost
 * @returns null when there already is an organization. Failures: store_unavailable.
 */
export function seedFirst(
  store: Store,
  keep: (keys: FirstKeys) => Promise<void>,
): Promise<Outcome<FirstKeys | null>> {
  return reach(async () =>
    ok(
      await store.sql.begin(async (tx) => {
        // Two nodes that start on one empty database wait for each other here.
        await tx`LOCK TABLE organizations IN SHARE ROW EXCLUSIVE MODE`
        const [there] = await tx`SELECT 1 FROM organizations LIMIT 1`
        if (there !== undefined) return null
        const { organization, workspace } = await insertOrganization(tx, 'Default')
        const owner = { organizationId: organization.id, rateLimitRpm: null, expiresAt: null }
        const inference = await insertKey(tx, {
          ...owner,
          kind: 'inference',
          name: 'First inference key',
          workspaceId: workspace.id,
        })
        const management = await insertKey(tx, {
          ...owner,
          kind: 'management',
          name: 'First management key',
          workspaceId: null,
        })
        const keys: FirstKeys = {
          organizationId: organization.id,
          workspaceId: workspace.id,
          inferenceKey: inference.key,
          managementKey: management.key,
        }
        await keep(keys)
        return keys
      }),
    ),
  )
}
