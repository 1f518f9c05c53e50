import { newId } from './ids.ts'
import type { Transaction } from './open.ts'

/** What a purse draws on: `credit` of organizations, calendar spans of workspaces, `limit` of keys. Design §6. */
export interface Scope {
  readonly id: string
  readonly ownerKind: ScopeOwner
  readonly ownerId: string
  readonly span: ScopeSpan
  /** Whole nano-USD; null = no limit. */
  readonly limitNano: bigint | null
  readonly spentNano: bigint
  readonly lentNano: bigint
}

export type ScopeOwner = 'organization' | 'workspace' | 'key'
export type ScopeSpan = 'credit' | 'daily' | 'weekly' | 'monthly' | 'lifetime' | 'limit'

const SPANS: Readonly<Record<ScopeOwner, readonly ScopeSpan[]>> = {
  organization: ['credit'],
  workspace: ['daily', 'weekly', 'monthly', 'lifetime'],
  key: ['limit'],
}

interface ScopeRow {
  readonly id: string
  readonly owner_kind: ScopeOwner
  readonly owner_id: string
  readonly span: ScopeSpan
  readonly limit_nano: string | null
  readonly spent_nano: string
  readonly lent_nano: string
}

/** Makes all scope rows of a new owner, in the transaction that makes the owner: nobody ever finds one missing. */
export async function bearScopes(tx: Transaction, ownerKind: ScopeOwner, ownerId: string): Promise<void> {
  const rows = SPANS[ownerKind].map((span) => ({ id: newId(), owner_kind: ownerKind, owner_id: ownerId, span }))
  await tx`INSERT INTO scopes ${tx(rows)}`
}

/**
 * Locks scope rows until the transaction ends, and reads them. Every caller takes them in the order of their ids:
 * without it two refillers deadlock within a second. Design §6.
 * @returns the rows in the order of their ids; ids that do not exist are left out
 */
export async function lockScopes(tx: Transaction, ids: readonly string[]): Promise<readonly Scope[]> {
  if (ids.length === 0) return []
  const rows = await tx<ScopeRow[]>`SELECT * FROM scopes WHERE id IN ${tx(ids)} ORDER BY id FOR UPDATE`
  return rows.map(scopeOf)
}

/** Scopes of owners, for purses to name them. */
export async function scopesOf(tx: Transaction, ownerKind: ScopeOwner, ownerId: string): Promise<readonly Scope[]> {
  const rows = await tx<ScopeRow[]>`SELECT * FROM scopes WHERE owner_kind = ${ownerKind} AND owner_id = ${ownerId} ORDER BY id`
  return rows.map(scopeOf)
}

function scopeOf(row: ScopeRow): Scope {
  return {
    id: row.id,
    ownerKind: row.owner_kind,
    ownerId: row.owner_id,
    span: row.span,
    limitNano: row.limit_nano === null ? null : BigInt(row.limit_nano),
    spentNano: BigInt(row.spent_nano),
    lentNano: BigInt(row.lent_nano),
  }
}
