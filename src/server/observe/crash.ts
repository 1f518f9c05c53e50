import type { OwnedLog } from './log.ts'

export type CrashLog = Pick<OwnedLog, 'error' | 'flush'>

let log: CrashLog | null = null

/**
 * Logs uncaught errors and rejections without the content that an error may carry, and ends the process with
 * exit code 1, since its state is unknown. Without this, Node would write the whole error to stderr. A later
 * call replaces the log.
 */
export function endOnCrash(next: CrashLog): void {
  if (log === null) process.on('uncaughtException', endWith).on('unhandledRejection', endWith)
  log = next
}

/** Logs a caught error that cannot be handled, and ends the process in the same way. */
export function endWith(cause: unknown): never {
  try {
    log?.error('crashed', { cause })
    log?.flush()
  } finally {
    process.exit(1)
  }
}
