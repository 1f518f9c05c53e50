import type { Outcome } from '../../../schemas/failures.ts'
import { mayBeProviderKey } from '../../../schemas/workspaces/provider-keys.ts'
import type { Hints, Invalidation } from '../../ports/keys/keys.ts'
import type { VaultScope } from '../../ports/vault/vault.ts'
import { bump } from '../base/epoch.ts'
import type { Store, Transaction } from '../base/open.ts'

export interface SecretChange {
  readonly scope: VaultScope
  readonly names: readonly string[]
}

/**
 * Changes secrets, and informs the fronts when one of them is the credential of an active private endpoint, or
 * has the name of a provider key: fronts cache released credentials and which keys exist. Most secrets are
 * neither, and changing them should not require the epoch's lock.
 */
export async function changingSecrets<T>(
  { store, publish }: { readonly store: Store; readonly publish: Hints['publish'] | null },
  change: SecretChange,
  work: (tx: Transaction) => Promise<Outcome<T>>,
): Promise<Outcome<T>> {
  let invalidation: Invalidation | null = null
  const done = await store.sql.begin<Outcome<T>>(async (tx) => {
    const isUsed = isProviderKey(change) || (await isUsedByEndpoint(tx, change))
    const outcome = await work(tx)
    if (isUsed && outcome.ok) invalidation = await bump(tx, 'vault', change.scope.workspaceId)
    return outcome
  })
  if (invalidation !== null) await publish?.(invalidation)
  return done
}

function isProviderKey({ scope, names }: SecretChange): boolean {
  return isOfWorkspace(scope) && names.some(mayBeProviderKey)
}

function isOfWorkspace({ internId, attachableId }: VaultScope): boolean {
  return internId === null && attachableId === undefined
}

/** Activations in the workspace wait until this commit, and these writes wait for theirs, so that each sees the other. */
async function isUsedByEndpoint(tx: Transaction, { scope, names }: SecretChange): Promise<boolean> {
  if (!isOfWorkspace(scope) || names.length === 0) return false
  await tx`SELECT 1 FROM workspaces WHERE id = ${scope.workspaceId} FOR SHARE`
  const rows = await tx`
    SELECT 1 FROM private_endpoints
    WHERE workspace_id = ${scope.workspaceId} AND status = 'active' AND deleted_at IS NULL AND secret_name IN ${tx(names)} LIMIT 1`
  return rows.length > 0
}
