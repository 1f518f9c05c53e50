/**
 * Rotations of root and sealing keys as the command line makes them, with what a test puts between the
 * batches.
 */
import { randomBytes } from 'node:crypto'
import { Secret } from '../../../src/schemas/vault/secret.ts'
import { openDataRotation } from '../../../src/server/store/vault/data-rotation.ts'
import type { Store } from '../../../src/server/store/base/open.ts'
import { openRootRotation } from '../../../src/server/store/vault/root-rotation.ts'
import { openSecretRows } from '../../../src/server/store/vault/secrets.ts'
import { rotateData, type DataRotation } from '../../../src/server/vault/rotation.ts'
import { rotateRoot, type RootRotation } from '../../../src/server/vault/rotate-root.ts'
import { openRootKeys, type RootKeys } from '../../../src/server/vault/root-keys.ts'
import { VaultKeys } from '../../../src/server/vault/vault-keys.ts'
import { resealSecret } from '../../../src/workers/seal-secrets.ts'
import { CLI } from '../audit/audit.ts'
import { must } from '../must.ts'
import type { DataRotationRows, RootRotationRows } from '../../../src/server/ports/vault/key-ring.ts'

/** A new root key before those that there are; `alone` is the new one without them. */
export function withNewRoot(old: RootKeys): { readonly both: RootKeys; readonly alone: RootKeys } {
  const text = randomBytes(32).toString('hex')
  const others = old.ids.map((id) => old.get(id)?.toString('hex'))
  const open = (keys: string): RootKeys =>
    openRootKeys({ setting: new Secret(keys), file: null, dataDir: '/nowhere' })
  return { both: open([text, ...others].join(',')), alone: open(text) }
}

export async function turnRoot(
  store: Store,
  rootKeys: RootKeys,
  more: Partial<RootRotationRows> = {},
): Promise<RootRotation> {
  const rows = { ...openRootRotation(store), ...more }
  return must(
    await rotateRoot({ rows, rootKeys, rootKeyId: rootKeys.currentId, by: CLI, progress: () => undefined }),
  )
}

export interface DataTurn extends Partial<DataRotationRows> {
  readonly madeBefore?: string
}

export async function turnData(
  store: Store,
  rootKeys: RootKeys,
  { madeBefore, ...more }: DataTurn = {},
): Promise<DataRotation> {
  const rows = { ...openDataRotation(store), ...more }
  const keys = new VaultKeys({ rootKeys, rows: openSecretRows(store) })
  const before = madeBefore ?? must(await rows.now())
  const parts = { rows, rootKeys, keys, reseal: resealSecret, by: CLI, progress: () => undefined }
  return must(await rotateData(parts, { scope: { workspaceId: null, vaultId: null }, madeBefore: before }))
}
