import { ok, type Outcome } from '../../schemas/failures.ts'
import type { ChangedBy } from '../ports/vault/vault.ts'
import type { RootKeys } from './root-keys.ts'
import { unwrapKey, wrapKey } from './wrap.ts'
import type { RewrappedKey, RootRotationRows, WrappedKey, WrappedKeyTable } from '../ports/vault/key-ring.ts'

/** Keys that one transaction rewraps. Decision. */
const BATCH_KEYS = 250
/** Passes over the remaining keys: two rotations to different keys would undo each other forever. Decision. */
const ROOT_PASSES_MAX = 20

export interface RootRotationDeps {
  readonly rows: RootRotationRows
  readonly rootKeys: Pick<RootKeys, 'get'>
  /** Id of the root key that is to wrap all other keys. */
  readonly rootKeyId: string
  readonly by: ChangedBy
  readonly progress: (done: RootRotation) => void
}

export interface BrokenKey {
  readonly table: WrappedKeyTable
  readonly id: string
  readonly rootKeyId: string
  readonly problem: 'root_key_missing' | 'does_not_open'
}

export interface RootRotation {
  readonly rewrapped: number
  readonly broken: readonly BrokenKey[]
  /** Other processes changed the remaining keys in every pass. */
  readonly isUnfinished: boolean
}

/**
 * Wraps every key with one root key, in batches that are independent of each other: the rotation may be killed at any
 * moment, run again or run twice at once, and continues with the rest. A key that does not open stays unchanged.
 * Failures: store_unavailable.
 */
export async function rotateRoot(deps: RootRotationDeps): Promise<Outcome<RootRotation>> {
  let rewrapped = 0
  for (let pass = 0; pass < ROOT_PASSES_MAX; pass++) {
    const broken: BrokenKey[] = []
    let seen = 0
    for (const table of ['vault_keys', 'data_keys'] as const) {
      for (let afterId: string | null = null; ;) {
        const page = await deps.rows.page(table, { rootKeyId: deps.rootKeyId, afterId, limit: BATCH_KEYS })
        if (!page.ok) return page
        const last = page.value.at(-1)
        if (last === undefined) break
        const keys = page.value.flatMap((key) => rewrap(deps, { table, key, broken }))
        const changed = keys.length === 0 ? ok(0) : await deps.rows.rewrap(table, keys, deps.by)
        if (!changed.ok) return changed
        seen += page.value.length
        rewrapped += changed.value
        afterId = last.id
        deps.progress({ rewrapped, broken, isUnfinished: true })
      }
    }
    if (seen === broken.length) return ok({ rewrapped, broken, isUnfinished: false })
  }
  return ok({ rewrapped, broken: [], isUnfinished: true })
}

interface Looked {
  readonly table: WrappedKeyTable
  readonly key: WrappedKey
  /** Receives the key when it does not open. */
  readonly broken: BrokenKey[]
}

function rewrap(
  { rootKeys, rootKeyId }: RootRotationDeps,
  { table, key: from, broken }: Looked,
): readonly RewrappedKey[] {
  const [was, will] = [rootKeys.get(from.rootKeyId), rootKeys.get(rootKeyId)]
  const plain = was === undefined ? null : unwrapKey(was, from.wrapped, from)
  if (plain === null || will === undefined) {
    const problem = was === undefined || will === undefined ? 'root_key_missing' : 'does_not_open'
    broken.push({ table, id: from.id, rootKeyId: from.rootKeyId, problem })
    return []
  }
  const wrapped = wrapKey(will, plain, { ...from, rootKeyId })
  plain.fill(0)
  return [{ from, rootKeyId, wrapped }]
}
