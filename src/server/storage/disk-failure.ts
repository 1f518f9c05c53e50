import type { Failure, Outcome } from '../../schemas/failures.ts'

const FULL = new Set(['ENOSPC', 'EDQUOT'])
const ERRNO = /^E[A-Z0-9]+$/

/**
 * What an error of a system call becomes: EIO, EMFILE, EROFS and the like mean that storage cannot serve now.
 */
export function diskFailure(cause: unknown): Failure {
  return { name: FULL.has(codeOf(cause)) ? 'storage_full' : 'storage_unavailable', retryAfterS: 1, cause }
}

/** Runs system calls; what the system refuses becomes a failure, a bug goes on being thrown. */
export async function reachDisk<T>(work: () => Promise<Outcome<T>>): Promise<Outcome<T>> {
  try {
    return await work()
  } catch (cause) {
    if (!ERRNO.test(codeOf(cause))) throw cause
    return { ok: false, failure: diskFailure(cause) }
  }
}

/** What was thrown, fit to be thrown again later. */
export function errorOf(cause: unknown): Error {
  return cause instanceof Error ? cause : new Error('something that is no error was thrown', { cause })
}

export function codeOf(cause: unknown): string {
  return cause instanceof Error && 'code' in cause ? String(cause.code) : ''
}
