/** The address of a deployment, as its operator gives it. */
import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { API_PREFIX } from '../../src/schemas/api-prefix.ts'

export interface Origin {
  /** `https://sluice.example`: the only part that is printed and written. */
  readonly text: string
  readonly hostname: string
  readonly port: number
  readonly isTls: boolean
  /** Value of the `host` header. */
  readonly authority: string
}

/** Throws an Error that explains the fault in one line, without the given text: it may contain a password. */
export function originOf(given: string): Origin {
  const url = URL.canParse(given) ? new URL(given) : null
  if (url === null || !['http:', 'https:'].includes(url.protocol))
    throw new Error('--target takes the origin of a deployment, https://sluice.example')
  if (url.username !== '' || url.password !== '')
    throw new Error('--target takes no user and no password: the key is given as --key')
  const isBare =
    url.search === '' && url.hash === '' && ['', API_PREFIX].includes(url.pathname.replace(/\/$/, ''))
  if (!isBare) throw new Error(`--target takes an origin alone, or one with ${API_PREFIX}`)
  const isTls = url.protocol === 'https:'
  const hostname = url.hostname.replace(/^\[(.*)\]$/, '$1')
  return {
    text: url.origin,
    hostname,
    isTls,
    port: Number(url.port || (isTls ? 443 : 80)),
    authority: url.host,
  }
}

/**
 * Reads `--key`. Every user of a machine can see a key on a command line; a file can be private. Throws an Error
 * that does not contain the key.
 */
export function keyOf(given: string | null): string {
  if (given === null) throw new Error('--target needs the --key of that deployment, or --key @FILE')
  return checkedKey(given.startsWith('@') ? fileOf('--key', given.slice(1)).trim() : given)
}

/** Reads the certificates of `--ca`. */
export function issuersOf(given: string | null): string | null {
  return given === null ? null : fileOf('--ca', given)
}

function fileOf(option: string, path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    throw new Error(`${option}: the file cannot be read`)
  }
}

/** Throws an Error that does not contain the key. */
function checkedKey(key: string): string {
  if (!/^[\x21-\x7e]{1,1024}$/.test(key))
    throw new Error('--key takes an API key of printable characters, or @FILE')
  return key
}

export function isLoopback(address: string): boolean {
  return isIP(address) === 4
    ? address.startsWith('127.')
    : address === '::1' || /^::ffff:127\./i.test(address)
}
