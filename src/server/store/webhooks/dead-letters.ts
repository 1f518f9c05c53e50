import { ok, type Outcome } from '../../../schemas/failures.ts'
import type { DeliveryState, WebhookReason } from '../../../schemas/webhook-deliveries.ts'
import type { ChangedBy } from '../../ports/vault.ts'
import { appendAudit } from '../audit.ts'
import type { Queryable, Store, Transaction } from '../open.ts'
import { reach } from '../translate.ts'
import { enableUrlsOf } from './disabled.ts'

/** A delivery as operators see it. Of its URL they see the host: the rest may be a caller's secret. */
export interface SeenDelivery {
  readonly id: string
  readonly workspaceId: string
  readonly jobId: string
  readonly host: string
  readonly state: DeliveryState
  readonly tries: number
  readonly lastStatus: number | null
  readonly lastReason: WebhookReason | null
  readonly createdAt: Date
  /** When the next attempt is due; null of one that has ended. */
  readonly dueAt: Date | null
  readonly endedAt: Date | null
}

export interface DeliveryQuery {
  /** Null = of all. */
  readonly workspaceId: string | null
  readonly state: DeliveryState | null
  readonly limit: number
}

/** Newest first. Failure: store_unavailable. */
export function listDeliveries({ sql }: Store, { workspaceId, state, limit }: DeliveryQuery): Promise<Outcome<readonly SeenDelivery[]>> {
  return reach(async () => ok(await sql<SeenDelivery[]>`
    SELECT id, workspace_id AS "workspaceId", job_id AS "jobId", host, state, tries, last_status AS "lastStatus", last_reason AS "lastReason",
      created_at AS "createdAt", ended_at AS "endedAt", CASE WHEN state = 'waiting' THEN lease_until END AS "dueAt"
    FROM webhook_deliveries
    WHERE ${workspaceId === null ? sql`true` : sql`workspace_id = ${workspaceId}`} AND ${state === null ? sql`true` : sql`state = ${state}`}
    ORDER BY id DESC LIMIT ${limit}`))
}

/** Which deliveries are to be made again: one, whatever became of it, or all dead letters. */
export type ReplayWish = { readonly id: string } | { readonly id: null; readonly workspaceId: string | null }

/** Dead letters that one transaction takes. Decision. */
const BATCH_ROWS = 1_000

/**
 * Makes deliveries due at once, with all their attempts before them and the same id and body as ever. Their URLs are tried
 * again, those that answered 410 too. Those that wait, and those of deleted workspaces, stay as they are.
 * @returns how many; failure: store_unavailable
 */
export function replayDeliveries(store: Store, wish: ReplayWish, by: ChangedBy): Promise<Outcome<number>> {
  return reach(async () => {
    for (let replayed = 0; ;) {
      const count = await store.sql.begin((tx) => replayBatch(tx, wish, by))
      replayed += count
      if (count < BATCH_ROWS || wish.id !== null) return ok(replayed)
    }
  })
}

async function replayBatch(tx: Transaction, wish: ReplayWish, by: ChangedBy): Promise<number> {
  const rows = await tx<Replayed[]>`
    SELECT d.id, d.workspace_id AS "workspaceId", w.organization_id AS "organizationId", d.state, d.tries
    FROM webhook_deliveries d JOIN workspaces w ON w.id = d.workspace_id AND w.deleted_at IS NULL
    WHERE ${chosen(tx, wish)} ORDER BY d.id LIMIT ${BATCH_ROWS} FOR NO KEY UPDATE OF d SKIP LOCKED`
  if (rows.length === 0) return 0
  const ids = rows.map(({ id }) => id)
  await tx`
    UPDATE webhook_deliveries SET state = 'waiting', attempt = attempt + 1, tries = 0, ended_at = NULL, lease_until = clock_timestamp()
    WHERE id IN ${tx(ids)}`
  await enableUrlsOf(tx, ids)
  await appendAudit(tx, ...eventsOf(rows, by))
  return rows.length
}

function chosen(sql: Queryable, wish: ReplayWish) {
  if (wish.id !== null) return sql`d.id = ${wish.id} AND d.state <> 'waiting'`
  return wish.workspaceId === null ? sql`d.state = 'dead'` : sql`d.state = 'dead' AND d.workspace_id = ${wish.workspaceId}`
}

interface Replayed {
  readonly id: string
  readonly workspaceId: string
  readonly organizationId: string
  readonly state: DeliveryState
  readonly tries: number
}

function eventsOf(rows: readonly Replayed[], by: ChangedBy) {
  return rows.map(({ id, workspaceId, organizationId, state, tries }) => ({
    ...by, organizationId, workspaceId, operation: 'cli.webhooks-replay', outcome: 'changed' as const, objectKind: 'webhook_delivery', objectId: id,
    before: { state, tries }, after: { state: 'waiting', tries: 0 },
  }))
}
