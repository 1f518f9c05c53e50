import type { Outcome } from '../../../schemas/failures.ts'
import type { ContainerRef } from '../files/storage.ts'

/** One row per container, written at most hourly: it decides when the container's files expire. */
export interface ContainerUses {
  /** Failure: store_unavailable, which callers that only read may ignore. */
  touch(workspaceId: string, containerId: string): Promise<Outcome<null>>
  /** Keyed by `containerId`; containers without a row are left out. */
  lastUses(workspaceId: string, containerIds: readonly string[]): Promise<Outcome<ReadonlyMap<string, Date>>>
  /** True when the workspace was deleted, so that its containers are no longer used. */
  isOfDeleted(workspaceId: string): Promise<Outcome<boolean>>
  /**
   * Runs the removal while no write can begin in the container, then also deletes the row of its use; a write
   * that has begun counts as a use. @returns null: the container was used since, or another process is
   * removing it. Failures: store_unavailable, and those of `remove`.
   */
  removal<T>(
    container: ContainerRef,
    unusedSince: Date,
    remove: () => Promise<Outcome<T>>,
  ): Promise<Outcome<T | null>>
}

export interface ClaimInput {
  readonly containerId: string
  /** A path as `parseContainerPath` returns it. */
  readonly path: string
  readonly sizeBytes: number
  readonly signal?: AbortSignal
}

/** A path that is claimed exclusively by one write. */
export interface PathClaim {
  readonly workspaceId: string
  readonly containerId: string
  readonly path: string
  readonly sizeBytes: number
  /** The fencing token: changes when another write claims the path. */
  readonly claimId: string
}

/** Bytes of the file at a path. */
export type Found = number | 'nothing'

export type CountedPath = Omit<PathClaim, 'sizeBytes'>

export interface DueInput {
  /** Milliseconds: paths counted longer ago than this are due, as are paths whose write never released them; null: only the latter. */
  readonly ageMs: number | null
  readonly container?: ContainerRef
  /** The last path of the previous page. */
  readonly after: CountedPath | null
  readonly countMax: number
}

/** Failures of all: store_unavailable. */
export interface ContainerSizes {
  /** @param found the content of the path now; `unknown`: the larger size counts until the sweep has checked */
  release(claim: PathClaim, found: Found | 'unknown'): Promise<Outcome<null>>
  /** Paths to be counted again, in the store's own order, without paths that a write holds now. */
  due(input: DueInput): Promise<Outcome<readonly CountedPath[]>>
  /** @returns true when the count changed; a path that was written after `due` is not changed */
  recount(path: CountedPath, found: Found): Promise<Outcome<boolean>>
}
