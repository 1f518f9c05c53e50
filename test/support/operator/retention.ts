/** Old rows of what is pruned, many at once; and runs over them. */
import type { PruneEnd, PruneStep, RetentionLease } from '../../../src/server/ports/operator/retention.ts'
import type { Queryable, Store } from '../../../src/server/store/base/open.ts'
import { openRetentionLeases } from '../../../src/server/store/base/retention-lease.ts'

/** Where the rows of a plant lie: `count` of them, the oldest `fromDays` ago, the newest `toDays` ago. */
export interface Plant {
  readonly count: number
  readonly fromDays: number
  readonly toDays: number
  /** Before the ids of its rows. */
  readonly name: string
}

/** An instant of the nth of them. */
function at(sql: Queryable, { count, fromDays, toDays }: Plant) {
  return sql`clock_timestamp() - (${fromDays}::float8 - (${fromDays}::float8 - ${toDays}::float8) * nth / ${count}::float8) * interval '1 day'`
}

/** Calls under an `Idempotency-Key` that were answered. */
export async function plantAnswers(sql: Queryable, plant: Plant): Promise<void> {
  await sql`
    INSERT INTO idempotency (id, state, lease_until, request_digest, body_sha256, answer, answered_at)
    SELECT ${plant.name}::text || nth, 'answered', at, 'd', repeat('0', 64), '{}', at
    FROM (SELECT nth, ${at(sql, plant)} AS at FROM generate_series(1, ${plant.count}::int) AS nth) AS made`
}

export interface OwnedPlant extends Plant {
  readonly organizationId: string
  readonly workspaceId: string
}

/** Video jobs that ended and whose clips are gone. */
export async function plantJobs(sql: Queryable, plant: OwnedPlant): Promise<void> {
  await sql`
    INSERT INTO video_jobs (id, organization_id, workspace_id, key_hash, key_account_id, request_id, model, provider, endpoint, upstream_model,
      state, submit_token, seconds, cost_nano, is_unpriced, hold_id, hold_day, created_at, expires_at, ended_at)
    SELECT ${plant.name}::text || nth, ${plant.organizationId}, ${plant.workspaceId}, 'h', 'k', 'r', 'm', 'p', 'e', 'u',
      'failed', gen_random_uuid(), 5, 0, false, gen_random_uuid(), at::date, at, at, at
    FROM (SELECT nth, ${at(sql, plant)} AS at FROM generate_series(1, ${plant.count}::int) AS nth) AS made`
}

/** Deliveries of the webhooks of jobs, one each. */
export async function plantDeliveries(
  sql: Queryable,
  plant: OwnedPlant & { readonly state: 'delivered' | 'dead' },
): Promise<void> {
  await sql`
    INSERT INTO webhook_deliveries (id, workspace_id, job_id, idempotency_key, url, host, body, state, created_at, ended_at)
    SELECT gen_random_uuid(), ${plant.workspaceId}, ${plant.name}::text || nth, ${plant.name}::text || nth || '-failed', 'https://a.example/', 'a.example',
      '{}', ${plant.state}, at, at
    FROM (SELECT nth, ${at(sql, plant)} AS at FROM generate_series(1, ${plant.count}::int) AS nth) AS made`
}

/**
 * Events of a chain of their own, with the hashes that they ought to have. For organizations that have none
 * yet. The text is as the store makes it.
 */
export async function plantEvents(sql: Queryable, plant: Omit<OwnedPlant, 'workspaceId'>): Promise<void> {
  await sql.unsafe(`
    CREATE OR REPLACE FUNCTION plant_events(org uuid, name text, count int, from_days float8, to_days float8) RETURNS void LANGUAGE plpgsql AS $$
    DECLARE
      previous bytea := decode(repeat('0', 64), 'hex');
      began timestamptz := clock_timestamp();
      stamp timestamptz;
      line text;
    BEGIN
      FOR nth IN 1 .. count LOOP
        stamp := began - (from_days - (from_days - to_days) * nth / count) * interval '1 day';
        line := jsonb_build_object('n', nth, 'at', to_char(stamp AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'organization_id', org,
          'workspace_id', NULL, 'actor', jsonb_build_object('kind', 'system', 'id', NULL), 'request_id', NULL, 'operation', 'test.change',
          'outcome', 'changed', 'object_kind', 'thing', 'object_id', name || nth, 'before', NULL, 'after', NULL);
        previous := sha256(previous || convert_to(line, 'UTF8'));
        INSERT INTO audit (organization_id, n, at, operation, outcome, object_kind, object_id, text, hash)
        VALUES (org, nth, stamp, 'test.change', 'changed', 'thing', name || nth, line, previous);
      END LOOP;
      INSERT INTO audit_heads (organization_id, n, hash, at) VALUES (org, count, previous, stamp);
    END $$`)
  await sql`SELECT plant_events(${plant.organizationId}, ${plant.name}, ${plant.count}::int, ${plant.fromDays}::float8, ${plant.toDays}::float8)`
}

export async function turnOf(store: Store): Promise<RetentionLease> {
  const turns = openRetentionLeases(store)
  await turns.hasten()
  const turn = await turns.begin()
  if (turn === null) throw new Error('somebody else prunes')
  return turn
}

export interface Ran {
  readonly rows: number
  readonly batches: number
  readonly end: PruneEnd
}

/** All of a kind in one turn. */
export async function runStep(store: Store, step: PruneStep): Promise<Ran> {
  const turn = await turnOf(store)
  try {
    return await runOut(step.run(turn))
  } finally {
    await openRetentionLeases(store).end(turn, 0)
  }
}

export async function runOut(batches: ReturnType<PruneStep['run']>): Promise<Ran> {
  let [rows, count] = [0, 0]
  for (;;) {
    const batch = await batches.next()
    if (batch.done === true) return { rows, batches: count, end: batch.value }
    rows += batch.value
    count++
  }
}
