import { CAPPED, CAPPED_TEXTS, CAPS_DEFAULT, type Capped, type Caps } from '../../../schemas/operator/caps.ts'
import { fail, ok, type Outcome } from '../../../schemas/failures.ts'
import type { WorkspaceActor } from '../../ports/workspaces/workspaces.ts'
import { appendAudit } from './append-audit.ts'
import type { Queryable, Store, Transaction } from './open.ts'
import { reach } from './translate.ts'
import type { CapChanges, CapsState, OrganizationCaps } from '../../ports/operator/admin.ts'

/** First key of the advisory locks of caps, which have two keys. */
const LOCK_CLASS = 7_305_849

export interface Newcomers {
  readonly organizationId: string
  readonly what: Capped
  readonly more?: number
}

/**
 * Checks whether the organization may have more objects of a kind. Other transactions that check the same kind
 * wait until this one ends, so that they count its objects too. Must be the last lock of a transaction: no
 * transaction that holds it waits for a workspace, an intern or a vault. Failure: quota_exceeded.
 * @param byInstallation caps of the store
 */
export async function holdRoom(
  tx: Transaction,
  { organizationId, what, more = 1 }: Newcomers,
  byInstallation: Caps = CAPS_DEFAULT,
): Promise<Outcome<null>> {
  // The organization's row cannot serve as the lock: deleting a workspace locks that row before the workspace,
  // but creating keys locks the workspace first.
  await tx`SELECT pg_advisory_xact_lock(${LOCK_CLASS}::integer, hashtext(${organizationId}::uuid::text))`
  const own = await ownCaps(tx, organizationId)
  const limit = own?.[what] ?? byInstallation[what]
  const used = await countOf(tx, organizationId, what)
  if (used + more <= limit) return ok(null)
  return fail('quota_exceeded', {
    fields: { owner: 'organization', have: 'have', limit, unit: CAPPED_TEXTS[what] },
    metadata: { limit_source: `organization_${what}`, scope: 'organization', limit, spend: used },
  })
}

export function openCaps(store: Store): OrganizationCaps {
  return {
    read: (organizationId) =>
      reach(async () => {
        const own = await ownCaps(store.sql, organizationId)
        return own === null ? fail('organization_unknown') : ok(await stateOf(store, organizationId, own))
      }),
    update: (organizationId, changes, by) =>
      reach(async () => {
        const own = await store.sql.begin((tx) => write(tx, { organizationId, changes, by }))
        return own === null ? fail('organization_unknown') : ok(await stateOf(store, organizationId, own))
      }),
  }
}

type OwnCaps = Readonly<Partial<Record<Capped, number>>>

interface CapsRow {
  readonly caps: OwnCaps
}

async function ownCaps(sql: Queryable, organizationId: string): Promise<OwnCaps | null> {
  const [row] = await sql<CapsRow[]>`SELECT caps FROM organizations WHERE id = ${organizationId}`
  return row?.caps ?? null
}

interface Change {
  readonly organizationId: string
  readonly changes: CapChanges
  readonly by: WorkspaceActor
}

async function write(tx: Transaction, { organizationId, changes, by }: Change): Promise<OwnCaps | null> {
  const [row] = await tx<
    CapsRow[]
  >`SELECT caps FROM organizations WHERE id = ${organizationId} FOR NO KEY UPDATE`
  if (row === undefined) return null
  const all = Object.entries({ ...row.caps, ...changes })
  const after: OwnCaps = Object.fromEntries(all.filter(([, cap]) => cap !== null && cap !== undefined))
  await tx`UPDATE organizations SET caps = ${tx.json(after)} WHERE id = ${organizationId}`
  await appendAudit(tx, {
    ...by,
    organizationId,
    workspaceId: null,
    outcome: 'changed',
    objectKind: 'organization',
    objectId: organizationId,
    before: { caps: row.caps },
    after: { caps: after },
  })
  return after
}

async function stateOf(store: Store, organizationId: string, own: OwnCaps): Promise<CapsState> {
  const { caps = CAPS_DEFAULT } = store.options
  const states = await Promise.all(
    CAPPED.map(async (what) => {
      const used = await countOf(store.sql, organizationId, what)
      return [what, { cap: own[what] ?? caps[what], used, isOwn: own[what] !== undefined }] as const
    }),
  )
  // One state for each cap.
  return { organizationId, states: new Map(states) }
}

async function countOf(sql: Queryable, organizationId: string, what: Capped): Promise<number> {
  const [row] = await sql<
    { count: number }[]
  >`SELECT count(*)::int AS count FROM ${counted(sql, organizationId, what)} AS counted`
  return row?.count ?? 0
}

function counted(sql: Queryable, organizationId: string, what: Capped) {
  switch (what) {
    case 'workspaces':
      return sql`(SELECT 1 FROM workspaces WHERE organization_id = ${organizationId} AND deleted_at IS NULL)`
    case 'api_keys':
      return sql`(
      SELECT 1 FROM api_keys WHERE organization_id = ${organizationId} AND revoked_at IS NULL
        AND (expires_at IS NULL OR expires_at > clock_timestamp()))`
    case 'interns':
      return sql`(SELECT 1 FROM interns WHERE organization_id = ${organizationId})`
    case 'vaults':
      return sql`(SELECT 1 FROM vaults WHERE organization_id = ${organizationId} AND kind = 'attachable')`
    case 'secrets':
      return sql`(
      SELECT 1 FROM secrets s JOIN vaults v ON v.id = s.vault_id WHERE v.organization_id = ${organizationId} AND v.kind = 'attachable')`
    default:
      return what satisfies never
  }
}
