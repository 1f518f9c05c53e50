/**
 * Whose work it is. What is shared is shared by organization, then by workspace, then by key: keys are free
 * to make.
 */
export interface Caller {
  readonly organizationId: string
  readonly workspaceId: string
  /** Hash of the key; where several keys ask together, the id of what they have in common. */
  readonly key: string
}

interface CallingKey {
  readonly hash: string
  readonly organizationId: string
  readonly workspaceId: string | null
  readonly defaultWorkspaceId: string
}

export function callerOf({ hash, organizationId, workspaceId, defaultWorkspaceId }: CallingKey): Caller {
  return { organizationId, workspaceId: workspaceId ?? defaultWorkspaceId, key: hash }
}
