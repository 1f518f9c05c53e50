import { isId } from '../base/ids.ts'
import type { Transaction } from '../base/open.ts'

export interface InternOwner {
  readonly internId: string
  readonly organizationId: string
  readonly workspaceId: string
}

/**
 * Keeps an intern until the transaction ends: its removal waits, and then ends the keys that were made
 * meanwhile.
 * @param organizationId null = whichever it belongs to @returns null for what is none, or somebody else's
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
