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
 * What hurts nobody now, and will: `doctor` and the live view say the same. Never throws: what cannot be read
 * is for `doctor` to tell.
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

/** Root keys that nobody has backed up. */
export function loneRootKeys(config: Sources, keys: Pick<RootKeys, 'ids'>): Advice | null {
  const copies = rootKeyCopies(config.dataDir)
  const lone = rootKeyIdsInFiles(config, keys).filter((id) => !copies.has(id))
  if (lone.length === 0) return null
  const what = lone.length === 1 ? `root key ${lone[0] ?? ''}` : `${lone.length} root keys`
  return {
    detail: `nobody has backed up ${what}: without it no file and no secret opens`,
    fix: 'copy it elsewhere and run `sluice vault confirm-root COPY`, or run `sluice backup FOLDER`',
  }
}

/**
 * Ids of the keys that stand in files of this machine: what SLUICE_ROOT_KEY brings is kept where that comes
 * from.
 */
export function rootKeyIdsInFiles(
  { rootKey }: Pick<Config, 'rootKey'>,
  { ids }: Pick<RootKeys, 'ids'>,
): readonly string[] {
  const given = rootKey === null ? [] : rootKeyIdsIn(rootKey.reveal(), 'SLUICE_ROOT_KEY')
  return ids.filter((id) => !given.includes(id))
}

/** Before it is asked for: opening makes one where there is none. */
export function hasRootKey({ rootKey: setting, rootKeyFile, dataDir }: Sources): boolean {
  return setting !== null || rootKeyFile !== null || existsSync(join(dataDir, ROOT_KEY_FILE))
}

/** Throws RootKeyInvalid. */
export function ownRootKeysOf({ rootKey: setting, rootKeyFile, dataDir }: Sources): RootKeys {
  return openRootKeys({ setting, file: rootKeyFile, dataDir })
}

/**
 * Endpoints of the catalogue that somebody pays for, and no caller: told by name so far as they are few. C40.
 */
export function unpricedEndpoints(unpriced: readonly UnpricedEndpoint[]): Advice | null {
  if (unpriced.length === 0) return null
  const named = unpriced.slice(0, NAMED_MAX).map(({ model, provider }) => `${model} at ${provider}`)
  const rest = unpriced.length - named.length
  const what =
    unpriced.length === 1 ? '1 endpoint has no price' : `${unpriced.length} endpoints have no price`
  return {
    detail: `${what} (${named.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}): calls are charged nothing, and refused under every limit that counts them`,
    fix: 'give it `pricing`, or `"free": true`, in the file of SLUICE_CATALOG',
    page: 'models',
  }
}

/** Endpoints that a sentence names. Decision. */
const NAMED_MAX = 3

/** The keys that the first start made, in plain text, until somebody deletes them. C9. */
export function firstKeysLeft({ dataDir }: Pick<Config, 'dataDir'>): Advice | null {
  const file = join(dataDir, FIRST_KEYS_FILE)
  if (!existsSync(file)) return null
  return {
    detail: `${file} holds plain keys`,
    fix: 'keep them in a safe place and delete the file',
    page: 'keys',
  }
}
