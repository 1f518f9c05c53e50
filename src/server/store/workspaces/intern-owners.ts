import { isId } from '../base/ids.ts'
import type { Transaction } from '../base/open.ts'

export interface InternOwner {
  readonly internId: string
  readonly organizationId: string
  readonly workspaceId: string
}

/**
 * Locks an intern until the transaction ends: its removal waits, and then ends the keys that were made
 * meanwhile.
 * @param organizationId null = any organization @returns null for an intern that is unknown or of another
 * organization
 */
export async function holdIntern(
  tx: Transaction,
  { internId, organizationId }: { readonly internId: string; readonly organizationId: string | null },
): Promise<InternOwner | null> {
  if (!isId(internId)) return null
  const [intern] = await tx<InternOwner[]>`
    SELECT id AS "internId", organization_id AS "organizationId", workspace_id AS "workspaceId" FROM interns
    WHERE id = ${internId} AND ${organizationId === null ? tx`true` : tx`organization_id = ${organizationId}`} FOR SHARE`
  return intern ?? null
}
