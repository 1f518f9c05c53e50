import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { UnpricedEndpoint } from '../catalogue/terms.ts'
import type { Config } from '../config.ts'
import type { Advice } from '../observe/load-advice.ts'
import { FIRST_KEYS_FILE } from '../supervisor/data-directory/first-keys.ts'
import { rootKeyCopies } from '../vault/root-key-copies.ts'
import { openRootKeys, ROOT_KEY_FILE, rootKeyIdsIn, type RootKeys } from '../vault/root-keys.ts'

type Sources = Pick<Config, 'rootKey' | 'rootKeyFile' | 'dataDir'>

/**
 * Risks that have no effect yet but will later: `doctor` and the live view report the same. Never throws:
 * `doctor` reports files that cannot be read.
 */
export function safekeeping(config: Sources): readonly Advice[] {
  return [rootKeysOf(config), firstKeysLeft(config)].filter((advice) => advice !== null)
}

function rootKeysOf(config: Sources): Advice | null {
  try {
    return hasRootKey(config) ? loneRootKeys(config, ownRootKeysOf(config)) : null
  } catch {
    return null
  }
}

/** Advice about root keys without a backup. */
export function loneRootKeys(config: Sources, keys: Pick<RootKeys, 'ids'>): Advice | null {
  const copies = rootKeyCopies(config.dataDir)
  const lone = rootKeyIdsInFiles(config, keys).filter((id) => !copies.has(id))
  if (lone.length === 0) return null
  const what = lone.length === 1 ? `root key ${lone[0] ?? ''}` : `${lone.length} root keys`
  return {
    detail: `no backup of ${what}: files and secrets cannot be decrypted without ${lone.length === 1 ? 'this key' : 'these keys'}`,
    fix: 'copy each key elsewhere and run `sluice vault confirm-root COPY`, or run `sluice backup FOLDER`',
  }
}

/**
 * Ids of the keys in files of this machine. Keys of SLUICE_ROOT_KEY are left out: they are kept at the place
 * that sets the variable.
 */
export function rootKeyIdsInFiles(
  { rootKey }: Pick<Config, 'rootKey'>,
  { ids }: Pick<RootKeys, 'ids'>,
): readonly string[] {
  const given = rootKey === null ? [] : rootKeyIdsIn(rootKey.reveal(), 'SLUICE_ROOT_KEY')
  return ids.filter((id) => !given.includes(id))
}

/** To be checked before the keys are opened: opening creates a missing key. */
export function hasRootKey({ rootKey: setting, rootKeyFile, dataDir }: Sources): boolean {
  return setting !== null || rootKeyFile !== null || existsSync(join(dataDir, ROOT_KEY_FILE))
}

/** Throws RootKeyInvalid. */
export function ownRootKeysOf({ rootKey: setting, rootKeyFile, dataDir }: Sources): RootKeys {
  return openRootKeys({ setting, file: rootKeyFile, dataDir })
}

/** Advice about endpoints of the catalogue that cost the operator money but are free for callers. The advice names up to NAMED_MAX of them. */
export function unpricedEndpoints(unpriced: readonly UnpricedEndpoint[]): Advice | null {
  if (unpriced.length === 0) return null
  const named = unpriced.slice(0, NAMED_MAX).map(({ model, provider }) => `${model} at ${provider}`)
  const rest = unpriced.length - named.length
  const what =
    unpriced.length === 1 ? '1 endpoint has no price' : `${unpriced.length} endpoints have no price`
  return {
    detail: `${what} (${named.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}): calls are free, but are refused if a spending limit applies`,
    fix: 'add `pricing` or `"free": true` in the file of SLUICE_CATALOG',
    page: 'models',
  }
}

/** Number of endpoints that the advice names. Decision. */
const NAMED_MAX = 3

/** Advice about the keys that the first start created, which are in a plain-text file until the operator deletes it. */
export function firstKeysLeft({ dataDir }: Pick<Config, 'dataDir'>): Advice | null {
  const file = join(dataDir, FIRST_KEYS_FILE)
  if (!existsSync(file)) return null
  return {
    detail: `${file} contains unencrypted keys`,
    fix: 'save the keys elsewhere, then delete the file',
    page: 'keys',
  }
}
