import type { Issue } from '../failure-metadata.ts'
import { FILENAME_CHARS_MAX } from './file-limits.ts'

/**
 * Includes U+FFFD, which replaces bytes that are not text: the stored name would differ from the caller's.
 * Also includes invisible characters that change the direction or break the line, which make a name look like
 * another one. The joiners are allowed: emoji and some scripts need them.
 */
const REFUSED = /[<>:"|?*\\\p{Cc}\p{Zl}\p{Zp}\ufffd]|(?![\u200c\u200d])\p{Cf}/u

/** Name of a file that was sent without one. */
export const NAMELESS = 'file'

/** The rules below in words. */
export const FILENAME_RULES =
  `1 to ${FILENAME_CHARS_MAX} UTF-8 characters without control characters and \`< > : " | ? * \\\`; ` +
  '`/` separates folders, and no segment is empty, `.` or `..`'

/**
 * The issue of an uploaded file's name, never with the name itself; null for a valid name. `/` separates
 * folders. Source: B1.7; characters are code points.
 */
export function filenameIssue(name: string): Issue | null {
  const issue = (message: string, expected: string): Issue => ({ path: '/file/filename', message, expected })
  if (name === '') return issue('is missing', `1 to ${FILENAME_CHARS_MAX} characters`)
  // A text never has more characters than UTF-16 units.
  if (name.length > FILENAME_CHARS_MAX && [...name].length > FILENAME_CHARS_MAX) {
    return issue('is too long', `at most ${FILENAME_CHARS_MAX} characters`)
  }
  if (!name.isWellFormed() || REFUSED.test(name)) {
    return issue(
      'contains a forbidden character',
      'UTF-8 without control and invisible characters and < > : " | ? * \\',
    )
  }
  const isGood = name.split('/').every((segment) => segment !== '' && segment !== '.' && segment !== '..')
  return isGood ? null : issue('has an empty, `.` or `..` segment', 'names joined by single slashes')
}
