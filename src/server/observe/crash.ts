import type { OwnedLog } from './log.ts'

export type CrashLog = Pick<OwnedLog, 'error' | 'flush'>

let log: CrashLog | null = null

/**
 * From now on what nobody caught goes to this log, without what an error may carry, and ends the process with
 * 1: nobody knows what state it left. Left to Node, it would go to stderr as it is. A later call changes the
 * log.
 */
export function endOnCrash(next: CrashLog): void {
  if (log === null) process.on('uncaughtException', endWith).on('unhandledRejection', endWith)
  log = next
}

/** The same for what was caught where nothing could be done about it. */
export function endWith(cause: unknown): never {
  try {
    log?.error('crashed', { cause })
    log?.flush()
  } finally {
    process.exit(1)
  }
}
