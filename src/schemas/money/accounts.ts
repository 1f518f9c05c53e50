/**
 * Ids of the accounts that calls are paid from: one letter for the kind of its owner, and the owner. Design
 * §6.
 */

/** Whose money: the credit of an organization, the budgets of a workspace, the limit of a key. */
export type AccountKind = 'organization' | 'workspace' | 'key'

export function organizationAccount(organizationId: string): string {
  return `o${organizationId}`
}

export function workspaceAccount(workspaceId: string): string {
  return `w${workspaceId}`
}

/** @param hash of the first key of its rotation */
export function keyAccount(hash: string): string {
  return `k${hash}`
}
