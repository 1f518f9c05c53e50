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

/** The amounts of a resource that callers hold. Organizations, workspaces and keys have a maximum each. */
export class CallerShares {
  readonly organizations: Shares
  readonly workspaces: Shares
  readonly keys: Shares

  constructor(most: { readonly organization: number; readonly workspace: number; readonly key: number }) {
    this.organizations = new Shares(most.organization)
    this.workspaces = new Shares(most.workspace)
    this.keys = new Shares(most.key)
  }

  fits(more: number, { organizationId, workspaceId, key }: Caller): boolean {
    return (
      this.organizations.fits(more, organizationId) &&
      this.workspaces.fits(more, workspaceId) &&
      this.keys.fits(more, key)
    )
  }

  /** @param more below 0: the caller gives so much back */
  add(more: number, { organizationId, workspaceId, key }: Caller): void {
    this.organizations.add(more, organizationId)
    this.workspaces.add(more, workspaceId)
    this.keys.add(more, key)
  }
}

/** The amounts that holders of one kind have, each up to the same maximum. */
export class Shares {
  readonly #most: number
  readonly #heldBy = new Map<string, number>()

  constructor(most: number) {
    this.#most = most
  }

  heldBy(name: string): number {
    return this.#heldBy.get(name) ?? 0
  }

  fits(more: number, name: string): boolean {
    return this.heldBy(name) + more <= this.#most
  }

  add(more: number, name: string): void {
    const held = this.heldBy(name) + more
    if (held > 0) this.#heldBy.set(name, held)
    else this.#heldBy.delete(name)
  }
}
