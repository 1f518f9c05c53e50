import { fail, ok, type Outcome } from '../../../schemas/failures.ts'
import { PROBE_CLAIM_MS, VALIDATION_FRESH_MS } from '../../../schemas/endpoints/endpoint-limits.ts'
import type { EndpointRef, ProbeClaim } from '../../ports/endpoints/private-endpoints.ts'
import { newId } from '../base/ids.ts'
import type { Queryable, Transaction } from '../base/open.ts'
import { endpointOf, lockEndpoint, type LockedRow } from './private-endpoint-rows.ts'

/**
 * Claims an endpoint for a probe: one probe at a time on all fronts; the claim of a lost front runs out. C28.
 * Failures: endpoint_unknown, and those of `mayBegin`.
 */
export async function claim(
  tx: Transaction,
  ref: EndpointRef,
  mayBegin: (row: LockedRow) => Outcome<null>,
): Promise<Outcome<ProbeClaim>> {
  const row = await lockEndpoint(tx, ref, VALIDATION_FRESH_MS)
  if (row === null) return fail('endpoint_unknown')
  const allowed = mayBegin(row)
  if (!allowed.ok) return allowed
  if (row.is_probed === true) return fail('probe_running', { retryAfterS: 1 })
  const token = newId()
  await tx`
    UPDATE private_endpoints
    SET probe_token = ${token}, probe_until = clock_timestamp() + ${PROBE_CLAIM_MS} * interval '1 ms' WHERE id = ${row.id}`
  return ok({ token, endpoint: endpointOf(row), revision: row.revision, configRevision: row.config_revision })
}

/** An active endpoint is in use under its validation, and has to be disabled first. */
export function mayValidate({ status }: LockedRow): Outcome<null> {
  return status === 'active' ? fail('endpoint_active') : ok(null)
}

/** The 409s of C28 that precede a probe. */
export function mayActivate(row: LockedRow): Outcome<null> {
  if (row.status === 'active') return fail('endpoint_active')
  if (row.validation === null) return fail('not_validated')
  if (row.validated_config !== row.config_revision) return fail('validation_stale')
  if (!row.validation.passed || row.workspace_id !== row.validation.workspace_id) return fail('not_validated')
  return row.is_old === true ? fail('validation_stale') : ok(null)
}

/** @returns null when the claim has run out, or the endpoint was changed */
export async function lockClaimed(tx: Transaction, held: ProbeClaim): Promise<LockedRow | null> {
  const row = await lockEndpoint(tx, held.endpoint, VALIDATION_FRESH_MS)
  if (row === null || row.revision !== held.revision) return null
  const [ours] =
    await tx`SELECT 1 FROM private_endpoints WHERE id = ${row.id} AND probe_token = ${held.token}`
  return ours === undefined ? null : row
}

export async function drop(sql: Queryable, { endpoint, token }: ProbeClaim): Promise<void> {
  await sql`UPDATE private_endpoints SET probe_token = NULL, probe_until = NULL WHERE id = ${endpoint.id} AND probe_token = ${token}`
}
