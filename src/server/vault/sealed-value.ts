import { fail, ok, type Outcome } from '../../schemas/failures.ts'
import type { SealedValue } from '../ports/short-jobs.ts'
import type { StoredSecret } from '../ports/vault/secret-rows.ts'
import type { VaultKeys } from './vault-keys.ts'

/** A row with the key that opens it, bound to the values of the row's own columns. Failure: data_key_unavailable. */
export function sealedValue(
  keys: Pick<VaultKeys, 'open'>,
  { vaultId, workspaceId, name, hosts, version, sealed, key }: StoredSecret,
): Outcome<SealedValue> {
  if (key === null || hosts === null)
    return fail('data_key_unavailable', {
      cause: new Error('the stored secret refers to no key of its vault'),
    })
  const sealingKey = keys.open(key)
  if (!sealingKey.ok) return sealingKey
  // The bytes of a row share a buffer with others, and a transfer would send the whole buffer to the thread.
  return ok({
    vault: { vaultId, workspaceId },
    facts: { name, hosts, version },
    sealed: new Uint8Array(sealed),
    sealingKey: sealingKey.value,
  })
}

/** Clears bytes that this thread still has; bytes that were transferred to another thread are cleared there. */
export function wipe(...secrets: readonly Uint8Array[]): void {
  for (const bytes of secrets) if (bytes.length > 0) bytes.fill(0)
}
