import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { isAbsolute, join, relative, resolve, sep } from 'node:path'
import type { Command } from 'commander'
import type { Config } from '../../config.ts'
import { rootKeyIdsInFiles } from '../../main/safekeeping.ts'
import { noteRootKeyCopies } from '../../vault/root-key-copies.ts'
import { ROOT_KEY_FILE, rootKeyIdsIn, RootKeyInvalid, type RootKeys } from '../../vault/root-keys.ts'
import { BACKUP_ROOT_KEYS } from '../operator/backup-folder.ts'
import { ownRootKeys } from './root-keys.ts'
import { addVerb, CliFailure, loadGeneration, print } from '../parts/verb.ts'

const STANDARD_INPUT = 0

export function addConfirmRootVerb(group: Command): void {
  addVerb(group, 'confirm-root', 'check a backup of the root keys and record that they are backed up')
    .argument('<copy>', 'copy of the root key file, folder of `sluice backup`, or - for standard input')
    .action((copy: string, options: { json?: boolean }) => {
      const { config } = loadGeneration()
      const ids = rootKeyIdsInFiles(config, ownRootKeys())
      if (ids.length > 0) confirm(copy, ids, config)
      const text =
        ids.length > 0
          ? `recorded: root keys ${ids.join(', ')} are backed up`
          : 'all root keys come from SLUICE_ROOT_KEY: there is nothing to record'
      print(options, { confirmed: ids }, text)
    })
}

/**
 * Records a backup of the root keys, unless it would be lost together with them.
 * @returns false when the record could not be written; the backup itself is complete
 */
export function noteBackup(folder: string, keys: RootKeys, config: Config): boolean {
  const ids = rootKeyIdsInFiles(config, keys)
  try {
    if (ids.length > 0 && !isLostWith(config, folder)) note(config, ids, 'backup')
    return true
  } catch {
    return false
  }
}

/** Confirms a copy of the root keys. Throws CliFailure. */
function confirm(copy: string, ids: readonly string[], config: Config): void {
  const path = copy === '-' ? null : fileOf(resolve(copy))
  const place = path ?? 'standard input'
  if (path !== null && isLostWith(config, path))
    throw new CliFailure(`${path} would be lost together with the key: give a copy that is stored elsewhere`)
  const found = idsIn(path, place)
  const missing = ids.filter((id) => !found.includes(id))
  if (missing.length > 0)
    throw new CliFailure(`${place} does not contain root key ${missing.join(', ')}: nothing was recorded`)
  try {
    note(config, ids, 'shown')
  } catch (cause) {
    const why = existsSync(config.dataDir)
      ? 'cannot be written'
      : 'does not exist: start the node once to create it'
    throw new CliFailure(`${config.dataDir} ${why}`, { cause })
  }
}

function note({ dataDir }: Config, ids: readonly string[], by: 'backup' | 'shown'): void {
  noteRootKeyCopies(dataDir, ids, { at: new Date().toISOString(), by })
}

/** Ids of the keys in a file. Throws CliFailure, never with a text that may be a key. */
function idsIn(path: string | null, place: string): readonly string[] {
  try {
    return rootKeyIdsIn(readFileSync(path ?? STANDARD_INPUT, 'utf8'), place)
  } catch (cause) {
    throw new CliFailure(cause instanceof RootKeyInvalid ? cause.message : `${place} cannot be read`, {
      cause,
    })
  }
}

function fileOf(path: string): string {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) return path
  const inBackup = join(path, BACKUP_ROOT_KEYS)
  return existsSync(inBackup) ? inBackup : join(path, ROOT_KEY_FILE)
}

/** True when a place is in the data directory, or is the file of the keys itself. */
function isLostWith({ dataDir, rootKeyFile }: Config, path: string): boolean {
  const real = realOf(path)
  if (rootKeyFile !== null && real === realOf(rootKeyFile)) return true
  const way = relative(realOf(dataDir), real)
  return way === '' || !(way === '..' || way.startsWith(`..${sep}`) || isAbsolute(way))
}

function realOf(path: string): string {
  return existsSync(path) ? realpathSync(path) : path
}
