import { FRONT_LIVE_MS } from '../../../schemas/limits/limits.ts'
import type { Queryable } from '../base/open.ts'

export interface JournalState {
  readonly isOpen: boolean
  /** Offset up to which the journal is applied. */
  readonly applied: number
}

/** Null: the journal was never registered. */
export async function journalState(sql: Queryable, id: string): Promise<JournalState | null> {
  const [row] = await sql<{ is_open: boolean; applied: string }[]>`
    SELECT state = 'open' AS is_open, applied FROM journals WHERE id = ${id}`
  return row === undefined ? null : { isOpen: row.is_open, applied: Number(row.applied) }
}

export interface OpenJournal {
  readonly id: string
  readonly node: string
  readonly openedAt: Date
  /** The journal's front sends heartbeats. */
  readonly isFrontLive: boolean
  /** A front of the journal's node sends heartbeats. */
  readonly isNodeLive: boolean
}

/**
 * Open journals that no process will apply: those of another node without live fronts, and those of this node
 * whose file no longer exists. Their money stays lent.
 */
export function abandoned(
  open: readonly OpenJournal[],
  { own, files }: { readonly own: string | null; readonly files: ReadonlySet<string> },
): readonly OpenJournal[] {
  return open.filter(({ id, node, isFrontLive, isNodeLive }) =>
    node === own ? !isFrontLive && !files.has(id) : !isNodeLive,
  )
}

/** Open journals, the oldest first. */
export async function openJournals(sql: Queryable): Promise<readonly OpenJournal[]> {
  return sql<OpenJournal[]>`
    WITH live AS (SELECT id, node FROM fronts WHERE heartbeat_at > clock_timestamp() - ${FRONT_LIVE_MS} * interval '1 ms')
    SELECT id, node, opened_at AS "openedAt",
      EXISTS (SELECT 1 FROM live WHERE live.id = journals.id) AS "isFrontLive",
      EXISTS (SELECT 1 FROM live WHERE live.node = journals.node) AS "isNodeLive"
    FROM journals WHERE state = 'open' ORDER BY opened_at, id`
}
