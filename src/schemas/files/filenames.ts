import type { Issue } from '../failures.ts'
import { FILENAME_CHARS_MAX } from './file-limits.ts'

/**
 * Also U+FFFD, which stands for bytes that are no text: another name than the caller's would be kept. And
 * what is not seen and turns or breaks the line: such a name looks like another one. The joiners belong to
 * emoji and to scripts.
 */
const REFUSED = /[<>:"|?*\\\p{Cc}\p{Zl}\p{Zp}\ufffd]|(?![\u200c\u200d])\p{Cf}/u

/** Name of a file that was sent without one. */
export const NAMELESS = 'file'

/** The rules below in words. */
export const FILENAME_RULES = `1 to ${FILENAME_CHARS_MAX} characters of UTF-8, none for control and none of \`< > : " | ? * \\\`; \`/\` makes folders, no segment empty, \`.\` or \`..\``

/**
 * What is wrong with the name of an uploaded file, never with the name itself; null when nothing is. `/`
 * makes folders.
 * Source: B1.7; characters are code points (C31).
 */
export function filenameIssue(name: string): Issue | null {
  const issue = (message: string, expected: string): Issue => ({ path: '/file/filename', message, expected })
  if (name === '') return issue('is missing', `1 to ${FILENAME_CHARS_MAX} characters`)
  // There are at most as many characters as UTF-16 units.
  if (name.length > FILENAME_CHARS_MAX && [...name].length > FILENAME_CHARS_MAX) {
    return issue('is too long', `at most ${FILENAME_CHARS_MAX} characters`)
  }
  if (!name.isWellFormed() || REFUSED.test(name)) {
    return issue(
      'has a character that is refused',
      'UTF-8 without control characters, invisible ones and < > : " | ? * \\',
    )
  }
  const isGood = name.split('/').every((segment) => segment !== '' && segment !== '.' && segment !== '..')
  return isGood ? null : issue('has an empty, `.` or `..` segment', 'names joined by single slashes')
}
