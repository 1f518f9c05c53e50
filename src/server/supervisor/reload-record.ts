import { RELOAD_FILE, runningSupervisor, type DataDirectory } from './data-directory/data-directory.ts'
import { readOwn } from './data-directory/own-folder.ts'
import { isRunning } from './fleet/process-state.ts'

/** The state of a node's latest reload, which `sluice reload` waits for. */
export interface ReloadRecord {
  /** Counts from 1; 0 before the first. */
  readonly number: number
  readonly state: 'none' | 'running' | 'done' | 'refused'
  /** Why the node refused the reload; contains no secrets. */
  readonly reason: string | null
  /** Changed settings that only a restart applies. */
  readonly needRestart: readonly string[]
  /** The operator's catalogue file that the node uses, null without one; a node of an older version does not record it. */
  readonly catalogFile?: string | null
}

export const NO_RELOAD: ReloadRecord = { number: 0, state: 'none', reason: null, needRestart: [] }

/** Milliseconds between two looks at the record. */
const LOOK_MS = 100

export function writeReload(data: DataDirectory, record: ReloadRecord): void {
  data.writePrivate(RELOAD_FILE, JSON.stringify(record))
}

/** Null when the node keeps no record: it is of another version. */
export function readReload(path: string): ReloadRecord | null {
  const text = readOwn(path, RELOAD_FILE)
  const value: unknown = text === null ? null : JSON.parse(text)
  return isRecord(value) ? value : null
}

/**
 * Waits for the end of a reload that began after number `before`: such a reload reads the files as they are at the
 * request, or later. Null when the node ended first.
 */
export async function untilReloaded(path: string, before: number): Promise<ReloadRecord | null> {
  const node = runningSupervisor(path)
  while (node !== null && isRunning(node)) {
    const record = readReload(path)
    if (record !== null && record.number > before && record.state !== 'running') return record
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
  }
  return null
}

function isRecord(value: unknown): value is ReloadRecord {
  return (
    typeof value === 'object' &&
    value !== null &&
    'number' in value &&
    typeof value.number === 'number' &&
    'state' in value &&
    typeof value.state === 'string' &&
    'needRestart' in value &&
    Array.isArray(value.needRestart)
  )
}
