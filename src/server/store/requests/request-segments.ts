import type { RequestBatch } from '../../../schemas/requests/request-record.ts'
import type { Sql } from '../base/open.ts'
import { packCalls } from './packed-calls.ts'
import { NOBODY } from './request-days.ts'
import { paymentsOf } from './request-payments.ts'
import { boundsOf, type Segment } from './split-batch.ts'

interface SegmentsInput {
  readonly segments: readonly Segment[]
  /** The batch may be there. */
  readonly isAgain: boolean
}

/**
 * Writes the calls of each segment as one row, some 25 bytes a call, where rows and their indexes take 500; and
 * with them what all calls of the batch have paid. One statement: each takes Postgres and this process longer
 * than hundreds of calls.
 * @returns calls of segments that were new
 */
export async function insertSegments(
  sql: Sql,
  batch: RequestBatch,
  { segments, isAgain }: SegmentsInput,
): Promise<number> {
  const payments = paymentsOf(batch)
  if (segments.length + payments.length === 0) return 0
  const rows = segments.map((segment, part) => ({
    organization_id: batch.names[segment.organization - 1] ?? NOBODY,
    part,
    calls: segment.places.length,
    id_prefix: segment.prefix,
    ...boundsOf(batch, segment),
    packed: packCalls(batch, segment).toString('base64'),
  }))
  const unlessThere = isAgain ? sql`ON CONFLICT DO NOTHING` : sql``
  const [inserted] = await sql<{ calls: number }[]>`
    WITH paid AS (
      INSERT INTO request_payments (second, batch, calls, nano, ms)
      SELECT to_timestamp(second), ${batch.id}::bigint, calls, nano, ms
      FROM json_to_recordset(${JSON.stringify(payments)}::text::json) AS x(second float8, calls int, nano bigint, ms bigint)
      ${unlessThere}),
    segments AS (
      INSERT INTO request_segments (organization_id, ended_at, batch, part, first_at, calls, failures, id_prefix, id_first, id_last, packed)
      SELECT organization_id, to_timestamp("lastMs" / 1000), ${batch.id}::bigint, part, to_timestamp("firstMs" / 1000), calls, failures,
        id_prefix, "idFirst", "idLast", decode(packed, 'base64')
      FROM json_to_recordset(${JSON.stringify(rows)}::text::json) AS x(organization_id uuid, "lastMs" float8, part int, "firstMs" float8,
        calls int, failures int, id_prefix text, "idFirst" bigint, "idLast" bigint, packed text)
      ${unlessThere} RETURNING calls)
    SELECT coalesce(sum(calls), 0)::int AS calls FROM segments`
  return inserted?.calls ?? 0
}
