import type { Log } from '../../../ports/observe.ts'
import type { PruneStep, RetentionLease } from '../../../ports/operator/retention.ts'
import { appendAudit } from '../../base/append-audit.ts'
import { AUDIT_PRUNE } from '../../audit/audit-log.ts'
import type { Queryable, Store, Transaction } from '../../base/open.ts'
import { BEFORE_ALL } from '../../scim/settle.ts'
import { renewLease } from '../../base/retention-lease.ts'
import { PRUNED_AT_ONCE } from '../../../../schemas/operator/admin-port-limits.ts'

export interface AuditRetention {
  readonly store: Store
  /** Whole months in addition to the current one; 0 = kept forever. */
  readonly keptMonths: number
  readonly log: Log
}

/**
 * Prunes the chains of organizations from their beginning, in whole months. Each run over a chain is an event
 * of the chain, which records the number and hash of the last event that it removes; `verifyAudit` continues
 * from there, and detects further removed events. A chain that is broken in the part to be pruned is not
 * changed, so that the tampering can still be detected.
 */
export function auditChains({ store, keptMonths, log }: AuditRetention): PruneStep {
  return {
    kind: 'audit',
    keptFor: keptMonths < 1 ? null : { count: keptMonths, unit: 'months' },
    async *run(lease) {
      if (keptMonths < 1) return 'done'
      for (
        let chain = await nextChain(store, keptMonths, BEFORE_ALL);
        chain !== null;
        chain = await nextChain(store, keptMonths, chain.organizationId)
      ) {
        const end = yield* pruneChain({ store, log }, chain, lease)
        if (end === 'lost') return 'lost'
      }
      return 'done'
    },
    due: () => (keptMonths < 1 ? Promise.resolve(0) : countDue(store, keptMonths)),
    async oldest() {
      const [row] = await store.sql<
        { at: Date | null }[]
      >`SELECT min(f.at) AS at FROM ${firstEvents(store.sql)}`
      return row?.at ?? null
    },
  }
}

interface Chain {
  readonly organizationId: string
  /** Number of the last event that is old enough. */
  readonly through: string
}

/** The oldest event of each organization. */
function firstEvents(sql: Queryable) {
  return sql`audit_heads h LEFT JOIN audit_pruned p ON p.organization_id = h.organization_id CROSS JOIN LATERAL (
    SELECT at FROM audit a WHERE a.organization_id = h.organization_id AND a.n > COALESCE(p.n, 0) ORDER BY n LIMIT 1) AS f`
}

function cutoff(sql: Queryable, keptMonths: number) {
  return sql`(SELECT (date_trunc('month', utc_today()::timestamp) - ${keptMonths}::int * interval '1 month') AT TIME ZONE 'UTC')`
}

async function nextChain({ sql }: Store, keptMonths: number, after: string): Promise<Chain | null> {
  const [row] = await sql<Chain[]>`
    SELECT id AS "organizationId", audit_n_from(id, ${cutoff(sql, keptMonths)}) - 1 AS through FROM (
      SELECT h.organization_id AS id FROM ${firstEvents(sql)}
      WHERE h.organization_id > ${after} AND f.at < ${cutoff(sql, keptMonths)} ORDER BY h.organization_id LIMIT 1) AS next`
  return row ?? null
}

async function* pruneChain(
  { store, log }: Pick<AuditRetention, 'store' | 'log'>,
  chain: Chain,
  lease: RetentionLease,
): AsyncGenerator<number, 'done' | 'lost', void> {
  for (let isRecorded = false; ; isRecorded = true) {
    const batch = await store.sql.begin((tx) => pruneSome(tx, chain, { lease, isRecorded }))
    if (batch === null) return 'lost'
    if (batch.brokenAt !== null) {
      log.error('retention.audit_broken', { organizationId: chain.organizationId, n: Number(batch.brokenAt) })
      return 'done'
    }
    yield batch.rows
    if (batch.rows < PRUNED_AT_ONCE) return 'done'
  }
}

interface Batch {
  readonly rows: number
  /** Number of the first event whose hash does not match its predecessor. */
  readonly brokenAt: string | null
}

interface Looked {
  readonly rows: number
  readonly last: string | null
  readonly hash: Buffer | null
  readonly brokenAt: string | null
}

/** @returns null when another process has the lease */
async function pruneSome(
  tx: Transaction,
  { organizationId, through }: Chain,
  { lease, isRecorded }: { readonly lease: RetentionLease; readonly isRecorded: boolean },
): Promise<Batch | null> {
  await tx.unsafe(
    'SET LOCAL synchronous_commit = off; SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off',
  )
  if (!(await renewLease(tx, lease))) return null
  const [looked] = await tx<Looked[]>`
    WITH mark AS MATERIALIZED (
      SELECT COALESCE(max(n), 0) AS n, COALESCE(max(encode(hash, 'hex')), ${GENESIS_HEX}) AS hash FROM audit_pruned WHERE organization_id = ${organizationId}),
    looked AS MATERIALIZED (
      SELECT n, hash, text FROM audit WHERE organization_id = ${organizationId} AND n > (SELECT n FROM mark) AND n <= ${through}::bigint
      ORDER BY n LIMIT ${PRUNED_AT_ONCE}),
    judged AS MATERIALIZED (
      SELECT n, hash, n = lag(n, 1, (SELECT n FROM mark)) OVER chain + 1
        AND hash = sha256(lag(hash, 1, (SELECT decode(hash, 'hex') FROM mark)) OVER chain || convert_to(text, 'UTF8')) AS is_whole
      FROM looked WINDOW chain AS (ORDER BY n))
    SELECT count(*)::int AS rows, max(n) AS last, (SELECT hash FROM judged ORDER BY n DESC LIMIT 1) AS hash,
      min(n) FILTER (WHERE NOT is_whole) AS "brokenAt"
    FROM judged`
  const { rows = 0, last = null, hash = null, brokenAt = null } = looked ?? {}
  if (brokenAt !== null || last === null || hash === null) return { rows: 0, brokenAt }
  await tx`
    DELETE FROM audit WHERE organization_id = ${organizationId} AND n <= ${last}::bigint
      AND n > COALESCE((SELECT n FROM audit_pruned WHERE organization_id = ${organizationId}), 0)`
  await tx`
    INSERT INTO audit_pruned (organization_id, n, hash) VALUES (${organizationId}, ${last}::bigint, ${hash})
    ON CONFLICT (organization_id) DO UPDATE SET n = excluded.n, hash = excluded.hash`
  if (!isRecorded) await recordPruning(tx, { organizationId, through })
  return { rows, brokenAt: null }
}

const GENESIS_HEX = '0'.repeat(64)

/** Records the pruning in the chain itself, before its first event is removed, with the hash of the last event to be removed. */
async function recordPruning(tx: Transaction, { organizationId, through }: Chain): Promise<void> {
  const [row] = await tx<{ hash: Buffer }[]>`
    SELECT hash FROM audit WHERE organization_id = ${organizationId} AND n = ${through}::bigint
    UNION ALL SELECT hash FROM audit_pruned WHERE organization_id = ${organizationId} AND n = ${through}::bigint`
  await appendAudit(tx, {
    organizationId,
    workspaceId: null,
    actor: { kind: 'system', id: null },
    requestId: null,
    operation: AUDIT_PRUNE,
    outcome: 'changed',
    objectKind: 'audit',
    objectId: organizationId,
    before: null,
    after: { through_n: Number(through), hash: row?.hash.toString('hex') ?? null },
  })
}

function countDue({ sql }: Store, keptMonths: number): Promise<number> {
  return sql.begin('READ ONLY', async (tx) => {
    await tx.unsafe('SET LOCAL statement_timeout = 0')
    const [row] = await tx<{ rows: number }[]>`
      SELECT count(*)::int AS rows FROM audit_heads h CROSS JOIN LATERAL (
        SELECT 1 FROM audit a WHERE a.organization_id = h.organization_id
          AND n < audit_n_from(h.organization_id, ${cutoff(tx, keptMonths)})) AS a`
    return row?.rows ?? 0
  })
}
