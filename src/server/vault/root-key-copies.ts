import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import Type, { type Static } from 'typebox'
import { Compile } from 'typebox/compile'
import { isCode, writeKeyFile } from './root-key-file.ts'

/** File in the data directory that notes which root keys were seen elsewhere, by their ids alone. */
export const ROOT_KEY_COPIES_FILE = 'root-key-copies.json'

/**
 * Notes of backups. Sluice cannot see from here whether a root key is backed up, so a note says when a copy was last
 * seen: Sluice itself wrote the key into a backup, or read a copy that the operator showed. The id is derived from the
 * key, so a new key has no note. Decision.
 */
const Copies = Type.Record(
  Type.String({ pattern: '^[0-9a-f]{16}$' }),
  Type.Object({
    /** ISO 8601. */
    at: Type.String(),
    by: Type.Enum(['backup', 'shown']),
  }),
)
type Copies = Static<typeof Copies>
export type RootKeyCopy = Copies[string]

const isCopies = Compile(Copies)

/** Notes by id of the root key; none when the file cannot be read. */
export function rootKeyCopies(dataDir: string): ReadonlyMap<string, RootKeyCopy> {
  try {
    const value: unknown = JSON.parse(readFileSync(join(dataDir, ROOT_KEY_COPIES_FILE), 'utf8'))
    return new Map(isCopies.Check(value) ? Object.entries(value) : [])
  } catch (cause) {
    if (isCode(cause, 'ENOENT') || cause instanceof SyntaxError) return new Map()
    throw cause
  }
}

/** Throws the errors of the file system: the data directory may be missing or belong to another user. */
export function noteRootKeyCopies(dataDir: string, ids: readonly string[], copy: RootKeyCopy): void {
  const all = new Map([...rootKeyCopies(dataDir), ...ids.map((id) => [id, copy] as const)])
  const text = `${JSON.stringify(Object.fromEntries(all), null, 2)}\n`
  writeKeyFile(join(dataDir, ROOT_KEY_COPIES_FILE), text, dataDir)
}
