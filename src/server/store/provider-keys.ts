import { ok } from '../../schemas/failures.ts'
import type { ProviderKeyRows } from '../ports/provider-keys.ts'
import type { Store } from './open.ts'
import { reach } from './translate.ts'

/** Sealed provider keys of workspaces. */
export function openProviderKeyRows(store: Store): ProviderKeyRows {
  return {
    get: (workspaceId, provider) => reach(async () => {
      const [row] = await store.sql<{ data_key_id: string; sealed: Buffer }[]>`
        SELECT data_key_id, sealed FROM provider_keys WHERE workspace_id = ${workspaceId} AND provider = ${provider}`
      return ok(row === undefined ? null : { dataKeyId: row.data_key_id, sealed: row.sealed })
    }),
    put: (workspaceId, provider, { dataKeyId, sealed }) => reach(async () => {
      await store.sql`
        INSERT INTO provider_keys (workspace_id, provider, data_key_id, sealed)
        VALUES (${workspaceId}, ${provider}, ${dataKeyId}, ${Buffer.from(sealed)})
        ON CONFLICT (workspace_id, provider) DO UPDATE
        SET data_key_id = excluded.data_key_id, sealed = excluded.sealed, updated_at = clock_timestamp()`
      return ok(null)
    }),
    remove: (workspaceId, provider) => reach(async () => {
      const { count } = await store.sql`DELETE FROM provider_keys WHERE workspace_id = ${workspaceId} AND provider = ${provider}`
      return ok(count === 1)
    }),
  }
}
