import type { LoggedRequest } from '../../ports/requests/request-log.ts'

/** Milliseconds between two looks. Decision. */
export const LOGS_LOOK_MS = 1_000
/**
 * Milliseconds by which the row of a call may come later than that of a call which ended after it: fronts
 * write in batches of their own. Decision.
 */
export const LOGS_LATE_MS = 5_000

export interface FollowInput {
  /** Rows that ended at this instant or later, newest first, with all pages. */
  find(from: string): Promise<readonly LoggedRequest[]>
  /** @returns false: it is over */
  pause(ms: number): Promise<boolean>
  /** Unix milliseconds. */
  now(): number
}

/** Rows as they come, each once, in the order of the ends of their calls as far as one look sees them. */
export async function* followed({ find, pause, now }: FollowInput): AsyncGenerator<readonly LoggedRequest[]> {
  let seen = new Set<string>()
  for (let fromMs = now(); ;) {
    const rows = await find(new Date(fromMs).toISOString())
    const fresh = rows.filter((row) => !seen.has(idOf(row)))
    // What is too old to be found again is forgotten.
    seen = new Set(rows.map(idOf))
    if (fresh.length > 0) yield fresh.reverse()
    fromMs = Math.max(fromMs, now() - LOGS_LATE_MS)
    if (!(await pause(LOGS_LOOK_MS))) return
  }
}

function idOf({ batch, n }: LoggedRequest): string {
  return `${batch}-${n}`
}
