import type { Failure, Outcome } from '../../../schemas/failures.ts'
import type { ByteReader } from '../byte-streams.ts'

/**
 * Has no access to rows. Objects are written once, never replaced; container files are plain, and a sandbox
 * may write them straight into its folder.
 */
export interface Storage {
  /**
   * Needs room in addition to that of the uploads in progress. @param expectedBytes for an unknown length, the
   * maximum. Failures: storage_full, storage_unavailable.
   */
  stage(expectedBytes: number): Promise<Outcome<Staging>>
  /**
   * Creates the object durably: a crash after this does not lose it. Never replaces an object. After a failure
   * the object may exist nevertheless; the staging file is kept for `discard`. @param objectId 1 to 128
   * characters of `[A-Za-z0-9_-]`. Failures: storage_full, storage_unavailable, client_gone.
   */
  publish(objectId: string, staging: Staging, signal?: AbortSignal): Promise<Outcome<null>>
  /** Failures: content_missing, storage_unavailable, client_gone. */
  open(objectId: string, signal?: AbortSignal): Promise<Outcome<StoredObject>>
  /** Null when there is no such object. Failure: storage_unavailable. */
  stat(objectId: string): Promise<Outcome<ObjectFacts | null>>
  /** @returns false when there was no such object. Failure: storage_unavailable. */
  remove(objectId: string): Promise<Outcome<boolean>>
  /** In the driver's own order, for the sweep. @param cursor of the previous page. Failure: storage_unavailable. */
  list(cursor: string | null): Promise<Outcome<ObjectPage>>
  /** Ids of the fronts that have staging files. Failure: storage_unavailable. */
  stagingOwners(): Promise<Outcome<readonly string[]>>
  /** Removes files without a write for `idleMs`, and all files of fronts that have ended. @returns number of files. Failure: storage_unavailable. */
  sweepStaging(idleMs: number, gone: ReadonlySet<string>): Promise<Outcome<number>>
  readonly containers: ContainerFolders
  /** The failure of a system call on a staging file: `ENOSPC` is storage_full, other errors are storage_unavailable. */
  failureOf(cause: unknown): Failure
  close(): Promise<void>
}

export interface Staging {
  /** The file does not exist yet: the writer creates it (exclusively) and closes it before it is published. */
  readonly path: string
  /** Removes the file and frees its room. To be called on every path; may be called twice and after `publish`. */
  discard(): Promise<void>
}

export interface ObjectFacts {
  readonly sizeBytes: number
  readonly changedAt: Date
  /** Changes whenever the content changes: suitable for a strong ETag. Letters, digits and hyphens. */
  readonly version: string
}

export interface StoredObject extends ObjectFacts {
  /** Open until `close`, so that a worker thread can read from it; null: the bytes are on another machine. */
  readonly descriptor: number | null
  /** Reads bytes from `from` (inclusive) to `to` (exclusive), in order. */
  read(from: number, to: number, options?: ReadOptions): ByteReader
  /** False: the file was modified in place since it was opened, so the bytes may mix two versions. Failure: storage_unavailable. */
  isUnchanged(): Promise<Outcome<boolean>>
  /** To be called on every path, after the readers' `close`. */
  close(): Promise<void>
}

export interface ReadOptions {
  /** True: each piece has an ArrayBuffer of its own, which may be transferred. False: it is valid until the next call. */
  readonly mayTransfer?: boolean
  readonly signal?: AbortSignal
}

export interface ListedObject {
  readonly objectId: string
  readonly sizeBytes: number
  readonly changedAt: Date
}

export interface ObjectPage {
  readonly objects: readonly ListedObject[]
  /** Null: this is the last page. */
  readonly cursor: string | null
}

/** A container of one workspace: the same id in two workspaces means two folders. */
export interface ContainerRef {
  readonly workspaceId: string
  readonly containerId: string
}

export interface ContainerFile extends ObjectFacts {
  /** Path relative to the folder, with `/` between its segments, as stored. */
  readonly path: string
}

export interface ContainerPage {
  readonly files: readonly ContainerFile[]
  readonly hasMore: boolean
}

/** Sandboxes write into these folders. No method reads a byte outside of them, even if a sandbox plants links there. */
export interface ContainerFolders {
  /**
   * Sorted by the UTF-8 bytes of the paths, without links and other entries that are not files; an unknown
   * container counts as empty. @param after a path, which need not exist. Failures: storage_unavailable,
   * containers_unsupported, container_too_large, busy, the failure of the signal.
   */
  list(
    container: ContainerRef,
    after: string | null,
    countMax: number,
    signal?: AbortSignal,
  ): Promise<Outcome<ContainerPage>>
  /** As `list`, without limits of size and time. Failures: storage_unavailable, containers_unsupported. */
  listWhole(container: ContainerRef, after: string | null, countMax: number): Promise<Outcome<ContainerPage>>
  /** @param path as `parseContainerPath` returns it. Failures: container_file_unknown, storage_unavailable, containers_unsupported. */
  stat(container: ContainerRef, path: string): Promise<Outcome<ContainerFile>>
  /** Failures: client_gone, and those of `stat`. */
  open(container: ContainerRef, path: string, signal?: AbortSignal): Promise<Outcome<StoredObject>>
  /**
   * Replaces the previous file; creates folders. Failures: container_path_invalid (a folder, or a file or link
   * where a folder is needed), storage_full, client_gone, storage_unavailable, containers_unsupported.
   */
  publish(
    container: ContainerRef,
    path: string,
    staging: Staging,
    signal?: AbortSignal,
  ): Promise<Outcome<null>>
  /**
   * Time of the newest change, including the creation of the folder; null: no such container. Failures:
   * storage_unavailable, containers_unsupported.
   */
  newestChange(container: ContainerRef): Promise<Outcome<Date | null>>
  /** Containers that have a folder, for the sweep. */
  listContainers(
    cursor: string | null,
  ): Promise<Outcome<{ readonly containers: readonly ContainerRef[]; readonly cursor: string | null }>>
  /**
   * @param unchangedSince keeps a container that was changed later. @returns number of removed files; null:
   * the container was kept, or does not exist. Failures as of `newestChange`.
   */
  removeContainer(container: ContainerRef, unchangedSince?: Date): Promise<Outcome<number | null>>
  /**
   * Deletes the remains of removals that a crash interrupted at least `idleMs` ago. @returns number of deleted
   * files. Failures as of `newestChange`.
   */
  emptyTrash(idleMs: number): Promise<Outcome<number>>
}
