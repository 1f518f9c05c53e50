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

/**
 * Holders of nothing that are kept beyond half of all holders. A map from which the only holder of a moment
 * goes, to come back with its next call, rebuilds its table each time: half a kilobyte of garbage a call.
 */
const IDLE_HOLDERS_MIN = 64

/** The amounts that holders of one kind have, each up to the same maximum. */
export class Shares {
  readonly #most: number
  readonly #heldBy = new Map<string, number>()
  /** Holders of nothing in the map. */
  #idle = 0

  constructor(most: number) {
    this.#most = most
  }

  /** Names in memory, those of holders and some of others. */
  get names(): number {
    return this.#heldBy.size
  }

  heldBy(name: string): number {
    return this.#heldBy.get(name) ?? 0
  }

  fits(more: number, name: string): boolean {
    return this.heldBy(name) + more <= this.#most
  }

  add(more: number, name: string): void {
    const before = this.#heldBy.get(name)
    const held = Math.max(0, (before ?? 0) + more)
    this.#heldBy.set(name, held)
    if (before === 0) this.#idle--
    if (held > 0) return
    this.#idle++
    if (this.#idle > IDLE_HOLDERS_MIN + this.#heldBy.size / 2) this.#forgetIdle()
  }

  /** The names of callers who left must not stay for ever. */
  #forgetIdle(): void {
    for (const [name, held] of this.#heldBy) if (held === 0) this.#heldBy.delete(name)
    this.#idle = 0
  }
}
