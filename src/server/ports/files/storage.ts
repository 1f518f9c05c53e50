import type { Failure, Outcome } from '../../../schemas/failures.ts'
import type { ByteReader } from '../byte-streams.ts'

/**
 * Bytes of files and containers; storage knows no rows. Objects of files are written once and are never
 * replaced. Container files are plain, and a sandbox may write them straight into their folder. Design §5.
 */
export interface Storage {
  /**
   * Admits an upload when there is room for it in addition to those under way.
   * @param expectedBytes of the object; for a body of unknown length the most that it may have. Failures:
   * storage_full, storage_unavailable.
   */
  stage(expectedBytes: number): Promise<Outcome<Staging>>
  /**
   * Makes a staged file the object: after this a crash does not lose it. Never replaces an object. After a
   * failure the object may exist all the same; the staging file stays, for `discard`.
   * @param objectId 1 to 128 characters of `[A-Za-z0-9_-]`. Failures: storage_full, storage_unavailable,
   * client_gone.
   */
  publish(objectId: string, staging: Staging, signal?: AbortSignal): Promise<Outcome<null>>
  /** Failures: content_missing, storage_unavailable, client_gone. */
  open(objectId: string, signal?: AbortSignal): Promise<Outcome<StoredObject>>
  /** Null when there is no such object. Failure: storage_unavailable. */
  stat(objectId: string): Promise<Outcome<ObjectFacts | null>>
  /** @returns false when there was no such object. Failure: storage_unavailable. */
  remove(objectId: string): Promise<Outcome<boolean>>
  /**
   * All objects in an order of the driver's own, for the sweep. @param cursor of the previous page. Failure:
   * storage_unavailable.
   */
  list(cursor: string | null): Promise<Outcome<ObjectPage>>
  /** Ids of the fronts that have staging files. Failure: storage_unavailable. */
  stagingOwners(): Promise<Outcome<readonly string[]>>
  /**
   * Removes staging files that a crash left: files without a write for `idleMs`, and all files of fronts that
   * are gone. @returns number of files. Failure: storage_unavailable.
   */
  sweepStaging(idleMs: number, gone: ReadonlySet<string>): Promise<Outcome<number>>
  readonly containers: ContainerFolders
  /**
   * Translates an error of a system call on a staging file: `ENOSPC` is storage_full, others are
   * storage_unavailable.
   */
  failureOf(cause: unknown): Failure
  close(): Promise<void>
}

/** The file of one upload on this machine, before it is published. */
export interface Staging {
  /** The file does not exist yet: the writer makes it (exclusively) and closes it before it is published. */
  readonly path: string
  /**
   * Removes the file, and gives its room back. To be called on every path; harmless after `publish` and a
   * second time.
   */
  discard(): Promise<void>
}

export interface ObjectFacts {
  readonly sizeBytes: number
  readonly changedAt: Date
  /** Changes whenever the content changes: fit for a strong ETag. Letters, digits and hyphens. */
  readonly version: string
}

export interface StoredObject extends ObjectFacts {
  /**
   * Open for reading until `close`, so that a worker thread can read by itself; null when the bytes are on
   * another machine.
   */
  readonly descriptor: number | null
  /** Reads bytes `from` up to but without `to`, in order. */
  read(from: number, to: number, options?: ReadOptions): ByteReader
  /**
   * False: the file was written to in place since it was opened, so that the bytes read may be torn. Failure:
   * storage_unavailable.
   */
  isUnchanged(): Promise<Outcome<boolean>>
  /** To be called on every path, after the readers' `close`. */
  close(): Promise<void>
}

export interface ReadOptions {
  /**
   * True: each piece is an ArrayBuffer of its own, which may be transferred. False: a piece is valid until
   * the next call.
   */
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
  /** Null: the page was the last. */
  readonly cursor: string | null
}

/** A container of one workspace: the same id in two workspaces is two folders. */
export interface ContainerRef {
  readonly workspaceId: string
  readonly containerId: string
}

export interface ContainerFile extends ObjectFacts {
  /** Path below the folder, with `/` between its segments, as stored. */
  readonly path: string
}

export interface ContainerPage {
  readonly files: readonly ContainerFile[]
  readonly hasMore: boolean
}

/**
 * The folders that sandboxes write. No method reads a byte outside of them, whatever a sandbox plants there.
 */
export interface ContainerFolders {
  /**
   * Lists in the order of the UTF-8 bytes of the paths, without links and other entries that are not files.
   * An unknown container is empty. @param after a path, which need not exist @param signal ends the listing.
   * Failures: storage_unavailable, containers_unsupported, container_too_large, busy, and that of the signal.
   */
  list(
    container: ContainerRef,
    after: string | null,
    countMax: number,
    signal?: AbortSignal,
  ): Promise<Outcome<ContainerPage>>
  /**
   * Lists as `list` does, without limits of size and time. Failures: storage_unavailable,
   * containers_unsupported.
   */
  listWhole(container: ContainerRef, after: string | null, countMax: number): Promise<Outcome<ContainerPage>>
  /**
   * @param path as `parseContainerPath` returns it. Failures: container_file_unknown, storage_unavailable,
   * containers_unsupported.
   */
  stat(container: ContainerRef, path: string): Promise<Outcome<ContainerFile>>
  /** Failures: client_gone, and those of `stat`. */
  open(container: ContainerRef, path: string, signal?: AbortSignal): Promise<Outcome<StoredObject>>
  /**
   * Makes a staged file the container file, in place of the previous one; folders are made. Failures:
   * container_path_invalid (the path is a folder, or a file or link stands where a folder is needed),
   * storage_full, client_gone, storage_unavailable, containers_unsupported.
   */
  publish(
    container: ContainerRef,
    path: string,
    staging: Staging,
    signal?: AbortSignal,
  ): Promise<Outcome<null>>
  /**
   * The newest modification in a container, including the making of its folder; null without a container.
   * Failures: storage_unavailable, containers_unsupported.
   */
  newestChange(container: ContainerRef): Promise<Outcome<Date | null>>
  /** All containers that have a folder, for the sweep. */
  listContainers(
    cursor: string | null,
  ): Promise<Outcome<{ readonly containers: readonly ContainerRef[]; readonly cursor: string | null }>>
  /**
   * Removes a container with all its files. @param unchangedSince a container that was changed after this
   * instant is kept
   * @returns number of files; null when the container is kept, or does not exist. Failures as of
   * `newestChange`.
   */
  removeContainer(container: ContainerRef, unchangedSince?: Date): Promise<Outcome<number | null>>
  /**
   * Removes the remains of removals that a crash ended at least `idleMs` ago. @returns number of files.
   * Failures as of `newestChange`.
   */
  emptyTrash(idleMs: number): Promise<Outcome<number>>
}
