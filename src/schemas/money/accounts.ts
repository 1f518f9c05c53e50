/** Ids of the accounts that pay for calls: a letter for the owner's kind, and the owner's id. Design §6. */

/** Kinds of accounts: the credit of an organization, the budgets of a workspace, the limit of a key. */
export type AccountKind = 'organization' | 'workspace' | 'key'

export function organizationAccount(organizationId: string): string {
  return `o${organizationId}`
}

export function workspaceAccount(workspaceId: string): string {
  return `w${workspaceId}`
}

/** @param hash of the first key of the rotation */
export function keyAccount(hash: string): string {
  return `k${hash}`
}
