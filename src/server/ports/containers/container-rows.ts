import type { Outcome } from '../../../schemas/failures.ts'
import type { ContainerRef } from '../files/storage.ts'

/** One row per container, written at most hourly: it decides when the container's files are old. C10. */
export interface ContainerUses {
  /** Failure: store_unavailable, which a read may ignore. */
  touch(workspaceId: string, containerId: string): Promise<Outcome<null>>
  /** The last use of each container that has a row, by `containerId`. */
  lastUses(workspaceId: string, containerIds: readonly string[]): Promise<Outcome<ReadonlyMap<string, Date>>>
  /** The workspace was deleted: nobody uses a container of it any more. */
  isOfDeleted(workspaceId: string): Promise<Outcome<boolean>>
  /**
   * Runs the removal of a container while no write can begin in it, and forgets its use. A write that has
   * begun is a use.
   * @returns null when the container was used since, or another removal is at it. Failures:
   * store_unavailable, and those of `remove`.
   */
  removal<T>(
    container: ContainerRef,
    unusedSince: Date,
    remove: () => Promise<Outcome<T>>,
  ): Promise<Outcome<T | null>>
}

/** Where a container file is, and its size. */
export interface ClaimInput {
  readonly containerId: string
  /** As `parseContainerPath` gives it. */
  readonly path: string
  readonly sizeBytes: number
  readonly signal?: AbortSignal
}

/** A path that is one write's. */
export interface PathClaim {
  readonly workspaceId: string
  readonly containerId: string
  readonly path: string
  readonly sizeBytes: number
  /** The fencing token: another one when somebody else had the path since. */
  readonly claimId: string
}

/** What lies at a path: a file of so many bytes, or nothing. */
export type Found = number | 'nothing'

/** A path that is counted, as the sweep saw it. */
export type CountedPath = Omit<PathClaim, 'sizeBytes'>

export interface DueInput {
  /** Paths that were last counted so long ago, beside those that a write has left open; null: only these. */
  readonly ageMs: number | null
  /** Only paths of that one. */
  readonly container?: ContainerRef
  /** The last path of the page before. */
  readonly after: CountedPath | null
  readonly countMax: number
}

/** What the workspace's quota counts for container files. Failures of all: store_unavailable. */
export interface ContainerSizes {
  /**
   * Ends a write. @param found what lies at the path now; when that is not known, the larger size stays until
   * the sweep has looked
   */
  release(claim: PathClaim, found: Found | 'unknown'): Promise<Outcome<null>>
  /** Paths to be counted again, none of which a write has now, in an order of the store's own. */
  due(input: DueInput): Promise<Outcome<readonly CountedPath[]>>
  /**
   * @param found what lay there after `due`. @returns whether the count was another one; a write since is
   * left alone
   */
  recount(path: CountedPath, found: Found): Promise<Outcome<boolean>>
}
