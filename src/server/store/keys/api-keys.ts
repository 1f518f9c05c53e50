import type { KeyKind } from '../../../schemas/keys/api-keys.ts'
import { limitsOfCalls, type CallLimits } from '../../../schemas/limits/model-calls.ts'
import { keptBurst } from '../../../schemas/values/rate-burst.ts'
import { fail, ok, type Outcome } from '../../../schemas/failures.ts'
import { KEY_LOAD_MS_MAX } from '../../../schemas/keys/key-limits.ts'
import type { ManagedKey } from '../../ports/keys/api-keys.ts'
import type { Invalidation, KeyRecord, KeyStore } from '../../ports/keys/keys.ts'
import type { ChangedBy } from '../../ports/vault/vault.ts'
import { appendAudit } from '../base/append-audit.ts'
import { bump } from '../base/epoch.ts'
import { keyEvent } from './key-audit.ts'
import { bearKey, type KeyTraits } from './key-births.ts'
import { findKey, type KeyRow, lookAt } from './key-rows.ts'
import type { Queryable, Store, Transaction } from '../base/open.ts'
import { reach } from '../base/translate.ts'

export interface KeyInput {
  readonly kind: 'inference' | 'management'
  readonly name: string
  readonly organizationId: string
  /** Null for management keys. */
  readonly workspaceId: string | null
  readonly rateLimitRpm: number | null
  readonly expiresAt: Date | null
  readonly traits?: KeyTraits
}

export interface CreatedKey {
  readonly apiKey: ManagedKey
  /** The plain key: Sluice keeps no copy and never shows it again. */
  readonly key: string
  /** To be published as a hint, since fronts may have cached the hash as unknown. */
  readonly change: Invalidation
}

/** The key store of fronts. Failures: store_unavailable. */
export function openKeyStore(store: Store): KeyStore {
  return {
    load: (hashes) =>
      reach(async () => ok(await store.within(KEY_LOAD_MS_MAX, (sql) => loadKeys(sql, hashes)))),
  }
}

/**
 * Revokes a key permanently, and writes the audit log. A second call changes nothing, but informs caches
 * again.
 * @returns the invalidation to publish as a hint. Failures: api_key_unknown, store_unavailable.
 */
export function revokeKey(store: Store, hash: string, by: ChangedBy): Promise<Outcome<Invalidation>> {
  return reach(async () => {
    const change = await store.sql.begin(async (tx) => {
      const before = await findKey(tx, { organizationId: null, hash })
      if (before !== null)
        await appendAudit(tx, keyEvent({ ...by, operation: 'cli.keys-revoke' }, { before, after: null }))
      return endKey(tx, hash)
    })
    return change === null ? fail('api_key_unknown') : ok(change)
  })
}

/** Creates a key of the first organization, without an audit event. */
export async function insertKey(tx: Transaction, input: KeyInput): Promise<CreatedKey> {
  const { hash, key } = await bearKey(tx, { ...input, internId: null })
  return { apiKey: await lookAt(tx, hash), key, change: await bump(tx, 'key', hash) }
}

/** Revokes a key in a caller's transaction. @returns null for an unknown key */
export async function endKey(tx: Transaction, hash: string): Promise<Invalidation | null> {
  const { count } =
    await tx`UPDATE api_keys SET revoked_at = coalesce(revoked_at, now()) WHERE hash = ${hash}`
  return count === 0 ? null : bump(tx, 'key', hash)
}

async function loadKeys(sql: Queryable, hashes: readonly string[]): Promise<readonly KeyRecord[]> {
  // The hashes are sent as one text, so that one prepared statement serves any number of them; the client cannot
  // send arrays without knowing their types.
  const hashList = hashes.join(',')
  const rows = await sql<LoadedRow[]>`
    SELECT k.*, d.id AS default_workspace_id, w.is_in_programme, w.may_write_vault,
      w.call_limits AS workspace_call_limits,
      wa.counts_byok AS workspace_counts_byok, coalesce(ka.counts_byok, false) AS key_counts_byok,
      EXISTS (SELECT FROM account_limits WHERE account_id = 'o' || k.organization_id) AS is_credit_limited,
      EXISTS (SELECT FROM account_limits WHERE account_id = wa.id) AS is_workspace_limited,
      EXISTS (SELECT FROM account_limits WHERE account_id = ka.id) AS is_key_limited
    FROM (
      SELECT hash, kind, name, organization_id, workspace_id, intern_id, rate_limit_rpm, rate_limit_burst, is_disabled, expires_at,
        allowed_models, scopes, account_id, call_limits
      FROM api_keys WHERE hash = ANY(string_to_array(${hashList}, ',')) AND revoked_at IS NULL
      UNION ALL
      SELECT hash, 'scim', name, organization_id, NULL, NULL, NULL, NULL, false, expires_at, NULL, NULL, 'o' || organization_id, '{}'
      FROM scim_tokens WHERE hash = ANY(string_to_array(${hashList}, ',')) AND revoked_at IS NULL
    ) k
    JOIN workspaces d ON d.organization_id = k.organization_id AND d.is_default AND d.deleted_at IS NULL
    JOIN workspaces w ON w.id = COALESCE(k.workspace_id, d.id) AND w.deleted_at IS NULL
    JOIN accounts wa ON wa.id = 'w' || w.id
    LEFT JOIN accounts ka ON ka.id = k.account_id`
  return rows.map(keyRecordOf)
}

function keyRecordOf(row: LoadedRow): KeyRecord {
  return {
    hash: row.hash,
    kind: row.kind,
    name: row.name,
    organizationId: row.organization_id,
    workspaceId: row.workspace_id,
    defaultWorkspaceId: row.default_workspace_id,
    internId: row.intern_id,
    rateLimitRpm: row.rate_limit_rpm,
    rateLimitBurst: keptBurst(row.rate_limit_burst, row.rate_limit_rpm),
    callLimits: limitsOfCalls(row.call_limits, row.workspace_call_limits),
    isDisabled: row.is_disabled,
    isInProgramme: row.is_in_programme,
    mayWriteVault: row.may_write_vault,
    expiresAtMs: row.expires_at?.getTime() ?? null,
    allowedModels: row.allowed_models,
    scopes: row.scopes,
    money: {
      accountId: row.account_id,
      isCreditLimited: row.is_credit_limited,
      isWorkspaceLimited: row.is_workspace_limited,
      isKeyLimited: row.is_key_limited,
      workspaceCountsByok: row.workspace_counts_byok,
      keyCountsByok: row.key_counts_byok,
    },
  }
}

type LoadedRow = Pick<
  KeyRow,
  | 'hash'
  | 'name'
  | 'organization_id'
  | 'workspace_id'
  | 'intern_id'
  | 'rate_limit_rpm'
  | 'rate_limit_burst'
  | 'is_disabled'
  | 'expires_at'
  | 'allowed_models'
  | 'scopes'
  | 'account_id'
  | 'call_limits'
> & {
  readonly kind: KeyKind
  readonly default_workspace_id: string
  readonly is_in_programme: boolean
  readonly may_write_vault: boolean
  readonly workspace_call_limits: Partial<CallLimits>
  readonly workspace_counts_byok: boolean
  readonly key_counts_byok: boolean
  readonly is_credit_limited: boolean
  readonly is_workspace_limited: boolean
  readonly is_key_limited: boolean
}
