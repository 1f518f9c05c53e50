import type { Role } from './supervisor/ipc.ts'

/** Runs a node until it is told to end; the exit code. */
export function serve(): Promise<number> {
  return Promise.reject(new Error('serve'))
}

/** Runs one forked role in this process. */
export function runRole(role: Role): Promise<void> {
  return Promise.reject(new Error(role))
}
