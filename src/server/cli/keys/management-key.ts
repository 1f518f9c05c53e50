import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Secret } from '../../../schemas/vault/secret.ts'
import { managementKeyGiven } from '../../config.ts'
import { FIRST_KEYS_FILE } from '../../supervisor/data-directory/first-keys.ts'
import { CliFailure } from '../parts/verb.ts'

/**
 * The management key of a verb that calls the node itself: from the named file, else from
 * `SLUICE_MANAGEMENT_KEY`, else from the first keys. A file contains only the key, or is one of first keys.
 * The key is never an argument, which every user of the machine sees. Throws CliFailure.
 */
export function managementKey(dataDir: string, keyFile: string | undefined): Secret {
  if (keyFile !== undefined) return keyIn(keyFile, readText(keyFile))
  const given = managementKeyGiven()
  if (given !== null) return given
  const first = join(dataDir, FIRST_KEYS_FILE)
  try {
    return keyIn(first, readFileSync(first, 'utf8'))
  } catch (problem) {
    if (problem instanceof CliFailure) throw problem
    throw new CliFailure(
      `no management key: name a file that holds one with --key-file, or set SLUICE_MANAGEMENT_KEY (${first} cannot be read)`,
    )
  }
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? ` (${String(cause.code)})` : ''
    throw new CliFailure(`${file} cannot be read${code}`, { cause })
  }
}

/** The key in a file; no error shows any of the file's text. */
function keyIn(file: string, text: string): Secret {
  const key = text.trim().startsWith('{') ? managementKeyOf(text) : text.trim()
  // The key goes into a header.
  if (key === null || !/^[\x21-\x7e]{1,512}$/.test(key))
    throw new CliFailure(`${file} holds no management key`)
  return new Secret(key)
}

function managementKeyOf(text: string): string | null {
  try {
    const value: unknown = JSON.parse(text)
    const key: unknown =
      typeof value === 'object' && value !== null ? Reflect.get(value, 'management_key') : null
    return typeof key === 'string' ? key : null
  } catch {
    return null
  }
}
