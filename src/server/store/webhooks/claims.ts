import type { ClaimedDelivery, DeliveryInput } from '../../ports/webhooks/webhooks.ts'
import { WEBHOOK_PLACES_MAX } from '../../../schemas/webhooks/webhook-limits.ts'
import type { Sql } from '../base/open.ts'

/**
 * A receiver and a workspace with waiting deliveries for it; claims go through the places in this order, and
 * then begin again.
 */
export interface Place {
  readonly host: string
  readonly workspaceId: string
}

/** A place before every other. */
export const FIRST_PLACE: Place = { host: '', workspaceId: '00000000-0000-0000-0000-000000000000' }

export interface ClaimedPage {
  readonly claims: readonly ClaimedDelivery[]
  /** The place to continue from; null when no place follows. */
  readonly next: Place | null
}

/**
 * Claims due deliveries of up to `placesMax` places after `after`. The index finds the oldest ones of each
 * place, so that ten thousand deliveries for one receiver cost no more than those that are taken. Deliveries
 * alternate first between workspaces at a receiver, then between the receivers of a workspace.
 */
export async function claimPage(
  sql: Sql,
  after: Place,
  input: DeliveryInput,
  placesMax = WEBHOOK_PLACES_MAX,
): Promise<ClaimedPage> {
  const { countMax, perHostMax, perWorkspaceMax, busy, leaseMs } = input
  // The clock of the statement: with a clock that moves the index could not be used.
  const rows = await sql<PageRow[]>`
    WITH RECURSIVE place AS (
      (SELECT host, workspace_id, 1 AS n FROM webhook_deliveries
        WHERE state = 'waiting' AND (host, workspace_id) > (${after.host}, ${after.workspaceId}::uuid) ORDER BY host, workspace_id LIMIT 1)
      UNION ALL
      SELECT next.host, next.workspace_id, p.n + 1 FROM place p CROSS JOIN LATERAL (
        SELECT host, workspace_id FROM webhook_deliveries
        WHERE state = 'waiting' AND (host, workspace_id) > (p.host, p.workspace_id) ORDER BY host, workspace_id LIMIT 1) next
      WHERE p.n < ${placesMax}),
    due AS (
      SELECT d.id, p.host, p.workspace_id, d.lease_until, row_number() OVER (PARTITION BY p.host, p.workspace_id ORDER BY d.lease_until) AS turn
      FROM place p JOIN workspaces w ON w.id = p.workspace_id AND w.deleted_at IS NULL
      CROSS JOIN LATERAL (
        SELECT id, lease_until FROM webhook_deliveries
        WHERE state = 'waiting' AND host = p.host AND workspace_id = p.workspace_id AND lease_until < statement_timestamp()
        ORDER BY lease_until LIMIT ${perHostMax}) d),
    at_host AS (
      SELECT *, row_number() OVER (PARTITION BY host ORDER BY turn, lease_until) + ${counted(sql, busy.hosts)} AS host_turn FROM due),
    in_workspace AS (
      SELECT *, row_number() OVER (PARTITION BY workspace_id ORDER BY host_turn, lease_until)
        + ${counted(sql, busy.workspaces, 'workspace_id')} AS workspace_turn
      FROM at_host WHERE host_turn <= ${perHostMax}),
    chosen AS MATERIALIZED (
      SELECT id FROM webhook_deliveries
      WHERE id IN (SELECT id FROM in_workspace WHERE workspace_turn <= ${perWorkspaceMax} ORDER BY workspace_turn, lease_until LIMIT ${countMax})
        AND state = 'waiting' AND lease_until < statement_timestamp()
      FOR NO KEY UPDATE SKIP LOCKED),
    claimed AS (
      UPDATE webhook_deliveries d SET attempt = attempt + 1, lease_until = clock_timestamp() + ${leaseMs} * interval '1 ms'
      FROM chosen WHERE d.id = chosen.id
      RETURNING d.id, d.workspace_id, d.job_id, d.attempt, d.tries, d.url, d.host, d.idempotency_key, d.body,
        EXISTS (SELECT 1 FROM webhook_disabled x WHERE x.workspace_id = d.workspace_id AND x.url = d.url) AS is_disabled)
    SELECT claimed.*, last.host AS last_host, last.workspace_id AS last_workspace_id, last.n AS places
    FROM (SELECT host, workspace_id, n FROM place ORDER BY n DESC LIMIT 1) last LEFT JOIN claimed ON true`
  const [first] = rows
  return {
    claims: rows.filter((row) => row.id !== null).map(claimOf),
    next:
      first === undefined || first.places < placesMax
        ? null
        : { host: first.last_host, workspaceId: first.last_workspace_id },
  }
}

/** Number of attempts under way for a row's host or workspace. */
function counted(sql: Sql, busy: ReadonlyMap<string, number>, column = 'host') {
  return sql`coalesce((${sql.json(Object.fromEntries(busy))}::jsonb ->> ${sql(column)}::text)::int, 0)`
}

interface PageRow {
  readonly id: string
  readonly workspace_id: string
  readonly job_id: string
  readonly attempt: number
  readonly tries: number
  readonly url: string
  readonly host: string
  readonly idempotency_key: string
  readonly body: string
  readonly is_disabled: boolean
  readonly last_host: string
  readonly last_workspace_id: string
  readonly places: number
}

function claimOf(row: PageRow): ClaimedDelivery {
  const { id, attempt, tries, url, host, body } = row
  return {
    id,
    attempt,
    tries,
    url,
    host,
    body,
    workspaceId: row.workspace_id,
    jobId: row.job_id,
    idempotencyKey: row.idempotency_key,
    isDisabled: row.is_disabled,
  }
}
