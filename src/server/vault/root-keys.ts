import { createHmac } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Secret } from '../../schemas/vault/secret.ts'
import { isCode, makeKeyFile, newRootKey, replaceKeyFile } from './root-key-file.ts'

/** The keys that wrap all other keys, by id. */
export interface RootKeys {
  /**
   * Id of the key that wraps new keys; the other root keys only open what they wrapped. When a key is put first in its
   * file, the change applies at once.
   */
  readonly currentId: string
  readonly ids: readonly string[]
  /** Returns 32 bytes, which must not be changed. For an unknown id the files are read again if they changed. */
  get(id: string): Buffer | undefined
}

/** Root keys, the first of which may have been made by this call. */
export interface MadeRootKeys extends RootKeys {
  /** The file that this call made; the operator must be advised to back it up. Null when there was a key already. */
  readonly madeFile: string | null
}

export interface RootKeySources {
  /** Text of `SLUICE_ROOT_KEY`; null = not set. */
  readonly setting: Secret | null
  /** A file that the operator named; null = none. */
  readonly file: string | null
  /** The folder of the key file that Sluice makes when there is neither a setting nor a file. */
  readonly dataDir: string
}

/** An error for the operator; its message never holds a key. */
export class RootKeyInvalid extends Error {}

/** Name of the key file in the data directory, used when no root key is given. */
export const ROOT_KEY_FILE = 'root-key'
/** Bytes of a root key. */
const KEY_BYTES = 32
/** Hex digits of a root key's id. */
const ID_CHARS = 16
/** Text whose HMAC under a root key gives the key's id. */
const ID_LABEL = 'sluice root key id'

/**
 * One or more keys, separated by commas or white space, the current one first. Each is 32 bytes as 64 hex digits or
 * base64, with or without its id and a colon before it; an id that does not match its key reveals a mistake. Throws
 * RootKeyInvalid, also where there is no key, and the errors of the file system. Design §8.
 */
export function openRootKeys({ setting, file, dataDir }: RootKeySources): RootKeys {
  const own = join(dataDir, ROOT_KEY_FILE)
  const files = [file, own].filter((path) => path !== null)
  let stamps = stampsOf(files)
  const read = (): readonly Buffer[] => {
    const given =
      setting !== null ? parseKeys(setting.reveal(), 'SLUICE_ROOT_KEY') : file !== null ? readGiven(file) : []
    // A key that was made before a setting was given still opens the keys that it wrapped.
    return [...given, ...readMade(own)]
  }
  let byId = byIds(read())
  if (byId.size === 0) throw new RootKeyInvalid(`there is no root key in the settings or in ${own}`)
  const refresh = (): Map<string, Buffer> => {
    const now = stampsOf(files)
    if (now === stamps || now === null) return byId
    try {
      // A key that was removed from its file may still be needed for keys that this process wrapped with it.
      const found = byIds(read())
      if (found.size > 0) byId = new Map([...found, ...[...byId].filter(([id]) => !found.has(id))])
      stamps = now
    } catch {
      // The file is half written, or contains a mistake: the known keys stay, and the next read tries again.
    }
    return byId
  }
  return {
    get currentId() {
      const [currentId = ''] = refresh().keys()
      return currentId
    },
    get ids() {
      return [...refresh().keys()]
    },
    get: (id) => byId.get(id) ?? refresh().get(id),
  }
}

/** For the first start only: making a key although rows depend on another root key would hide that the other key is missing. */
export function openOrMakeRootKeys(sources: RootKeySources): MadeRootKeys {
  const own = join(sources.dataDir, ROOT_KEY_FILE)
  const isMissing = sources.setting === null && sources.file === null && readMade(own).length === 0
  if (isMissing) makeKeyFile(own, textOf([newRootKey()]))
  const keys = openRootKeys(sources)
  return {
    get currentId() {
      return keys.currentId
    },
    get ids() {
      return keys.ids
    },
    get: (id) => keys.get(id),
    madeFile: isMissing ? own : null,
  }
}

/**
 * Makes a key and puts it before the keys of the file in the data directory. Only one process at a time may
 * do this.
 * @returns the file and the id of the key
 */
export function addRootKey(dataDir: string): { readonly file: string; readonly id: string } {
  const file = join(dataDir, ROOT_KEY_FILE)
  const key = newRootKey()
  replaceKeyFile(file, textOf([key, ...readMade(file)]))
  return { file, id: idOf(key) }
}

/**
 * Makes a file that the operator named, with a new key in it; an existing file stays unchanged.
 * @returns false when something existed at the path, even a link to nowhere
 */
export function makeRootKeyFile(file: string): boolean {
  return makeKeyFile(file, textOf([newRootKey()]))
}

/** Ids of the keys that a text holds. @param source the name of the text in the RootKeyInvalid that this throws */
export function rootKeyIdsIn(text: string, source: string): readonly string[] {
  return parseKeys(text, source).map(idOf)
}

function byIds(keys: readonly Buffer[]): Map<string, Buffer> {
  return new Map(keys.map((key) => [idOf(key), key]))
}

function textOf(keys: readonly Buffer[]): string {
  return keys.map((key) => `${idOf(key)}:${key.toString('base64')}\n`).join('')
}

/** Null when one of the paths cannot be read a second time, such as a pipe. */
function stampsOf(files: readonly string[]): string | null {
  try {
    const stats = files.map((path) => statSync(path, { bigint: true, throwIfNoEntry: false }))
    if (stats.some((stat) => stat?.isFile() === false)) return null
    return stats
      .map((stat) => `${stat?.dev}/${stat?.ino}/${stat?.size}/${stat?.mtimeNs}/${stat?.ctimeNs}`)
      .join(' ')
  } catch {
    return null
  }
}

/** The id is derived from the key, so nodes with the same keys use the same ids. */
function idOf(key: Buffer): string {
  return createHmac('sha256', key).update(ID_LABEL).digest('hex').slice(0, ID_CHARS)
}

function parseKeys(text: string, source: string): readonly Buffer[] {
  const keys = text
    .split(/[\s,]+/)
    .filter((entry) => entry !== '')
    .map((entry, nth) => parseKey(entry, `${source}, key ${nth + 1}`))
  if (keys.length === 0) throw new RootKeyInvalid(`${source} contains no root key`)
  return keys
}

function parseKey(entry: string, place: string): Buffer {
  const parts = entry.split(':')
  const text = parts.at(-1) ?? ''
  const isHex = /^[0-9A-Fa-f]{64}$/.test(text)
  const key = isHex ? Buffer.from(text, 'hex') : Buffer.from(text, 'base64')
  const isBase64 = /^[A-Za-z0-9+/_-]{43}=?$/.test(text)
  if ((!isHex && !isBase64) || key.length !== KEY_BYTES || parts.length > 2) {
    throw new RootKeyInvalid(`${place}: expected 32 bytes as 64 hex digits or base64`)
  }
  if (parts.length === 2 && parts[0] !== idOf(key))
    throw new RootKeyInvalid(`${place}: the key does not match the id before it`)
  return key
}

function readGiven(path: string): readonly Buffer[] {
  try {
    return parseKeys(readFileSync(path, 'utf8'), path)
  } catch (cause) {
    if (cause instanceof RootKeyInvalid) throw cause
    throw new RootKeyInvalid(`the root keys in ${path} cannot be read`, { cause })
  }
}

function readMade(path: string): readonly Buffer[] {
  try {
    return parseKeys(readFileSync(path, 'utf8'), path)
  } catch (cause) {
    if (isCode(cause, 'ENOENT')) return []
    throw cause
  }
}
