import type { Issue } from '../failure-metadata.ts'
import { FILE_EXPIRES_S_MAX, FILE_EXPIRES_S_MIN } from './file-limits.ts'

/** The field of an upload's form for the start of a file's lifetime, as OpenAI's clients name it. */
const ANCHOR = 'expires_after[anchor]'
/** The field of an upload's form for the seconds of a file's lifetime. */
const SECONDS = 'expires_after[seconds]'

/** The issue of these fields, never with their text; null when they are valid or missing. */
export function expiryIssue(fields: ReadonlyMap<string, string>): Issue | null {
  // If such a field were ignored, a file that was meant to expire would be kept forever.
  const isOther = (name: string): boolean =>
    name.startsWith('expires_after') && name !== ANCHOR && name !== SECONDS
  if ([...fields.keys()].some(isOther))
    return {
      path: '/expires_after',
      message: 'is sent in the wrong field',
      expected: `\`${ANCHOR}=created_at\` and \`${SECONDS}\``,
    }
  const [anchor, seconds] = [fields.get(ANCHOR), fields.get(SECONDS)]
  if (anchor === undefined && seconds === undefined) return null
  if (anchor !== 'created_at')
    return {
      path: '/expires_after/anchor',
      message: 'is not one of the allowed values',
      expected: '"created_at"',
    }
  if (seconds !== undefined && secondsOf(seconds) !== null) return null
  const expected = `integer from ${FILE_EXPIRES_S_MIN} to ${FILE_EXPIRES_S_MAX}`
  return {
    path: '/expires_after/seconds',
    message: seconds === undefined ? 'is required' : 'is not valid',
    expected,
  }
}

/** Seconds from the creation of a file to its expiry; null: the file does not expire. @param fields without an issue */
export function expiresAfterOf(fields: ReadonlyMap<string, string>): number | null {
  const seconds = fields.get(SECONDS)
  return seconds === undefined ? null : secondsOf(seconds)
}

/** The fields that `expiresAfterOf` reads; empty for a file that does not expire. */
export function expiryFields(seconds: number | null): readonly (readonly [name: string, value: string])[] {
  return seconds === null
    ? []
    : [
        [ANCHOR, 'created_at'],
        [SECONDS, String(seconds)],
      ]
}

function secondsOf(text: string): number | null {
  const seconds = /^\d{1,8}$/.test(text) ? Number(text) : null
  return seconds !== null && seconds >= FILE_EXPIRES_S_MIN && seconds <= FILE_EXPIRES_S_MAX ? seconds : null
}
