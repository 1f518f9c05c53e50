import { ok, type Outcome } from '../../../schemas/failures.ts'
import type { DeliveryState } from '../../../schemas/webhooks/webhook-deliveries.ts'
import type { ChangedBy } from '../../ports/vault/vault.ts'
import { appendAudit } from '../base/append-audit.ts'
import type { Queryable, Store, Transaction } from '../base/open.ts'
import { reach } from '../base/translate.ts'
import { enableUrlsOf } from './tests.ts'

/** Deliveries to be repeated: a single one in any ended state, or all dead letters. Fields that are null or left out match every row. */
export type ReplayInput = { readonly organizationId?: string } & (
  | { readonly id: string }
  | { readonly id: null; readonly workspaceId: string | null; readonly countMax?: number }
)

export interface Replayed {
  readonly count: number
  /** There were more than `countMax`. */
  readonly hasMore: boolean
}

export interface ReplayActor extends ChangedBy {
  readonly operation: string
}

/** Dead letters that one transaction takes. Decision. */
const BATCH_ROWS = 1_000

/**
 * Makes deliveries due at once, with all their attempts available again, and with the same id and body. Their URLs are
 * tried again, including URLs that answered 410. Deliveries that wait, and those of deleted workspaces, stay
 * unchanged. Failure: store_unavailable
 */
export function replayDeliveries(
  store: Store,
  input: ReplayInput,
  by: ReplayActor,
): Promise<Outcome<Replayed>> {
  return reach(async () => {
    const countMax = input.id === null ? (input.countMax ?? Infinity) : 1
    for (let count = 0; ;) {
      const rowsMax = Math.min(BATCH_ROWS, countMax - count)
      const done = await store.sql.begin((tx) => replayBatch(tx, input, { rowsMax, by }))
      count += done
      if (done < rowsMax || input.id !== null) return ok({ count, hasMore: false })
      if (count >= countMax) return ok({ count, hasMore: await hasDead(store.sql, input) })
    }
  })
}

async function hasDead(sql: Queryable, input: ReplayInput): Promise<boolean> {
  const [row] = await sql`
    SELECT 1 FROM webhook_deliveries d JOIN workspaces w ON w.id = d.workspace_id AND w.deleted_at IS NULL WHERE ${chosen(sql, input)} LIMIT 1`
  return row !== undefined
}

interface Batch {
  readonly rowsMax: number
  readonly by: ReplayActor
}

async function replayBatch(tx: Transaction, input: ReplayInput, { rowsMax, by }: Batch): Promise<number> {
  const rows = await tx<ReplayedRow[]>`
    SELECT d.id, d.workspace_id AS "workspaceId", w.organization_id AS "organizationId", d.state, d.tries
    FROM webhook_deliveries d JOIN workspaces w ON w.id = d.workspace_id AND w.deleted_at IS NULL
    WHERE ${chosen(tx, input)} ORDER BY d.created_at, d.id LIMIT ${rowsMax} FOR NO KEY UPDATE OF d SKIP LOCKED`
  if (rows.length === 0) return 0
  const ids = rows.map(({ id }) => id)
  await tx`
    UPDATE webhook_deliveries SET state = 'waiting', attempt = attempt + 1, tries = 0, ended_at = NULL, lease_until = clock_timestamp()
    WHERE id IN ${tx(ids)}`
  await enableUrlsOf(tx, ids)
  await appendAudit(tx, ...eventsOf(rows, by))
  return rows.length
}

function chosen(sql: Queryable, input: ReplayInput) {
  const { organizationId } = input
  const isOurs = organizationId === undefined ? sql`true` : sql`d.organization_id = ${organizationId}`
  if (input.id !== null) return sql`${isOurs} AND d.id = ${input.id} AND d.state <> 'waiting'`
  return input.workspaceId === null
    ? sql`${isOurs} AND d.state = 'dead'`
    : sql`${isOurs} AND d.state = 'dead' AND d.workspace_id = ${input.workspaceId}`
}

interface ReplayedRow {
  readonly id: string
  readonly workspaceId: string
  readonly organizationId: string
  readonly state: DeliveryState
  readonly tries: number
}

function eventsOf(rows: readonly ReplayedRow[], by: ReplayActor) {
  return rows.map(({ id, workspaceId, organizationId, state, tries }) => ({
    ...by,
    organizationId,
    workspaceId,
    outcome: 'changed' as const,
    objectKind: 'webhook_delivery',
    objectId: id,
    before: { state, tries },
    after: { state: 'waiting', tries: 0 },
  }))
}
