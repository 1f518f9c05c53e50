import { newId } from './ids.ts'
import type { Transaction } from './open.ts'

/** The workspace's own, an intern's own, or one that interns of the workspace may have attached. */
export type VaultKind = 'workspace' | 'intern' | 'attachable'

export interface NewVault {
  readonly organizationId: string
  readonly workspaceId: string
  readonly kind: VaultKind
  /** Of an attachable one, unique in its workspace; else null. */
  readonly name: string | null
}

/** Makes a vault without keys: they come with its first secret, so that this needs no root key. @returns its id */
export async function insertVault(tx: Transaction, { organizationId, workspaceId, kind, name }: NewVault): Promise<string> {
  const id = newId()
  await tx`
    INSERT INTO vaults (id, organization_id, workspace_id, kind, name)
    VALUES (${id}, ${organizationId}, ${workspaceId}, ${kind}, ${name})`
  return id
}
