import {
  CONTAINER_ID_CHARS_MAX, CONTAINER_ID_PART_CHARS_MAX, CONTAINER_PATH_BYTES_MAX, PATH_SEGMENT_BYTES_MAX, PATH_SEGMENTS_MAX,
} from './limits.ts'

const FILE_ID_PREFIX = 'cfile_'
/** `sess_…`, `gen_…`, or a caller's own. C22. */
export const CONTAINER_ID_PATTERN =
  `^(?:(?:sess|gen)_[A-Za-z0-9_-]{1,${CONTAINER_ID_PART_CHARS_MAX}}|[A-Za-z0-9_-]{1,${CONTAINER_ID_CHARS_MAX}})$`
const CONTAINER_ID = new RegExp(CONTAINER_ID_PATTERN)

export function isContainerId(text: string): boolean {
  return CONTAINER_ID.test(text)
}

/**
 * The one form of a container path: segments joined by single slashes, relative, without `.` or `..`, without NUL.
 * Case, Unicode form and every other character are kept as they are: a sandbox may use them all.
 * @param path decoded, as a caller or an id gives it
 * @returns the path, or null for anything else. Design §5.
 */
export function parseContainerPath(path: string): string | null {
  // A lone surrogate has no UTF-8 form: it would name another file.
  if (path.includes('\0') || !path.isWellFormed() || Buffer.byteLength(path) > CONTAINER_PATH_BYTES_MAX) return null
  const segments = path.split('/')
  const isGood = segments.length <= PATH_SEGMENTS_MAX
    && segments.every((segment) => segment !== '' && segment !== '.' && segment !== '..' && Buffer.byteLength(segment) <= PATH_SEGMENT_BYTES_MAX)
  return isGood ? path : null
}

/** `cfile_` and the path in base64url without padding. B2.8. */
export function containerFileId(path: string): string {
  return FILE_ID_PREFIX + Buffer.from(path).toString('base64url')
}

/** @returns null unless the id is the one id of a path that may be read; every path has exactly one */
export function pathOfContainerFileId(id: string): string | null {
  if (!id.startsWith(FILE_ID_PREFIX)) return null
  const path = parseContainerPath(Buffer.from(id.slice(FILE_ID_PREFIX.length), 'base64url').toString())
  return path !== null && containerFileId(path) === id ? path : null
}
