import type { Failure, Outcome } from '../../schemas/failures.ts'

const FULL = new Set(['ENOSPC', 'EDQUOT'])
const ERRNO = /^E[A-Z0-9]+$/

/** The failure for the error of a system call: EIO, EMFILE, EROFS and similar errors mean that storage is temporarily unavailable. */
export function diskFailure(cause: unknown): Failure {
  return { name: FULL.has(codeOf(cause)) ? 'storage_full' : 'storage_unavailable', retryAfterS: 1, cause }
}

/** Runs system calls. The system's errors become failures; other errors, which are bugs, are thrown again. */
export async function reachDisk<T>(work: () => Promise<Outcome<T>>): Promise<Outcome<T>> {
  try {
    return await work()
  } catch (cause) {
    if (!ERRNO.test(codeOf(cause))) throw cause
    return { ok: false, failure: diskFailure(cause) }
  }
}

/** The thrown value as an Error that can be thrown later. */
export function errorOf(cause: unknown): Error {
  return cause instanceof Error ? cause : new Error('a value that is not an error was thrown', { cause })
}

export function codeOf(cause: unknown): string {
  return cause instanceof Error && 'code' in cause ? String(cause.code) : ''
}
