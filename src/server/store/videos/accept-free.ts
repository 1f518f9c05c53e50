import { organizationAccount, workspaceAccount } from '../../../schemas/money/accounts.ts'
import type { Sql } from '../base/open.ts'
import type { AcceptDeps } from './accepting.ts'
import { lengthOf, type Accepting } from './accepting-job.ts'
import { insertOf, recordsOf } from './job-records.ts'
import { NONE_OPEN, withOneMore } from './open-counts.ts'

/**
 * Accepts in one statement the simple jobs among several: no paying account has a limit, the claim is the
 * job's, and the workspace exists, is not locked by another transaction and has room. Nothing is written for
 * other jobs; `acceptAll` decides them. The statement waits for no account and no workspace. A first limit of
 * an account that is set at this moment counts from the next statement on, as if this one had come before.
 * @returns ids of the accepted jobs
 */
export async function acceptFree(
  sql: Sql,
  jobs: readonly Accepting[],
  { counts, jobMs }: AcceptDeps,
): Promise<ReadonlySet<string>> {
  const workspaceIds = [...new Set(jobs.map(({ input }) => input.workspaceId))]
  const open = await counts.of(sql, workspaceIds)
  const claims = new Set<string>()
  const fit = jobs.filter((job) => {
    const { workspaceId, once } = job.input
    const more = withOneMore(open.get(workspaceId) ?? NONE_OPEN, lengthOf(job))
    // Only one of two jobs under the same claim may be made.
    if (more === null || (once !== null && claims.has(once.claim.id))) return false
    if (once !== null) claims.add(once.claim.id)
    open.set(workspaceId, more)
    return true
  })
  if (fit.length === 0) return new Set()
  const paying = fit.filter(({ input }) => input.costNano > 0 || input.isUnpriced)
  const accountIds = new Set(
    paying.flatMap(({ input: { key, workspaceId } }) => [
      organizationAccount(key.organizationId),
      workspaceAccount(workspaceId),
      key.money.accountId,
    ]),
  )
  const rows = await sql<{ id: string }[]>`
    WITH records AS MATERIALIZED (${recordsOf(
      sql,
      fit.map((job) => ({ ...job, day: null })),
    )}),
    held AS MATERIALIZED (
      SELECT id, default_callback_url FROM workspaces
      WHERE id = ANY(string_to_array(${workspaceIds.join(',')}, ',')::uuid[]) AND deleted_at IS NULL FOR SHARE SKIP LOCKED),
    limited AS MATERIALIZED (
      SELECT account_id FROM account_limits WHERE account_id = ANY(string_to_array(${[...accountIds].join(',')}, ','))),
    free AS MATERIALIZED (
      SELECT r.*, held.default_callback_url FROM records r JOIN held ON held.id = r.workspace_id
      WHERE (r.cost_nano = 0 AND NOT r.is_unpriced) OR NOT EXISTS (
        SELECT FROM limited l WHERE l.account_id IN ('o' || r.organization_id, 'w' || r.workspace_id, r.key_account_id))),
    kept AS (
      UPDATE idempotency AS i SET state = 'answered', body_sha256 = x.body_sha256, answer = x.answer, answered_at = clock_timestamp()
      FROM free AS x WHERE i.id = x.turn_id AND i.attempt = x.attempt AND i.state = 'running' RETURNING i.id)
    ${insertOf(sql, jobMs)} FROM free AS x
    WHERE x.turn_id IS NULL OR x.turn_id IN (SELECT id FROM kept) RETURNING id`
  return new Set(rows.map(({ id }) => id))
}
