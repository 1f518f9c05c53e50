import { VIDEO_JOBS_OPEN_MAX, VIDEO_OPEN_CHARS_MAX } from '../../../schemas/videos/video-limits.ts'
import type { Queryable } from '../base/open.ts'

/**
 * Milliseconds for which a front trusts its count of a workspace's open jobs, with its own acceptances added.
 * Decision.
 */
export const VIDEO_OPEN_COUNTED_MS = 1_000
/** Workspaces whose count of open jobs a front caches. Decision. */
export const VIDEO_OPEN_COUNTS_MAX = 1_000

/** Open jobs of a workspace, and the characters of their requests. */
export interface Open {
  readonly count: number
  readonly chars: number
}

/** The counts with one more job; null when there is no room for it. */
export function withOneMore({ count, chars }: Open, more: number): Open | null {
  const hasRoom = count < VIDEO_JOBS_OPEN_MAX && (chars === 0 || chars + more <= VIDEO_OPEN_CHARS_MAX)
  return hasRoom ? { count: count + 1, chars: chars + more } : null
}

export const NONE_OPEN: Open = { count: 0, chars: 0 }

/**
 * Numbers of open jobs by workspace. A count is valid for VIDEO_OPEN_COUNTED_MS, and includes the jobs that
 * this front accepted since: a workspace exceeds its limit only by jobs that other fronts accept in that
 * time. A workspace near its limit is counted again.
 */
export class OpenCounts {
  readonly #counts = new Map<string, Open & { readonly at: number }>()
  readonly #now: () => number

  /** @param now monotonic milliseconds */
  constructor(now: () => number) {
    this.#now = now
  }

  async of(sql: Queryable, workspaceIds: readonly string[]): Promise<Map<string, Open>> {
    const now = this.#now()
    const found = new Map<string, Open>()
    const stale: string[] = []
    for (const id of workspaceIds) {
      const known = this.#counts.get(id)
      if (known === undefined || isNearFull(known) || now - known.at >= VIDEO_OPEN_COUNTED_MS) stale.push(id)
      else found.set(id, known)
    }
    // New counts may evict known ones.
    if (stale.length > 0) for (const [id, open] of await this.#count(sql, stale, now)) found.set(id, open)
    return found
  }

  /** Adds a job that was accepted and committed. */
  add(workspaceId: string, chars: number): void {
    const known = this.#counts.get(workspaceId)
    if (known !== undefined)
      this.#counts.set(workspaceId, { ...known, count: known.count + 1, chars: known.chars + chars })
  }

  async #count(sql: Queryable, ids: readonly string[], at: number): Promise<ReadonlyMap<string, Open>> {
    const rows = await sql<{ id: string; count: number; chars: string }[]>`
      SELECT w.id, o.count, o.chars FROM unnest(string_to_array(${ids.join(',')}, ',')::uuid[]) AS w(id) CROSS JOIN LATERAL (
        SELECT count(*)::int AS count, coalesce(sum(request_chars), 0) AS chars FROM video_jobs j
        WHERE j.workspace_id = w.id AND j.state IN ('accepted', 'submitting', 'running', 'storing')) AS o`
    if (this.#counts.size + rows.length > VIDEO_OPEN_COUNTS_MAX) this.#counts.clear()
    const counted = new Map(rows.map(({ id, count, chars }) => [id, { count, chars: Number(chars) }]))
    for (const [id, open] of counted) this.#counts.set(id, { ...open, at })
    return counted
  }
}

/** Near the limit a large request may not fit, and jobs that have ended meanwhile make room. */
function isNearFull({ count, chars }: Open): boolean {
  return count >= VIDEO_JOBS_OPEN_MAX || chars >= VIDEO_OPEN_CHARS_MAX - NEAR_CHARS
}

/** Characters, more than any one request has. */
const NEAR_CHARS = 8_388_608
