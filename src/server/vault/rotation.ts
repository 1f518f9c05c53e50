import { ok, type Outcome } from '../../schemas/failures.ts'
import type { StoredSecret, WrappedVaultKey } from '../ports/vault/secret-rows.ts'
import type { SealedValue } from '../ports/short-jobs.ts'
import type { ChangedBy } from '../ports/vault/vault.ts'
import type { RootKeys } from './root-keys.ts'
import { sealedValue, wipe } from './sealed-value.ts'
import type { VaultKeys } from './vault-keys.ts'
import { newWrappedKey } from './wrap.ts'
import type { DataRotationRows, ResealedSecret, RotationScope } from '../ports/vault/key-ring.ts'

/** Vaults that get a new key in one transaction. Decision. */
const BATCH_VAULTS = 100
/** Secrets that are resealed in one transaction. Decision. */
const BATCH_SECRETS = 250
/** Passes over the remaining secrets of a batch of vaults: more than two are needed only when other processes rotate too. Decision. */
const DATA_PASSES_MAX = 20

export interface DataRotationDeps {
  readonly rows: DataRotationRows
  readonly rootKeys: Pick<RootKeys, 'currentId' | 'get'>
  readonly keys: Pick<VaultKeys, 'open'>
  /** Reseals a value for the same place with the same facts; null when the value does not open. Clears both keys. */
  readonly reseal: (from: SealedValue, sealingKey: Uint8Array) => Uint8Array | null
  readonly by: ChangedBy
  readonly progress: (done: DataRotation) => void
}

export interface DataRotationInput {
  readonly scope: RotationScope
  /** ISO 8601. Vaults whose key was made then or later keep it, so that an interrupted rotation continues where it stopped. */
  readonly madeBefore: string
}

/** A secret that keeps its key because it cannot be resealed. */
export interface BrokenSecret {
  readonly vaultId: string
  /** Null when a key of the vault does not open, or its root key is not present. */
  readonly name: string | null
}

export interface DataRotation {
  readonly vaults: number
  readonly newKeys: number
  readonly resealed: number
  readonly removedKeys: number
  readonly broken: readonly BrokenSecret[]
  /** Rows without hosts: nothing opens or releases them. */
  readonly legacy: number
  readonly isUnfinished: boolean
}

/** Counts of a rotation that is under way. */
type Tally = { -readonly [K in keyof DataRotation]: DataRotation[K] } & { broken: BrokenSecret[] }

/**
 * Gives each vault a new sealing key, reseals its secrets and removes keys that no secret names any more. Every
 * transaction is complete in itself: the rotation may be killed at any moment, run again or run twice at once, and no
 * secret is ever without its key. Failures: store_unavailable.
 */
export async function rotateData(
  deps: DataRotationDeps,
  { scope, madeBefore }: DataRotationInput,
): Promise<Outcome<DataRotation>> {
  const tally: Tally = {
    vaults: 0,
    newKeys: 0,
    resealed: 0,
    removedKeys: 0,
    broken: [],
    legacy: 0,
    isUnfinished: false,
  }
  for (let afterVaultId: string | null = null; ;) {
    const page = await deps.rows.vaults(scope, { afterVaultId, limit: BATCH_VAULTS })
    if (!page.ok) return page
    const last = page.value.at(-1)
    if (last === undefined) return ok(tally)
    const done = await rotateVaults(deps, { current: page.value, madeBefore, tally })
    if (!done.ok) return done
    tally.vaults += page.value.length
    afterVaultId = last.vaultId
    deps.progress(tally)
  }
}

interface Batch {
  readonly current: readonly WrappedVaultKey[]
  readonly madeBefore: string
  readonly tally: Tally
}

async function rotateVaults(
  deps: DataRotationDeps,
  { current, madeBefore, tally }: Batch,
): Promise<Outcome<null>> {
  // When a key does not open, its root key is missing or its row was edited: a new key would only hide that.
  const sound = current.filter((key) => opens(deps, key))
  const closed = current.filter((key) => !sound.includes(key))
  tally.broken.push(...closed.map(({ vaultId }) => ({ vaultId, name: null })))
  const made = await deps.rows.replace(
    sound.map(({ vaultId }) => newKey(deps, vaultId)),
    madeBefore,
    deps.by,
  )
  if (!made.ok) return made
  tally.newKeys += made.value
  const vaultIds = sound.map(({ vaultId }) => vaultId)
  if (vaultIds.length === 0) return ok(null)
  const sealed = await resealAll(deps, vaultIds, tally)
  if (!sealed.ok) return sealed
  const removed = await deps.rows.removeOld(vaultIds, deps.by)
  if (!removed.ok) return removed
  tally.removedKeys += removed.value
  return ok(null)
}

function opens({ keys }: DataRotationDeps, row: WrappedVaultKey): boolean {
  const key = keys.open(row)
  if (key.ok) wipe(key.value)
  return key.ok
}

function newKey({ rootKeys }: DataRotationDeps, vaultId: string): WrappedVaultKey {
  const made = newWrappedKey(rootKeys, vaultId, 'sealing')
  if (made === null) throw new Error('the current root key is missing')
  return { ...made, vaultId }
}

/** Repeats passes over the secrets until the only ones left on old keys are those that do not open. */
async function resealAll(
  deps: DataRotationDeps,
  vaultIds: readonly string[],
  tally: Tally,
): Promise<Outcome<null>> {
  for (let pass = 0; pass < DATA_PASSES_MAX; pass++) {
    const left: Left = { seen: 0, broken: [], legacy: 0 }
    for (let after: StoredSecret | null = null; ;) {
      const page = await deps.rows.onOldKeys(vaultIds, { after, limit: BATCH_SECRETS })
      if (!page.ok) return page
      const last = page.value.at(-1)
      if (last === undefined) break
      const changed = await resealPage(deps, page.value, left)
      if (!changed.ok) return changed
      tally.resealed += changed.value
      after = last
      deps.progress(tally)
    }
    if (left.seen === left.broken.length + left.legacy) {
      tally.broken.push(...left.broken)
      tally.legacy += left.legacy
      return ok(null)
    }
  }
  tally.isUnfinished = true
  return ok(null)
}

/** Counts of one pass. */
interface Left {
  seen: number
  readonly broken: BrokenSecret[]
  legacy: number
}

async function resealPage(
  deps: DataRotationDeps,
  page: readonly StoredSecret[],
  left: Left,
): Promise<Outcome<number>> {
  const rows = await deps.rows.sealingKeys([...new Set(page.map(({ vaultId }) => vaultId))])
  if (!rows.ok) return rows
  const current = new Map(rows.value.map((row) => [row.vaultId, row]))
  const secrets = page.flatMap((secret) => resealed(deps, { secret, to: current.get(secret.vaultId), left }))
  left.seen += page.length
  return secrets.length === 0 ? ok(0) : deps.rows.reseal(secrets)
}

interface Looked {
  readonly secret: StoredSecret
  /** Undefined: the vault was removed meanwhile. */
  readonly to: WrappedVaultKey | undefined
  readonly left: Left
}

function resealed(
  { keys, reseal }: DataRotationDeps,
  { secret, to, left }: Looked,
): readonly ResealedSecret[] {
  if (secret.hosts === null) {
    left.legacy++
    return []
  }
  if (to === undefined) return []
  const from = sealedValue(keys, secret)
  const sealingKey = keys.open(to)
  const sealed = from.ok && sealingKey.ok ? reseal(from.value, sealingKey.value) : null
  // Keys that were not passed to `reseal` must be cleared here.
  if (from.ok) wipe(from.value.sealingKey)
  if (sealingKey.ok) wipe(sealingKey.value)
  if (sealed === null || secret.key === null) {
    left.broken.push({ vaultId: secret.vaultId, name: secret.name })
    return []
  }
  const { vaultId, name, version, key } = secret
  return [{ from: { vaultId, name, version, keyId: key.id }, keyId: to.id, sealed }]
}
