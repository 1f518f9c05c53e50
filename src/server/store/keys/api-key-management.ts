import type { Caps } from '../../../schemas/operator/caps.ts'
import { keptBurst } from '../../../schemas/values/rate-burst.ts'
import { fail, ok, type Outcome } from '../../../schemas/failures.ts'
import { KEYS_PAGE } from '../../../schemas/keys/key-limits.ts'
import type {
  ApiKeys,
  KeyActor,
  KeyChanges,
  KeyPageInput,
  KeyRef,
  MadeKey,
  ManagedKey,
  NewApiKey,
  RotatedKey,
  Rotation,
} from '../../ports/keys/api-keys.ts'
import type { Hints } from '../../ports/keys/keys.ts'
import { appendAudit } from '../base/append-audit.ts'
import { holdRoom } from '../base/caps.ts'
import { bump } from '../base/epoch.ts'
import type { Queryable, Store, Transaction } from '../base/open.ts'
import { reach } from '../base/translate.ts'
import { findWorkspace, holdWorkspace } from '../base/find-workspace.ts'
import { keyEvent, rotationEvent } from './key-audit.ts'
import { bearKey, bearSuccessor, burstRefusal, type KeyBirth } from './key-births.ts'
import { setKeyLimit, tellOfLimits } from './key-limits.ts'
import {
  findKey,
  findKeyRow,
  type KeyRow,
  managedKeysOf,
  placedKeys,
  type PlacedRow,
  findLocked,
  type KeyResult,
  lookAt,
} from './key-rows.ts'
import { holdIntern } from '../workspaces/interns.ts'

export interface ApiKeyDeps {
  readonly store: Store
  /** Informs the fronts immediately; the epoch informs them in any case. */
  readonly publish: Hints['publish']
  /** Rate limit of keys that are created without one; null = no limit. */
  readonly rateLimitRpm: number | null
}

export function openApiKeys({ store, publish, rateLimitRpm }: ApiKeyDeps): ApiKeys {
  const change = async <T>(
    work: (tx: Transaction) => Promise<Outcome<KeyResult<T>>>,
  ): Promise<Outcome<T>> => {
    const done = await reach(() => store.sql.begin<Outcome<KeyResult<T>>>(work))
    if (!done.ok) return done
    await Promise.all(done.value.changes.map(publish))
    return ok(done.value.value)
  }
  return {
    list: (input) => reach(() => list(store.sql, input)),
    get: (ref) =>
      reach(async () => {
        const key = await findKey(store.sql, ref)
        return key === null ? UNKNOWN : ok(key)
      }),
    create: (input, by) =>
      change((tx) => create(tx, { rateLimitRpm, caps: store.options.caps, ...input }, by)),
    update: (ref, changes, by) => change((tx) => update(tx, { ref, changes, by })),
    remove: (ref, by) => change((tx) => remove(tx, ref, by)),
    rotate: (ref, rotation, by) =>
      change((tx) => rotateKey(tx, { ref, rotation, by, caps: store.options.caps })),
  }
}

const UNKNOWN = fail('api_key_unknown')

async function list(sql: Queryable, input: KeyPageInput): Promise<Outcome<readonly ManagedKey[]>> {
  const { organizationId, includesDisabled, offset } = input
  const place = input.workspace === null ? null : await findWorkspace(sql, input.workspace, organizationId)
  if (place !== null && !place.ok) return place
  const rows = await sql<PlacedRow[]>`
    ${placedKeys(sql)} WHERE k.revoked_at IS NULL
      AND ${organizationId === null ? sql`true` : sql`k.organization_id = ${organizationId}`}
      AND ${place === null ? sql`true` : sql`COALESCE(k.workspace_id, d.id) = ${place.value.id}`}
      AND ${includesDisabled ? sql`true` : sql`NOT k.is_disabled`}
    ORDER BY k.created_at DESC, k.hash LIMIT ${KEYS_PAGE} OFFSET ${offset}`
  return ok(await managedKeysOf(sql, rows))
}

type Birth = NewApiKey & { readonly rateLimitRpm: number | null; readonly caps: Caps | undefined }

async function create(tx: Transaction, input: Birth, by: KeyActor): Promise<Outcome<KeyResult<MadeKey>>> {
  const {
    kind,
    name,
    organizationId: _organizationId,
    rateLimitRpm,
    expiresAt,
    isDisabled = false,
    workspace: _workspace,
    internId: _internId,
    caps,
    ...traits
  } = input
  const wrong = burstRefusal(input.rateLimitBurst, rateLimitRpm)
  if (wrong !== null) return wrong
  const owner = await ownerOf(tx, input)
  if (!owner.ok) return owner
  const { organizationId } = owner.value
  const room = await holdRoom(tx, { organizationId, what: 'api_keys' }, caps)
  if (!room.ok) return room
  const { hash, key } = await bearKey(tx, {
    kind,
    name,
    ...owner.value,
    rateLimitRpm,
    expiresAt,
    isDisabled,
    traits,
  })
  const apiKey = await lookAt(tx, hash)
  await appendAudit(tx, keyEvent(by, { before: null, after: apiKey }))
  return ok({ value: { apiKey, key }, changes: [await bump(tx, 'key', hash)] })
}

type Owner = Pick<KeyBirth, 'organizationId' | 'workspaceId' | 'internId'>

/**
 * The workspace and the intern of a new key, both locked until the transaction ends. Failures:
 * workspace_unknown, intern_unknown.
 */
async function ownerOf(
  tx: Transaction,
  { organizationId, workspace, internId }: NewApiKey,
): Promise<Outcome<Owner>> {
  if (internId !== null) {
    const intern = await holdIntern(tx, { internId, organizationId })
    return intern === null ? fail('intern_unknown') : ok(intern)
  }
  if (organizationId === null) return fail('organization_unknown')
  if (workspace === null) return ok({ organizationId, workspaceId: null, internId: null })
  const place = await findWorkspace(tx, workspace, organizationId)
  if (!place.ok) return place
  return (await holdWorkspace(tx, place.value.id))
    ? ok({ organizationId, workspaceId: place.value.id, internId: null })
    : fail('workspace_unknown')
}

interface Update {
  readonly ref: KeyRef
  readonly changes: KeyChanges
  readonly by: KeyActor
}

async function update(
  tx: Transaction,
  { ref, changes, by }: Update,
): Promise<Outcome<KeyResult<ManagedKey>>> {
  const found = await findLocked(tx, ref)
  if (found === null) return UNKNOWN
  const { accountId, key: before } = found
  const {
    name,
    isDisabled,
    rateLimitRpm,
    rateLimitBurst,
    allowedModels,
    scopes,
    limitNano,
    limitReset,
    countsByok,
  } = {
    ...before,
    ...changes,
  }
  if (before.kind === 'management' && scopes !== null) return fail('key_unscoped')
  const wrong = burstRefusal(changes.rateLimitBurst, rateLimitRpm)
  if (wrong !== null) return wrong
  const callLimits = { ...before.callLimits, ...changes.callLimits }
  await tx`
    UPDATE api_keys SET ${tx({
      name,
      is_disabled: isDisabled,
      rate_limit_rpm: rateLimitRpm,
      rate_limit_burst: keptBurst(rateLimitBurst, rateLimitRpm),
      call_limits: tx.json(callLimits),
      allowed_models: allowedModels === null ? null : tx.json([...allowedModels]),
      scopes: scopes === null ? null : tx.json([...scopes]),
    })}, updated_at = clock_timestamp() WHERE hash = ${ref.hash}`
  const areLimits =
    limitNano !== before.limitNano || limitReset !== before.limitReset || countsByok !== before.countsByok
  if (areLimits) await setKeyLimit(tx, accountId, { limitNano, limitReset, countsByok })
  const after = await lookAt(tx, ref.hash)
  await appendAudit(tx, keyEvent(by, { before, after }))
  const invalidations = areLimits ? await tellOfLimits(tx, accountId) : []
  // An expired key is not listed among the keys of the account, but here it is the changed key.
  const isIncluded = invalidations.some(({ id }) => id === ref.hash)
  return ok({
    value: after,
    changes: isIncluded ? invalidations : [...invalidations, await bump(tx, 'key', ref.hash)],
  })
}

async function remove(tx: Transaction, ref: KeyRef, by: KeyActor): Promise<Outcome<KeyResult<null>>> {
  const before = await findKey(tx, ref)
  if (before === null) return UNKNOWN
  const { count } =
    await tx`UPDATE api_keys SET revoked_at = clock_timestamp() WHERE hash = ${ref.hash} AND revoked_at IS NULL`
  if (count === 0) return UNKNOWN
  await appendAudit(tx, keyEvent(by, { before, after: null }))
  return ok({ value: null, changes: [await bump(tx, 'key', ref.hash)] })
}

interface RotationInput {
  readonly ref: KeyRef
  readonly rotation: Rotation
  readonly by: KeyActor
  readonly caps?: Caps | undefined
}

/**
 * Creates a successor of a key with the same account, so that usage and limit continue; both keys work until
 * the older one expires. Failures: api_key_unknown, quota_exceeded.
 */
async function rotateKey(
  tx: Transaction,
  { ref, rotation, by, caps }: RotationInput,
): Promise<Outcome<KeyResult<RotatedKey>>> {
  // The removal of a workspace locks the workspace before its interns, and the interns before their keys. A
  // rotation must use the same order.
  const seen = await findKeyRow(tx, ref)
  const found = seen !== null && (await holdOwners(tx, seen)) ? await findLocked(tx, ref) : null
  if (found === null || !(await isLive(tx, ref.hash))) return UNKNOWN
  const { accountId, key: before } = found
  const expiresAt = rotation.expiresAt === undefined ? await expiryOf(tx, accountId) : rotation.expiresAt
  const { kind, name, organizationId, workspaceId, internId, rateLimitRpm, isDisabled } = before
  // Without an overlap there is never an additional key, so an organization at its cap can still replace a lost key.
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

/** Locks the workspace and the intern of a key until the transaction ends. @returns false when one of them no longer exists */
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
