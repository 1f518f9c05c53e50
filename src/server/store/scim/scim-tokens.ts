import { labelOf, newApiKey } from '../../../schemas/keys/api-keys.ts'
import { fail, ok, type Outcome } from '../../../schemas/failures.ts'
import type { AuditEvent } from '../../ports/audit/audit.ts'
import type { Invalidation } from '../../ports/keys/keys.ts'
import type { ChangedBy } from '../../ports/vault/vault.ts'
import { appendAudit } from '../base/append-audit.ts'
import { bump } from '../base/epoch.ts'
import { isId, newId } from '../base/ids.ts'
import type { Store, Transaction } from '../base/open.ts'
import { reach } from '../base/translate.ts'
import { SCIM_TOKENS_MAX } from '../../../schemas/scim/scim-limits.ts'

/** A bearer token of an identity provider, which acts for an organization below `/scim/v2` and nowhere else. */
export interface ScimToken {
  readonly id: string
  readonly organizationId: string
  readonly name: string
  readonly label: string
  /** Hash of the token, by which the audit log names it. */
  readonly hash: string
  /** Name of the system's user who made the token; null where there was none. */
  readonly createdBy: string | null
  readonly createdAt: Date
  readonly expiresAt: Date | null
}

export type ScimTokenInput = Pick<ScimToken, 'organizationId' | 'name' | 'expiresAt'>

export interface CreatedScimToken {
  readonly token: ScimToken
  /** The plain token: Sluice keeps no copy and never shows it again. */
  readonly key: string
  /** To be published as a hint, since fronts may have cached the hash as unknown. */
  readonly change: Invalidation
}

/** Makes a token, and writes the audit log. Failures: organization_unknown, scim_tokens_full, store_unavailable. */
export function createScimToken(
  store: Store,
  input: ScimTokenInput,
  by: ChangedBy,
): Promise<Outcome<CreatedScimToken>> {
  return reach(() =>
    store.sql.begin(async (tx) => {
      const { organizationId, name, expiresAt } = input
      const room = await lockRoom(tx, organizationId)
      if (!room.ok) return room
      const { key, hash } = newApiKey('scim')
      const [row] = await tx<TokenRow[]>`
      INSERT INTO scim_tokens (id, organization_id, hash, name, label, created_by, expires_at)
      VALUES (${newId()}, ${organizationId}, ${hash}, ${name}, ${labelOf(key)}, ${by.actor.id}, ${expiresAt}) RETURNING *`
      if (row === undefined) throw new Error('the insert returned nothing')
      const token = tokenOf(row)
      await appendAudit(
        tx,
        eventOf(
          { ...by, operation: 'cli.scim-tokens-create' },
          { token, before: null, after: toAudit(token) },
        ),
      )
      return ok({ token, key, change: await bump(tx, 'key', hash) })
    }),
  )
}

/** Tokens that were not revoked, of one organization or of all; newest first. Failures: store_unavailable. */
export function listScimTokens(
  store: Store,
  organizationId: string | null,
): Promise<Outcome<readonly ScimToken[]>> {
  return reach(async () => {
    const { sql } = store
    const rows = await sql<TokenRow[]>`
      SELECT * FROM scim_tokens WHERE revoked_at IS NULL
        AND ${organizationId === null ? sql`true` : sql`organization_id = ${organizationId}`} ORDER BY id DESC`
    return ok(rows.map(tokenOf))
  })
}

/**
 * Ends a token permanently, and writes the audit log. A second call changes nothing, but informs caches again.
 * @returns the invalidation to publish as a hint. Failures: scim_token_unknown, store_unavailable.
 */
export function revokeScimToken(store: Store, id: string, by: ChangedBy): Promise<Outcome<Invalidation>> {
  return reach(() =>
    store.sql.begin(async (tx) => {
      if (!isId(id)) return fail('scim_token_unknown')
      const [row] = await tx<TokenRow[]>`SELECT * FROM scim_tokens WHERE id = ${id} FOR UPDATE`
      if (row === undefined) return fail('scim_token_unknown')
      if (row.revoked_at === null) {
        await tx`UPDATE scim_tokens SET revoked_at = now() WHERE id = ${id}`
        const token = tokenOf(row)
        await appendAudit(
          tx,
          eventOf(
            { ...by, operation: 'cli.scim-tokens-revoke' },
            { token, before: toAudit(token), after: null },
          ),
        )
      }
      return ok(await bump(tx, 'key', row.hash))
    }),
  )
}

/** Locks the organization, so that concurrent creations run one after another and the count is that of the commit. */
async function lockRoom(tx: Transaction, organizationId: string): Promise<Outcome<null>> {
  const [organization] = await tx`SELECT FROM organizations WHERE id = ${organizationId} FOR NO KEY UPDATE`
  if (organization === undefined) return fail('organization_unknown')
  const [counted] = await tx<{ count: number }[]>`
    SELECT count(*)::int AS count FROM scim_tokens
    WHERE organization_id = ${organizationId} AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now())`
  return (counted?.count ?? 0) < SCIM_TOKENS_MAX
    ? ok(null)
    : fail('scim_tokens_full', { fields: { limit: SCIM_TOKENS_MAX } })
}

interface Change {
  readonly token: ScimToken
  readonly before: object | null
  readonly after: object | null
}

function eventOf(
  by: ChangedBy & { readonly operation: string },
  { token, before, after }: Change,
): AuditEvent {
  return {
    ...by,
    organizationId: token.organizationId,
    workspaceId: null,
    outcome: 'changed',
    objectKind: 'scim_token',
    objectId: token.id,
    before,
    after,
  }
}

function toAudit({ name, hash, expiresAt }: ScimToken): object {
  return { name, hash, expires_at: expiresAt?.toISOString() ?? null }
}

interface TokenRow {
  readonly id: string
  readonly organization_id: string
  readonly hash: string
  readonly name: string
  readonly label: string
  readonly created_by: string | null
  readonly created_at: Date
  readonly expires_at: Date | null
  readonly revoked_at: Date | null
}

function tokenOf(row: TokenRow): ScimToken {
  return {
    id: row.id,
    organizationId: row.organization_id,
    name: row.name,
    label: row.label,
    hash: row.hash,
    createdBy: row.created_by,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
  }
}
