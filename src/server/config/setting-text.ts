import { accessSync, constants } from 'node:fs'
import Type, { type TSchema } from 'typebox'
import { withOneHost } from '../../schemas/values/store-urls.ts'

/** The value of a text: the default if the text is absent; undefined without a default. */
export function convert(schema: TSchema, given: string | undefined): unknown {
  if (given === undefined) return 'default' in schema ? schema.default : undefined
  if (Type.IsArray(schema))
    return given
      .split(',')
      .map((item) => item.trim())
      .filter((item) => item !== '')
  const takesNumber = Type.IsInteger(schema) || Type.IsUnion(schema)
  return takesNumber && /^[0-9]{1,15}$/.test(given) ? Number(given) : given
}

/** False for an unreadable file. The setting is refused now, since the start would otherwise fail on the file later. */
export function isReadable(schema: TSchema, given: string | undefined): boolean {
  return !('file' in schema) || given === undefined || isReadableFile(given)
}

export function isReadableFile(path: string): boolean {
  try {
    accessSync(path, constants.R_OK)
    return true
  } catch {
    return false
  }
}

/** False for an address that its client cannot parse: the client's error would end the process without naming the setting. */
export function isParsable(schema: TSchema, given: string | undefined): boolean {
  if (!('mask' in schema) || schema.mask !== true || given === undefined) return true
  try {
    const { username, password, pathname, search, hash } = new URL(withOneHost(given))
    // An @ after the host comes from an unescaped password, whose beginning would be taken for the host.
    if (hash !== '' || (pathname + search).includes('@')) return false
    return typeof decodeURIComponent(username + password) === 'string'
  } catch {
    return false
  }
}

export function expectedOf(schema: TSchema, given: string | undefined): string {
  const expected = 'expected' in schema ? String(schema.expected) : 'another value'
  // A Kubernetes service called "sluice" puts its own SLUICE_PORT into every pod.
  const isServiceLink = given?.startsWith('tcp://') === true
  if (isServiceLink) return `${expected} (set enableServiceLinks: false in the pod spec)`
  return given?.includes('@') === true && !isParsable(schema, given)
    ? `${expected} (in a password, write # / ? @ % as %23 %2F %3F %40 %25)`
    : expected
}

/** The given value for a problem's text: shortened, and without a password, even if it was put into the wrong setting. */
export function shown(schema: TSchema, given: string): string {
  return JSON.stringify(
    'mask' in schema || /:\/\/.*@/.test(given) ? hidden(schema, given) : given.slice(0, 80),
  )
}

/** Masks a value. A setting that is entirely secret is never shown in parts: a key with an id before it looks like a URL with a path. */
export function hidden(schema: TSchema, given: string): string {
  return 'mask' in schema && schema.mask === 'whole' ? `*** (${given.length} characters)` : masked(given)
}

const DATABASE_PATH = /^\/[A-Za-z0-9_-]+$/

/**
 * Shows only the scheme and the host of a URL, and the database of a Postgres URL: the user and the path may
 * be tokens, as the password may. Shows only the length of any other text.
 */
export function masked(given: string): string {
  const length = `*** (${given.length} characters)`
  try {
    const { protocol, username, password, host, pathname, search, hash } = new URL(given)
    // An `@` after the host comes from a password with an unescaped / ? or #, whose beginning looks like the
    // host.
    if (host === '' || (pathname + search + hash).includes('@')) return length
    const user = username + password === '' ? '' : '***@'
    const isDatabase = protocol.startsWith('postgres') && DATABASE_PATH.test(pathname)
    const rest = (isDatabase || pathname.length < 2 ? '' : '/***') + (search === '' ? '' : '?***')
    return `${protocol}//${user}${host}${isDatabase ? pathname : ''}${rest}`
  } catch {
    return length
  }
}

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 }

/** @param given a number and its unit, which the form of the setting guarantees */
export function durationMs(given: string): number {
  const unit = given.replace(/^[0-9]+/, '')
  return Number.parseInt(given, 10) * (UNIT_MS[unit] ?? 1)
}
