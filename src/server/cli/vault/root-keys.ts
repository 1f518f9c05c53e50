import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { KeyRing } from '../../ports/vault/key-ring.ts'
import { openDataKeys } from '../../store/vault/data-keys.ts'
import type { Store } from '../../store/base/open.ts'
import { openKeyRing } from '../../vault/key-ring.ts'
import {
  addRootKey,
  openRootKeys,
  ROOT_KEY_FILE,
  RootKeyInvalid,
  type RootKeys,
} from '../../vault/root-keys.ts'
import { CliFailure, loadGeneration } from '../parts/verb.ts'

/** The root keys of this installation, as the node has them. Throws CliFailure. */
export function ownRootKeys(): RootKeys {
  const { rootKey, rootKeyFile, dataDir } = loadGeneration().config
  // A verb creates no root key: its user would not be reminded to back the key up, and the node would have
  // another one.
  if (rootKey === null && rootKeyFile === null && !existsSync(join(dataDir, ROOT_KEY_FILE))) {
    throw new CliFailure(
      `there is no root key in ${dataDir}: set SLUICE_ROOT_KEY or SLUICE_DATA to the value that the node uses, or start the node once to create a root key`,
    )
  }
  try {
    return openRootKeys({ setting: rootKey, file: rootKeyFile, dataDir })
  } catch (problem) {
    throw problem instanceof RootKeyInvalid ? new CliFailure(problem.message) : problem
  }
}

/** The key ring of this installation. Throws CliFailure. */
export function rootRing(store: Store): KeyRing {
  return openKeyRing({ rootKeys: ownRootKeys(), rows: openDataKeys(store) })
}

/** Adds a new key before the others in the file that the node has created. Throws CliFailure when the operator provides the keys. */
export function newOwnRootKey(): { readonly file: string; readonly id: string } {
  const { rootKey, rootKeyFile, dataDir } = loadGeneration().config
  if (rootKey !== null) {
    throw new CliFailure(
      'the root keys come from SLUICE_ROOT_KEY: add a new key as the first value of the setting, restart every node, then run this command without --new',
    )
  }
  if (rootKeyFile !== null) {
    throw new CliFailure(
      `the root keys come from ${rootKeyFile}: add a new key at the top of that file, then run this command without --new`,
    )
  }
  ownRootKeys()
  return addRootKey(dataDir)
}
