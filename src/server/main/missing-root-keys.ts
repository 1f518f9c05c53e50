import type { Advice } from '../observe/load-advice.ts'
import type { RootKeyUse } from '../ports/vault/rotation.ts'

export interface KnownRootKeys {
  /** Ids of those that are here. */
  readonly here: readonly string[]
  /** Ids of those that the operator has given up. */
  readonly lost: readonly string[]
}

export interface MissingRootKey extends Advice {
  readonly isGivenUp: boolean
}

/**
 * Root keys that rows are wrapped by and that are not here: nothing of what they wrap opens. `doctor` finds
 * them, and a node does not start without them, in the same words. Whoever has lost one for good must be able
 * to go on with the rest. Decision.
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
        detail: `root key ${rootKeyId} is not here: ${count} ${count === 1 ? 'key' : 'keys'} that it wraps cannot be opened`,
        fix:
          'bring it back from its backup, behind the current one, before you start the node; only if it is lost for good, ' +
          'name its id in SLUICE_ROOT_KEYS_LOST',
      }
    })
}
