import { createHmac, randomBytes, randomUUID } from 'node:crypto'
import { closeSync, fsyncSync, linkSync, mkdirSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { Secret } from '../../schemas/secret.ts'

/** The keys that wrap all others, by id. */
export interface RootKeys {
  /** Wraps what is new; the others only open what they wrapped. */
  readonly currentId: string
  readonly ids: readonly string[]
  /** 32 bytes, not to be changed. */
  get(id: string): Buffer | undefined
  /** The file that this call made: the operator must be told to back it up. Null when there was a key already. */
  readonly madeFile: string | null
}

export interface RootKeySources {
  /** Text of `SLUICE_ROOT_KEY`; null = not set. */
  readonly setting: Secret | null
  /** A file of the operator's; null = none. */
  readonly file: string | null
  /** Where a key is made when there is neither, and where one that was made is found again. */
  readonly dataDir: string
}

/** For the operator; never with the text of a key. */
export class RootKeyInvalid extends Error {}

/** In the data directory, where none is given. */
export const ROOT_KEY_FILE = 'root-key'
const KEY_BYTES = 32
const ID_CHARS = 16
const ID_LABEL = 'sluice root key id'

/**
 * One or more keys, parted by commas or white space, the current one first. Each is 32 bytes as 64 hex digits or base64,
 * with or without its id and a colon before it; an id that is not that of its key tells of a slip.
 * Throws RootKeyInvalid, and what the system says. Design §8.
 */
export function openRootKeys({ setting, file, dataDir }: RootKeySources): RootKeys {
  const own = join(dataDir, ROOT_KEY_FILE)
  const given = setting !== null ? parseKeys(setting.reveal(), 'SLUICE_ROOT_KEY') : file !== null ? readGiven(file) : []
  // What was made before a setting was given goes on opening what it has wrapped.
  const made = readMade(own)
  const isMissing = given.length === 0 && made.length === 0
  const keys = isMissing ? make(dataDir, own) : [...given, ...made]
  const byId = new Map(keys.map((key) => [idOf(key), key]))
  const [currentId = ''] = byId.keys()
  return { currentId, ids: [...byId.keys()], get: (id) => byId.get(id), madeFile: isMissing ? own : null }
}

/** The id follows from the key, so nodes that are given the same keys agree about them. */
function idOf(key: Buffer): string {
  return createHmac('sha256', key).update(ID_LABEL).digest('hex').slice(0, ID_CHARS)
}

function parseKeys(text: string, source: string): readonly Buffer[] {
  const keys = text.split(/[\s,]+/).filter((entry) => entry !== '').map((entry, nth) => parseKey(entry, `${source}, key ${nth + 1}`))
  if (keys.length === 0) throw new RootKeyInvalid(`${source} holds no root key`)
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
  if (parts.length === 2 && parts[0] !== idOf(key)) throw new RootKeyInvalid(`${place}: it is not the key of the id before it`)
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

/** On the disk before anything is wrapped with it, and whole at every moment; of many that make one the first wins. */
function make(dataDir: string, path: string): readonly Buffer[] {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const key = randomBytes(KEY_BYTES)
  const draft = `${path}.${randomUUID()}`
  try {
    writeAndSync(draft, `${idOf(key)}:${key.toString('base64')}\n`)
    linkSync(draft, path)
  } catch (cause) {
    if (!isCode(cause, 'EEXIST')) throw cause
  } finally {
    rmSync(draft, { force: true })
  }
  syncFolder(dataDir)
  return readMade(path)
}

function writeAndSync(path: string, text: string): void {
  const file = openSync(path, 'wx', 0o600)
  try {
    writeSync(file, text)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

function syncFolder(path: string): void {
  const folder = openSync(path, 'r')
  try {
    fsyncSync(folder)
  } finally {
    closeSync(folder)
  }
}

function isCode(cause: unknown, code: string): boolean {
  return cause instanceof Error && 'code' in cause && cause.code === code
}
