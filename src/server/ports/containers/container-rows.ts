import type { Outcome } from '../../../schemas/failures.ts'
import type { ContainerRef } from '../files/storage.ts'

/** One row per container, written at most hourly: it decides when the container's files are old. */
export interface ContainerUses {
  /** Failure: store_unavailable, which a read may ignore. */
  touch(workspaceId: string, containerId: string): Promise<Outcome<null>>
  /** By `containerId`; containers without a row are left out. */
  lastUses(workspaceId: string, containerIds: readonly string[]): Promise<Outcome<ReadonlyMap<string, Date>>>
  /** Whether the workspace was deleted, so that its containers are used no more. */
  isOfDeleted(workspaceId: string): Promise<Outcome<boolean>>
  /**
   * Removes while no write can begin in the container, then also the row of its use; a write that has begun
   * is a use. @returns null: used since, or another removal works on it. Failures: store_unavailable, and
   * those of `remove`.
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

/** A path that one write holds alone. */
export interface PathClaim {
  readonly workspaceId: string
  readonly containerId: string
  readonly path: string
  readonly sizeBytes: number
  /** The fencing token: changes when another write took the path. */
  readonly claimId: string
}

/** Bytes of the file at a path. */
export type Found = number | 'nothing'

export type CountedPath = Omit<PathClaim, 'sizeBytes'>

export interface DueInput {
  /** Milliseconds: paths counted longer ago are due, and those that a write has left open; null: only the latter. */
  readonly ageMs: number | null
  readonly container?: ContainerRef
  /** The last path of the previous page. */
  readonly after: CountedPath | null
  readonly countMax: number
}

/** Failures of all: store_unavailable. */
export interface ContainerSizes {
  /** @param found the content of the path now; `unknown`: the larger size stays until the sweep has looked */
  release(claim: PathClaim, found: Found | 'unknown'): Promise<Outcome<null>>
  /** Paths to be counted again, in an order of the store's own, without those that a write holds now. */
  due(input: DueInput): Promise<Outcome<readonly CountedPath[]>>
  /** @returns whether the count changed; a path that was written since `due` is left alone */
  recount(path: CountedPath, found: Found): Promise<Outcome<boolean>>
}
