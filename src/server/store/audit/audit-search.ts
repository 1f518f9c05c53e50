import { ok, type Outcome } from '../../../schemas/failures.ts'
import type { AuditLog, AuditPage, AuditQuery, AuditRow } from '../../ports/audit/audit.ts'
import type { Fragment } from '../base/guarded-row.ts'
import type { Queryable, Store } from '../base/open.ts'
import { endedByBytes } from '../base/page-by-bytes.ts'
import { reach } from '../base/translate.ts'
import { workspaceIdOf } from '../base/find-workspace.ts'

/**
 * Events that one read of the audit log examines. A page of a search with few matches may be short; its
 * cursor says where to continue. Decision.
 */
export const AUDIT_LOOKED_MAX = 20_000

export function openAuditLog(store: Store): AuditLog {
  return { find: (query) => findAudit(store, query) }
}

export interface RawAuditRow {
  readonly organization_id: string
  readonly n: string
  readonly text: string
  readonly hash: Buffer
}

/** Failures: workspace_unknown, store_unavailable. */
export function findAudit({ sql }: Store, query: AuditQuery): Promise<Outcome<AuditPage>> {
  return reach(() =>
    sql.begin('ISOLATION LEVEL REPEATABLE READ READ ONLY', async (tx) => {
      const place =
        query.workspace === undefined ? null : await workspaceIdOf(tx, query.organizationId, query.workspace)
      if (place?.ok === false) return place
      // With outdated statistics the planner would fetch and sort all rows that match the search, even millions.
      await tx`SET LOCAL enable_sort = off`
      const search = searchOf(tx, query, place?.value ?? null)
      const found = await tx<FoundRow[]>`${endedByBytes(tx, {
        rows: tx`
        SELECT organization_id, n, text, hash FROM (SELECT * FROM audit WHERE ${search.looked} ORDER BY n DESC LIMIT ${AUDIT_LOOKED_MAX}) looked
        WHERE ${search.rest} ORDER BY n DESC LIMIT ${query.limit + 1}`,
        bytes: () => tx`octet_length(text)`,
        order: () => tx`n DESC`,
      })}`
      const rows = found.slice(0, query.limit).map(rowOf)
      const isCut = (found[0]?.found ?? 0) > rows.length
      return ok({ rows, nextBefore: isCut ? (rows.at(-1)?.n ?? null) : await nextBefore(tx, search) })
    }),
  )
}

export function rowOf({ organization_id, n, text, hash }: RawAuditRow): AuditRow {
  return { organizationId: organization_id, n: Number(n), text, hash: hash.toString('hex') }
}

interface FoundRow extends RawAuditRow {
  /** Number of matching rows, at most one more than fit on the page. */
  readonly found: number
}

interface Search {
  /** Conditions in the order of one index, so that the query can stop after AUDIT_LOOKED_MAX rows. */
  readonly looked: Fragment
  /** Further conditions on the rows that the index returns. */
  readonly rest: Fragment
  readonly hasRest: boolean
}

/** `before` of the next page when the search stopped before the end of the log, after as many rows as one query reads. */
async function nextBefore(sql: Queryable, { looked, hasRest }: Search): Promise<number | null> {
  if (!hasRest) return null
  const [row] = await sql<{ n: string }[]>`
    SELECT n FROM audit WHERE ${looked} ORDER BY n DESC OFFSET ${AUDIT_LOOKED_MAX} LIMIT 1`
  return row === undefined ? null : Number(row.n) + 1
}

/**
 * Builds the conditions of a search. Each column has an index that ends with `n`; conditions on usually rarer
 * values are first, and the first given condition determines the index. Times are converted to row numbers,
 * since times in the log never decrease.
 */
function searchOf(sql: Queryable, query: AuditQuery, workspaceId: string | null): Search {
  const { organizationId, objectId, actorId, operation, outcome, objectKind, since, until, before } = query
  const inputs = [
    objectId === undefined ? null : sql`object_id = ${objectId}`,
    actorId === undefined ? null : sql`actor_id = ${actorId}`,
    outcome === undefined ? null : OUTCOMES[outcome](sql),
    operation === undefined ? null : sql`operation = ${operation}`,
    workspaceId === null ? null : sql`workspace_id = ${workspaceId}`,
    objectKind === undefined ? null : sql`object_kind = ${objectKind}`,
  ].filter((input) => input !== null)
  const [first, ...others] = inputs
  return {
    looked: sql`organization_id = ${organizationId}
      ${first === undefined ? sql`` : sql`AND ${first}`}
      ${since === undefined ? sql`` : sql`AND n >= (SELECT audit_n_from(${organizationId}, ${since}::text::timestamptz))`}
      ${until === undefined ? sql`` : sql`AND n < (SELECT audit_n_from(${organizationId}, ${until}::text::timestamptz))`}
      ${before === undefined ? sql`` : sql`AND n < ${before}`}`,
    rest: others.reduce<Fragment>((all, input) => sql`${all} AND ${input}`, sql`true`),
    hasRest: others.length > 0,
  }
}

/** Literals, because with a parameter Postgres does not use the partial index of events other than releases. */
const OUTCOMES = {
  changed: (sql) => sql`outcome = 'changed'`,
  released: (sql) => sql`outcome = 'released'`,
  refused: (sql) => sql`outcome = 'refused'`,
} as const satisfies Record<NonNullable<AuditQuery['outcome']>, (sql: Queryable) => Fragment>
