import { FRONT_LIVE_MS } from '../../schemas/limits.ts'
import type { ClosingReport, Lender } from '../ports/lending.ts'
import type { Queryable } from './open.ts'

/** Where a journal stands in the books. */
export interface JournalState {
  readonly isOpen: boolean
  /** Offset up to which it is in the books. */
  readonly applied: number
}

/** Null: it was never made known. */
export async function journalState(sql: Queryable, id: string): Promise<JournalState | null> {
  const [row] = await sql<{ is_open: boolean; applied: string }[]>`
    SELECT state = 'open' AS is_open, applied FROM journals WHERE id = ${id}`
  return row === undefined ? null : { isOpen: row.is_open, applied: Number(row.applied) }
}

/** A journal that nobody has closed. */
export interface OpenJournal {
  readonly id: string
  readonly node: string
  readonly openedAt: Date
  /** Its front sends heartbeats. */
  readonly isFrontLive: boolean
  /** Some front of its node does. */
  readonly isNodeLive: boolean
}

/** The oldest first. @param node of one node alone */
export async function openJournals(sql: Queryable, node: string | null = null): Promise<readonly OpenJournal[]> {
  return sql<OpenJournal[]>`
    WITH live AS (SELECT id, node FROM fronts WHERE heartbeat_at > clock_timestamp() - ${FRONT_LIVE_MS} * interval '1 ms')
    SELECT id, node, opened_at AS "openedAt",
      EXISTS (SELECT 1 FROM live WHERE live.id = journals.id) AS "isFrontLive",
      EXISTS (SELECT 1 FROM live WHERE live.node = journals.node) AS "isNodeLive"
    FROM journals WHERE state = 'open' AND (${node}::text IS NULL OR node = ${node}) ORDER BY opened_at, id`
}

export type NodeClosing =
  /** It has live fronts, so many: nothing was closed. */
  | { readonly liveFronts: number }
  | { readonly journals: readonly (ClosingReport & { readonly id: string })[] }

/**
 * Closes the journals of a node that does not come back: what they do not explain is forfeited. Should their files appear
 * after all, its next start turns that into usage. Rejects when the store cannot be reached; what was closed stays so.
 */
export async function closeNode(sql: Queryable, lender: Pick<Lender, 'close'>, node: string): Promise<NodeClosing> {
  const [row] = await sql<{ live: number }[]>`
    SELECT count(*)::int AS live FROM fronts
    WHERE node = ${node} AND heartbeat_at > clock_timestamp() - ${FRONT_LIVE_MS} * interval '1 ms'`
  const liveFronts = row?.live ?? 0
  if (liveFronts > 0) return { liveFronts }
  const journals: (ClosingReport & { id: string })[] = []
  for (const { id } of await openJournals(sql, node)) {
    journals.push({ id, ...await lender.close({ journalId: id, rest: null, open: [], isComplete: false }) })
  }
  return { journals }
}
