/**
 * The owner of a piece of work. A resource is shared first among organizations, then among workspaces, then
 * among keys, since an organization can create any number of keys.
 */
export interface Caller {
  readonly organizationId: string
  readonly workspaceId: string
  /** Hash of the key; when several keys call together, the id of their common owner. */
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

/** The amounts of a resource that callers hold. Each organization, workspace and key has a maximum. */
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

  /** @param more below 0: the amount that the caller returns */
  add(more: number, { organizationId, workspaceId, key }: Caller): void {
    this.organizations.add(more, organizationId)
    this.workspaces.add(more, workspaceId)
    this.keys.add(more, key)
  }
}

/**
 * Idle holders that are kept in addition to half of all holders. If a map's only holder were removed after
 * each call and added again at the next, the map would rebuild its table each time: half a kilobyte of
 * garbage per call.
 */
const IDLE_HOLDERS_MIN = 64

/** The amounts of holders of one kind; all have the same maximum. */
export class Shares {
  readonly #most: number
  readonly #heldBy = new Map<string, number>()
  /** Number of holders in the map with an amount of 0. */
  #idle = 0

  constructor(most: number) {
    this.#most = most
  }

  /** Number of names in memory: those of all holders and of some idle ones. */
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

  /** Removes idle holders, since names of former callers must not be kept forever. */
  #forgetIdle(): void {
    for (const [name, held] of this.#heldBy) if (held === 0) this.#heldBy.delete(name)
    this.#idle = 0
  }
}
