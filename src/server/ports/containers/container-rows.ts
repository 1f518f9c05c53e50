import type { Outcome } from '../../../schemas/failures.ts'
import type { ContainerRef } from '../files/storage.ts'

/** One row per container, written at most hourly: it decides when the container's files are old. */
export interface ContainerUses {
  /** Failure: store_unavailable, which a read may ignore. */
  touch(workspaceId: string, containerId: string): Promise<Outcome<null>>
  /** The last use of each container that has a row, by `containerId`. */
  lastUses(workspaceId: string, containerIds: readonly string[]): Promise<Outcome<ReadonlyMap<string, Date>>>
  /** Whether the workspace was deleted, so that its containers are used no more. */
  isOfDeleted(workspaceId: string): Promise<Outcome<boolean>>
  /**
   * Runs the removal of a container while no write can begin in it, and removes the row of its use. A write
   * that has begun is a use.
   * @returns null when the container was used since, or another removal works on it. Failures:
   * store_unavailable, and those of `remove`.
   */
  removal<T>(
    container: ContainerRef,
    unusedSince: Date,
    remove: () => Promise<Outcome<T>>,
  ): Promise<Outcome<T | null>>
}

/** The path and size of a container file. */
export interface ClaimInput {
  readonly containerId: string
  /** A path as `parseContainerPath` returns it. */
  readonly path: string
  readonly sizeBytes: number
  readonly signal?: AbortSignal
}

/** A path that one write holds alone. */
export interface PathClaim {
  readonly workspaceId: string
  readonly containerId: string
  readonly path: string
  readonly sizeBytes: number
  /** The fencing token: changes when another write took the path. */
  readonly claimId: string
}

/** The content of a path: a file of so many bytes, or nothing. */
export type Found = number | 'nothing'

/** A counted path, as the sweep saw it. */
export type CountedPath = Omit<PathClaim, 'sizeBytes'>

export interface DueInput {
  /**
   * Milliseconds: paths that were last counted longer ago are due, in addition to paths that a write has left
   * open; null: only the latter.
   */
  readonly ageMs: number | null
  /** Only paths of this container. */
  readonly container?: ContainerRef
  /** The last path of the previous page. */
  readonly after: CountedPath | null
  readonly countMax: number
}

/** The bytes that the workspace's quota counts for container files. Failures of all: store_unavailable. */
export interface ContainerSizes {
  /**
   * Ends a write. @param found the content of the path now; when it is unknown, the larger size stays until
   * the sweep has looked
   */
  release(claim: PathClaim, found: Found | 'unknown'): Promise<Outcome<null>>
  /** Paths to be counted again, in an order of the store's own; paths that a write holds now are left out. */
  due(input: DueInput): Promise<Outcome<readonly CountedPath[]>>
  /**
   * @param found the content of the path after `due`. @returns whether the count changed; a path that was
   * written since is left alone
   */
  recount(path: CountedPath, found: Found): Promise<Outcome<boolean>>
}
