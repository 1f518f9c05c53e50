import { createHash } from 'node:crypto'
import { ok, type Outcome } from '../../../schemas/failures.ts'
import type { AuditRow } from '../../ports/audit/audit.ts'
import { rowOf, type RawAuditRow } from './audit-search.ts'
import type { Queryable, Sql, Store } from '../base/open.ts'
import { reach } from '../base/translate.ts'

/** The first bad row of a chain. */
export interface AuditFault {
  readonly organizationId: string
  /** Number of the row; for missing rows, the number of the first one. */
  readonly n: number
  readonly problem: 'missing' | 'edited'
}

export interface AuditVerdict {
  readonly checked: number
  /** The first fault of each organization whose chain is broken. */
  readonly faults: readonly AuditFault[]
}

/** A row with its indexed columns as text. */
interface ChainRow extends RawAuditRow {
  readonly at: string
  readonly workspace_id: string | null
  readonly operation: string
  readonly outcome: string
  readonly object_kind: string
  readonly object_id: string
  readonly actor_id: string | null
}

interface Head {
  readonly organization_id: string
  readonly n: string
  readonly hash: Buffer
  /** Number of the last event that was pruned. */
  readonly pruned_n: string
  /** Hash of the last event that was pruned. */
  readonly pruned_hash: Buffer
}

/** The operation of the event that records a pruning: `after` has `through_n` and `hash` of the last pruned event. */
export const AUDIT_PRUNE = 'system.audit-prune'

/** The hash before the first row of a chain. */
const GENESIS = Buffer.alloc(32)
/** Rows that one read of the cursor returns. */
const ROWS_AT_ONCE = 500

/** Reads every row of an organization, or of all, in the order of its chain. Failure: store_unavailable. */
export function readAudit(
  { sql }: Store,
  organizationId: string | null,
  each: (row: AuditRow) => void,
): Promise<Outcome<null>> {
  return reach(async () => {
    const rows = sql<
      RawAuditRow[]
    >`SELECT organization_id, n, text, hash FROM audit WHERE ${ofOne(sql, organizationId)} ORDER BY organization_id, n`
    for await (const some of rows.cursor(ROWS_AT_ONCE)) for (const row of some) each(rowOf(row))
    return ok(null)
  })
}

/**
 * Recomputes every chain from its texts: from an edited, removed, added or moved row on the chain no longer
 * matches. Failure: store_unavailable.
 */
export function verifyAudit({ sql }: Store, organizationId: string | null): Promise<Outcome<AuditVerdict>> {
  return reach(() =>
    sql.begin('ISOLATION LEVEL REPEATABLE READ READ ONLY', async (tx) => {
      const heads = await tx<Head[]>`
      SELECT organization_id, COALESCE(h.n, 0) AS n, COALESCE(h.hash, ${GENESIS}) AS hash, COALESCE(p.n, 0) AS pruned_n,
        COALESCE(p.hash, ${GENESIS}) AS pruned_hash
      FROM audit_heads h FULL JOIN audit_pruned p USING (organization_id) WHERE ${ofOne(tx, organizationId)} ORDER BY organization_id`
      const chains = new Map(heads.map((head) => [head.organization_id, new Chain(head)]))
      let checked = 0
      const rows = tx<ChainRow[]>`
      SELECT organization_id, n, text, hash, to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS at,
        workspace_id, operation, outcome, object_kind, object_id, actor_id
      FROM audit WHERE ${ofOne(tx, organizationId)} ORDER BY organization_id, n`
      for await (const some of rows.cursor(ROWS_AT_ONCE)) {
        for (const row of some) {
          checked++
          const chain =
            chains.get(row.organization_id) ?? new Chain({ ...NO_HEAD, organization_id: row.organization_id })
          chains.set(row.organization_id, chain)
          chain.take(row)
        }
      }
      const faults = [...chains.values()].flatMap((chain) => chain.end() ?? [])
      return ok({ checked, faults })
    }),
  )
}

const NO_HEAD = { n: '0', hash: GENESIS, pruned_n: '0', pruned_hash: GENESIS }

/** Checks one organization's rows in their order, from the first row that was not pruned. */
class Chain {
  readonly #head: Head
  #n: number
  #hash: Buffer
  /** Number of the last event that the chain's own events record as pruned. */
  #prunedThrough = 0
  #fault: AuditFault | null = null

  constructor(head: Head) {
    this.#head = head
    this.#n = Number(head.pruned_n)
    this.#hash = head.pruned_hash
  }

  take(row: ChainRow): void {
    if (this.#fault !== null) return
    this.#n++
    const n = Number(row.n)
    if (n !== this.#n) return this.#blame(n < this.#n ? 'edited' : 'missing')
    this.#hash = createHash('sha256').update(this.#hash).update(row.text).digest()
    if (!this.#hash.equals(row.hash) || !isAsItSays(row)) return this.#blame('edited')
    if (row.operation === AUDIT_PRUNE) this.#takePruning(row)
  }

  /** Applies the values that a pruning event records. An attacker who removes more rows cannot make the chain record them as pruned. */
  #takePruning({ text }: ChainRow): void {
    const { after } = JSON.parse(text) as { readonly after: { readonly through_n?: unknown } | null }
    // An attacker who rewrites a chain may write any value here.
    if (typeof after?.through_n !== 'number') return this.#blame('edited')
    this.#prunedThrough = Math.max(this.#prunedThrough, after.through_n)
  }

  /** The newest row must be the one that the head names, so that rows at the end cannot be removed or added without detection. */
  end(): AuditFault | null {
    if (this.#fault !== null) return this.#fault
    if (Number(this.#head.pruned_n) > this.#prunedThrough) {
      this.#n = this.#prunedThrough + 1
      this.#blame('missing')
      return this.#fault
    }
    const n = Number(this.#head.n)
    if (n === this.#n && this.#hash.equals(this.#head.hash)) return null
    if (n > this.#n) {
      this.#n++
      this.#blame('missing')
    } else {
      this.#n = n < this.#n ? n + 1 : n
      this.#blame('edited')
    }
    return this.#fault
  }

  #blame(problem: AuditFault['problem']): void {
    this.#fault = { organizationId: this.#head.organization_id, n: this.#n, problem }
  }
}

/** True when the indexed columns of a row match its text. */
function isAsItSays(row: ChainRow): boolean {
  try {
    const entry = JSON.parse(row.text) as Record<string, unknown>
    const actor = entry['actor'] as { id: string | null }
    return (
      Number(row.n) === entry['n'] &&
      INDEXED.every((name) => entry[name] === row[name]) &&
      actor.id === row.actor_id
    )
  } catch {
    return false
  }
}

const INDEXED = [
  'organization_id',
  'at',
  'workspace_id',
  'operation',
  'outcome',
  'object_kind',
  'object_id',
] as const

function ofOne(sql: Queryable, organizationId: string | null): ReturnType<Sql> {
  return organizationId === null ? sql`true` : sql`organization_id = ${organizationId}`
}
