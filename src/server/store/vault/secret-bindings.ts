import { ok } from '../../../schemas/failures.ts'
import type { SecretBinding, SecretBindings } from '../../ports/vault/secret-rows.ts'
import type { Store } from '../base/open.ts'
import { reach } from '../base/translate.ts'

/** Names and hosts of secrets in the workspaces' own vaults. */
export function openSecretBindings({ sql }: Store): SecretBindings {
  return {
    among: (workspaceId, names) =>
      reach(async () => {
        const rows =
          names.length === 0
            ? []
            : await sql<SecretBinding[]>`
        SELECT s.name, array_to_json(s.hosts) AS hosts FROM vaults v JOIN secrets s ON s.vault_id = v.id
        WHERE v.workspace_id = ${workspaceId} AND v.kind = 'workspace' AND s.name IN ${sql(names)} AND s.hosts IS NOT NULL`
        return ok<readonly SecretBinding[]>(rows)
      }),
  }
}
