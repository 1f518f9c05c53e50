import { organizationAccount } from '../../../schemas/money/accounts.ts'
import { fail, ok, type Outcome } from '../../../schemas/failures.ts'
import type { Workspace, WorkspaceActor } from '../../ports/workspaces/workspaces.ts'
import { bearAccount } from '../money/accounts.ts'
import { appendAudit } from '../base/append-audit.ts'
import { isId, newId } from '../base/ids.ts'
import { organizationUnknown } from '../base/near-names.ts'
import type { Queryable, Store, Transaction } from '../base/open.ts'
import { reach } from '../base/translate.ts'
import { workspaceEvent } from '../base/workspace-rows.ts'
import { insertWorkspace } from './workspaces.ts'

export interface Organization {
  readonly id: string
  readonly name: string
  readonly createdAt: Date
}

export interface NewOrganization {
  readonly organization: Organization
  /** The organization's workspace `default`, made with it. */
  readonly workspace: Workspace
}

/**
 * Makes an organization with its account and its workspace `default`.
 * @param by null: without an audit event, as at a node's first start. Failures: store_unavailable.
 */
export function createOrganization(
  store: Store,
  { name }: { readonly name: string },
  by: WorkspaceActor | null = null,
): Promise<Outcome<NewOrganization>> {
  return reach(() =>
    store.sql.begin(async (tx) => {
      const made = await insertOrganization(tx, name, by)
      const {
        organization: { id },
        workspace,
      } = made
      if (by !== null) {
        await appendAudit(
          tx,
          {
            ...by,
            organizationId: id,
            workspaceId: null,
            outcome: 'changed',
            objectKind: 'organization',
            objectId: id,
            before: null,
            after: { name },
          },
          workspaceEvent(by, { before: null, after: workspace }),
        )
      }
      return ok(made)
    }),
  )
}

/** Oldest first. Failures: store_unavailable. */
export function listOrganizations(store: Store): Promise<Outcome<readonly Organization[]>> {
  return reach(async () => {
    const rows = await store.sql<
      OrganizationRow[]
    >`SELECT id, name, created_at FROM organizations ORDER BY id`
    return ok(rows.map(organizationOf))
  })
}

/**
 * Finds an organization by UUID or name; without a reference, the only organization. Failures:
 * organization_unknown, reference_ambiguous.
 */
export async function findOrganization(
  sql: Queryable,
  reference: string | null,
): Promise<Outcome<Organization>> {
  const where =
    reference === null ? sql`true` : isId(reference) ? sql`id = ${reference}` : sql`name = ${reference}`
  const rows = await sql<
    OrganizationRow[]
  >`SELECT id, name, created_at FROM organizations WHERE ${where} ORDER BY id LIMIT ${AMBIGUOUS_NAMED_MAX + 1}`
  const [row] = rows
  if (row === undefined) return organizationUnknown(sql, reference)
  return rows.length > 1 ? ambiguous(rows) : ok(organizationOf(row))
}

/** Organizations that the message about an ambiguous reference names. Decision. */
const AMBIGUOUS_NAMED_MAX = 5

/** Only for the command line and the operator's settings, since the message names organizations. */
function ambiguous(rows: readonly OrganizationRow[]): ReturnType<typeof fail> {
  const names = rows
    .slice(0, AMBIGUOUS_NAMED_MAX)
    .map(({ id, name }) => `${id} (${name})`)
    .join(', ')
  return fail('reference_ambiguous', {
    fields: AMBIGUOUS,
    detail: `The organizations are ${names}${rows.length > AMBIGUOUS_NAMED_MAX ? ' and more' : ''}.`,
  })
}

const AMBIGUOUS = { what: 'organizations', remedy: 'name an organization by its id with --organization' }

export async function insertOrganization(
  tx: Transaction,
  name: string,
  by: WorkspaceActor | null = null,
): Promise<NewOrganization> {
  const id = newId()
  const [row] = await tx<OrganizationRow[]>`
    INSERT INTO organizations (id, name) VALUES (${id}, ${name}) RETURNING id, name, created_at`
  if (row === undefined) throw new Error('the insert returned nothing')
  await bearAccount(tx, { id: organizationAccount(id), ownerKind: 'organization', organizationId: id })
  const workspace = await insertWorkspace(
    tx,
    { organizationId: id, name: 'Default', slug: 'default', isDefault: true },
    by,
  )
  return { organization: organizationOf(row), workspace }
}

interface OrganizationRow {
  readonly id: string
  readonly name: string
  readonly created_at: Date
}

function organizationOf(row: OrganizationRow): Organization {
  return { id: row.id, name: row.name, createdAt: row.created_at }
}
