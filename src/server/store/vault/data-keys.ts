import { ok } from '../../../schemas/failures.ts'
import type { DataKeyPurpose, DataKeys, WrappedDataKey } from '../../ports/vault/key-ring.ts'
import type { Queryable, Store } from '../base/open.ts'
import { reach } from '../base/translate.ts'

export function openDataKeys(store: Store): DataKeys {
  return {
    current: (workspaceId, purpose) =>
      reach(async () => ok(await currentOf(store.sql, workspaceId, purpose))),
    byId: (workspaceId, purpose, id) =>
      reach(async () => {
        const [row] = await store.sql<DataKeyRow[]>`
        SELECT * FROM data_keys WHERE id = ${id} AND workspace_id = ${workspaceId} AND purpose = ${purpose}`
        return ok(row === undefined ? null : dataKeyOf(row))
      }),
    addFirst: (row) =>
      reach(async () => {
        await store.sql`
        INSERT INTO data_keys (id, workspace_id, purpose, root_key_id, wrapped)
        VALUES (${row.id}, ${row.workspaceId}, ${row.purpose}, ${row.rootKeyId}, ${Buffer.from(row.wrapped)})
        ON CONFLICT (workspace_id, purpose) WHERE is_current DO NOTHING`
        // A process that lost the race waited for the winner's commit in the statement above, and sees its
        // row here.
        const current = await currentOf(store.sql, row.workspaceId, row.purpose)
        if (current === null) throw new Error('no current key exists after the insert')
        return ok(current)
      }),
  }
}

async function currentOf(
  sql: Queryable,
  workspaceId: string,
  purpose: DataKeyPurpose,
): Promise<WrappedDataKey | null> {
  const [row] = await sql<DataKeyRow[]>`
    SELECT * FROM data_keys WHERE workspace_id = ${workspaceId} AND purpose = ${purpose} AND is_current`
  return row === undefined ? null : dataKeyOf(row)
}

interface DataKeyRow {
  readonly id: string
  readonly workspace_id: string
  readonly purpose: DataKeyPurpose
  readonly root_key_id: string
  readonly wrapped: Buffer
}

function dataKeyOf(row: DataKeyRow): WrappedDataKey {
  return {
    id: row.id,
    workspaceId: row.workspace_id,
    purpose: row.purpose,
    rootKeyId: row.root_key_id,
    wrapped: row.wrapped,
  }
}
