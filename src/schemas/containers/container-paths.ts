import type { Issue } from '../failure-metadata.ts'
import {
  CONTAINER_ID_CHARS_MAX,
  CONTAINER_ID_PART_CHARS_MAX,
  CONTAINER_PATH_BYTES_MAX,
  PATH_SEGMENTS_MAX,
} from '../files/file-limits.ts'

/** Bytes of one segment of a container path. Decision. */
export const PATH_SEGMENT_BYTES_MAX = 255

const FILE_ID_PREFIX = 'cfile_'
/** The form of a container id: `sess_…`, `gen_…`, or an id that a caller chose. */
export const CONTAINER_ID_PATTERN = `^(?:(?:sess|gen)_[A-Za-z0-9_-]{1,${CONTAINER_ID_PART_CHARS_MAX}}|[A-Za-z0-9_-]{1,${CONTAINER_ID_CHARS_MAX}})$`
const CONTAINER_ID = new RegExp(CONTAINER_ID_PATTERN)

export function isContainerId(text: string): boolean {
  return CONTAINER_ID.test(text)
}

/**
 * The only form of a container path: segments joined by single slashes, relative, without `.` or `..`,
 * without NUL. Case, Unicode form and all other characters are kept, since a sandbox may use them all.
 * @param path decoded, as in a request or an id
 * @returns the path, or null for any other text. Design §5.
 */
export function parseContainerPath(path: string): string | null {
  const segments = path.split('/')
  return RULES.every(({ holds }) => holds(path, segments)) ? path : null
}

/** The rules that a path breaks, each once, without the path itself; empty for a valid path. */
export function containerPathIssues(path: string): readonly Issue[] {
  const segments = path.split('/')
  return RULES.filter(({ holds }) => !holds(path, segments)).map(({ message, expected }) =>
    pathIssue(message, expected),
  )
}

export const CONTAINER_PATH_RULES =
  `at most ${CONTAINER_PATH_BYTES_MAX} bytes of UTF-8 without NUL, in at most ${PATH_SEGMENTS_MAX} segments of at most ` +
  `${PATH_SEGMENT_BYTES_MAX} bytes, none of them empty, \`.\` or \`..\``

export function pathIssue(message: string, expected: string): Issue {
  return { path: '/file_id', message, expected }
}

interface PathRule {
  readonly message: string
  readonly expected: string
  holds(path: string, segments: readonly string[]): boolean
}

const RULES: readonly PathRule[] = [
  {
    message: 'is too long',
    expected: `at most ${CONTAINER_PATH_BYTES_MAX} bytes`,
    holds: (path) => Buffer.byteLength(path) <= CONTAINER_PATH_BYTES_MAX,
  },
  {
    message: 'has too many segments',
    expected: `at most ${PATH_SEGMENTS_MAX}`,
    holds: (_, segments) => segments.length <= PATH_SEGMENTS_MAX,
  },
  {
    message: 'has an empty, `.` or `..` segment',
    expected: 'names joined by single slashes',
    holds: (_, segments) =>
      segments.every((segment) => segment !== '' && segment !== '.' && segment !== '..'),
  },
  {
    message: 'has a segment that is too long',
    expected: `at most ${PATH_SEGMENT_BYTES_MAX} bytes each`,
    holds: (_, segments) => segments.every((segment) => Buffer.byteLength(segment) <= PATH_SEGMENT_BYTES_MAX),
  },
  { message: 'contains a NUL', expected: 'none', holds: (path) => !path.includes('\0') },
  // A lone surrogate has no UTF-8 form, so the path would refer to a different file.
  { message: 'is not UTF-8', expected: 'UTF-8', holds: (path) => path.isWellFormed() },
]

/** `cfile_` and the path in base64url without padding. */
export function containerFileId(path: string): string {
  return FILE_ID_PREFIX + Buffer.from(path).toString('base64url')
}

/** @returns null unless the id is the only id of a readable path; every path has exactly one id */
export function pathOfContainerFileId(id: string): string | null {
  if (!id.startsWith(FILE_ID_PREFIX)) return null
  const path = parseContainerPath(Buffer.from(id.slice(FILE_ID_PREFIX.length), 'base64url').toString())
  return path !== null && containerFileId(path) === id ? path : null
}
