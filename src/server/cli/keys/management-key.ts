import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Secret } from '../../../schemas/vault/secret.ts'
import { secretGiven } from '../../config.ts'
import { FIRST_KEYS_FILE } from '../../supervisor/data-directory/first-keys.ts'
import { CliFailure } from '../parts/verb.ts'

/**
 * The management key of a command that calls the node itself: from the named file, otherwise from
 * `SLUICE_MANAGEMENT_KEY`, otherwise from `first-keys.json`. A file contains only the key, or has the form of
 * `first-keys.json`. The key is never an argument, which every user of the machine could see. Throws
 * CliFailure.
 */
export function managementKey(dataDir: string, keyFile: string | undefined): Secret {
  return keyOf(MANAGEMENT, dataDir, keyFile)
}

/**
 * The key of a program that calls models: from the named file, otherwise from `SLUICE_KEY`, otherwise from
 * `first-keys.json`. Throws CliFailure.
 */
export function inferenceKey(dataDir: string, keyFile: string | undefined): Secret {
  return keyOf(INFERENCE, dataDir, keyFile)
}

interface Sought {
  readonly kind: string
  readonly variable: Parameters<typeof secretGiven>[0]
  /** The key's member in `first-keys.json`. */
  readonly member: string
}

const MANAGEMENT: Sought = {
  kind: 'management key',
  variable: 'SLUICE_MANAGEMENT_KEY',
  member: 'management_key',
}
const INFERENCE: Sought = { kind: 'inference key', variable: 'SLUICE_KEY', member: 'inference_key' }

function keyOf(sought: Sought, dataDir: string, keyFile: string | undefined): Secret {
  if (keyFile !== undefined) return keyIn(sought, keyFile, readText(keyFile))
  const given = secretGiven(sought.variable)
  if (given !== null) return given
  const first = join(dataDir, FIRST_KEYS_FILE)
  try {
    return keyIn(sought, first, readFileSync(first, 'utf8'))
  } catch (problem) {
    if (problem instanceof CliFailure) throw problem
    throw new CliFailure(
      `no ${sought.kind}: use --key-file FILE, or set ${sought.variable} (${first} cannot be read)`,
    )
  }
}

/** The key in a file; no error shows any of the file's text. */
function keyIn({ kind, member }: Sought, file: string, text: string): Secret {
  const key = text.trim().startsWith('{') ? memberOf(text, member) : text.trim()
  // The key is sent in a header.
  if (key === null || !/^[\x21-\x7e]{1,512}$/.test(key)) throw new CliFailure(`${file} contains no ${kind}`)
  return new Secret(key)
}

function memberOf(text: string, member: string): string | null {
  try {
    const value: unknown = JSON.parse(text)
    const key: unknown = typeof value === 'object' && value !== null ? Reflect.get(value, member) : null
    return typeof key === 'string' ? key : null
  } catch {
    return null
  }
}

/** Reads the file that an option names. Throws CliFailure. */
export function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? ` (${String(cause.code)})` : ''
    throw new CliFailure(`${file} cannot be read${code}`, { cause })
  }
}
