import type { Advice } from '../observe/load-advice.ts'
import type { RootKeyUse } from '../ports/vault/key-ring.ts'

export interface KnownRootKeys {
  readonly here: readonly string[]
  /** Ids of the root keys that the operator has given up. */
  readonly lost: readonly string[]
}

export interface MissingRootKey extends Advice {
  readonly isGivenUp: boolean
}

/**
 * Root keys that wrap rows and are not present: nothing that they wrap can be opened. `doctor` reports them,
 * and a node refuses to start without them with the same message. An operator who has permanently lost a key must
 * be able to continue with the rest. Decision.
 */
export function missingRootKeys(
  uses: readonly RootKeyUse[],
  { here, lost }: KnownRootKeys,
): readonly MissingRootKey[] {
  return uses
    .filter(({ rootKeyId }) => !here.includes(rootKeyId))
    .map(({ rootKeyId, vaultKeys, dataKeys }) => {
      const count = vaultKeys + dataKeys
      return {
        isGivenUp: lost.includes(rootKeyId),
        detail: `root key ${rootKeyId} is missing: ${count} ${count === 1 ? 'key' : 'keys'} encrypted with it cannot be decrypted`,
        fix:
          'before you start the node, restore the key from its backup and list it after the current key; only if the key is lost for good, ' +
          'add its id to SLUICE_ROOT_KEYS_LOST',
      }
    })
}
