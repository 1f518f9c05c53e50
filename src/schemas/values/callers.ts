/**
 * The owner of a piece of work. Organizations share a resource first, then workspaces, then keys: an
 * organization can create any number of keys.
 */
export interface Caller {
  readonly organizationId: string
  readonly workspaceId: string
  /** Hash of the key; when several keys ask together, the id of their common owner. */
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
