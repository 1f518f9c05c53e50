import type { Caps } from '../../../schemas/operator/caps.ts'
import { fail, ok, type Outcome } from '../../../schemas/failures.ts'
import type { KeyActor, KeyRef, RotatedKey, Rotation } from '../../ports/keys/api-keys.ts'
import { appendAudit } from '../base/append-audit.ts'
import { holdRoom } from '../base/caps.ts'
import { bump } from '../base/epoch.ts'
import { rotationEvent } from './key-audit.ts'
import { bearSuccessor } from './key-births.ts'
import { findLocked, lookAt, type KeyResult } from './key-locks.ts'
import { findKeyRow, type KeyRow } from './key-rows.ts'
import type { Transaction } from '../base/open.ts'
import { holdWorkspace } from '../base/find-workspace.ts'

export interface RotationInput {
  readonly ref: KeyRef
  readonly rotation: Rotation
  readonly by: KeyActor
  readonly caps?: Caps | undefined
}

/**
 * Makes a successor of a key with the same account, so that usage and limit continue; both keys work until
 * the older one expires. Failures: api_key_unknown, quota_exceeded.
 */
export async function rotateKey(
  tx: Transaction,
  { ref, rotation, by, caps }: RotationInput,
): Promise<Outcome<KeyResult<RotatedKey>>> {
  // The removal of a workspace locks the workspace before its interns, and the interns before their keys. A
  // rotation must keep that order.
  const seen = await findKeyRow(tx, ref)
  const found = seen !== null && (await holdOwners(tx, seen)) ? await findLocked(tx, ref) : null
  if (found === null || !(await isLive(tx, ref.hash))) return fail('api_key_unknown')
  const { accountId, key: before } = found
  const expiresAt = rotation.expiresAt === undefined ? await expiryOf(tx, accountId) : rotation.expiresAt
  const { kind, name, organizationId, workspaceId, internId, rateLimitRpm, isDisabled } = before
  // Without an overlap there is never an additional key: a full organization can still replace a lost key.
  const room = await holdRoom(
    tx,
    { organizationId, what: 'api_keys', more: rotation.overlapS === 0 ? 0 : 1 },
    caps,
  )
  if (!room.ok) return room
  const born = await bearSuccessor(tx, accountId, {
    kind,
    name,
    organizationId,
    workspaceId,
    internId,
    rateLimitRpm,
    isDisabled,
    expiresAt,
    traits: before,
  })
  const endsAt = await endSoon(tx, before.hash, rotation.overlapS)
  const [previous, apiKey] = [await lookAt(tx, before.hash), await lookAt(tx, born.hash)]
  await appendAudit(tx, rotationEvent(by, { before, after: previous, successor: apiKey }))
  const changes = [await bump(tx, 'key', before.hash), await bump(tx, 'key', born.hash)]
  return ok({ value: { apiKey, key: born.key, previous: { hash: before.hash, expiresAt: endsAt } }, changes })
}

/**
 * Locks the workspace and the intern of a key until the transaction ends. @returns false when one of them is
 * gone
 */
async function holdOwners(
  tx: Transaction,
  { intern_id: internId, workspace_id: workspaceId }: KeyRow,
): Promise<boolean> {
  if (workspaceId !== null && !(await holdWorkspace(tx, workspaceId))) return false
  return internId === null || (await tx`SELECT 1 FROM interns WHERE id = ${internId} FOR SHARE`).length > 0
}

async function isLive(tx: Transaction, hash: string): Promise<boolean> {
  const rows =
    await tx`SELECT 1 FROM api_keys WHERE hash = ${hash} AND (expires_at IS NULL OR expires_at > clock_timestamp())`
  return rows.length > 0
}

/** Expiry of the newest key of the rotation: an older key may expire by the end of its overlap. */
async function expiryOf(tx: Transaction, accountId: string): Promise<Date | null> {
  const [newest] = await tx<{ expires_at: Date | null }[]>`
    SELECT expires_at FROM api_keys WHERE account_id = ${accountId} ORDER BY created_at DESC, hash LIMIT 1`
  return newest?.expires_at ?? null
}

async function endSoon(tx: Transaction, hash: string, overlapS: number): Promise<Date> {
  const [row] = await tx<{ expires_at: Date }[]>`
    UPDATE api_keys SET expires_at = LEAST(expires_at, clock_timestamp() + ${overlapS} * interval '1 second'), updated_at = clock_timestamp()
    WHERE hash = ${hash} RETURNING expires_at`
  if (row === undefined) throw new Error('a locked key no longer exists')
  return row.expires_at
}
