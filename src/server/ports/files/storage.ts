import type { Failure, Outcome } from '../../../schemas/failures.ts'
import type { ByteReader } from '../byte-streams.ts'

/**
 * Bytes of files and containers; nothing here knows a row. Objects of files are written once and are never
 * replaced; container files are plain, and a sandbox may write them straight into their folder. Design §5.
 */
export interface Storage {
  /**
   * Admits an upload when there is room for it beside those under way.
   * @param expectedBytes of the object; for a body of unknown length the most it may have
   * Failures: storage_full, storage_unavailable.
   */
  stage(expectedBytes: number): Promise<Outcome<Staging>>
  /**
   * Makes a staged file the object: after this a crash does not lose it. Never replaces an object.
   * On failure the object may be there all the same; the staging file stays, for `discard`.
   * @param objectId 1 to 128 characters of `[A-Za-z0-9_-]`
   * Failures: storage_full, storage_unavailable, client_gone.
   */
  publish(objectId: string, staging: Staging, signal?: AbortSignal): Promise<Outcome<null>>
  /** Failures: content_missing, storage_unavailable, client_gone. */
  open(objectId: string, signal?: AbortSignal): Promise<Outcome<StoredObject>>
  /** Null when there is no such object. Failure: storage_unavailable. */
  stat(objectId: string): Promise<Outcome<ObjectFacts | null>>
  /** @returns false when there was none. Failure: storage_unavailable. */
  remove(objectId: string): Promise<Outcome<boolean>>
  /**
   * All objects in an order of the driver's own, for the sweep. @param cursor of the page before. Failure:
   * storage_unavailable.
   */
  list(cursor: string | null): Promise<Outcome<ObjectPage>>
  /** Ids of the fronts whose staging files are there. Failure: storage_unavailable. */
  stagingOwners(): Promise<Outcome<readonly string[]>>
  /**
   * Removes staging files that a crash left: those to which nothing was written for so long, and all of
   * fronts that are gone. @returns how many. Failure: storage_unavailable.
   */
  sweepStaging(idleMs: number, gone: ReadonlySet<string>): Promise<Outcome<number>>
  readonly containers: ContainerFolders
  /**
   * What an error of a system call on a staging file means: `ENOSPC` storage_full, others
   * storage_unavailable.
   */
  failureOf(cause: unknown): Failure
  close(): Promise<void>
}

/** Where one upload is written, on this machine. */
export interface Staging {
  /** Does not exist yet: the writer makes it (exclusively) and closes it before it is published. */
  readonly path: string
  /**
   * Removes what was written, and gives the room back. Call on every path; harmless after `publish` and a
   * second time.
   */
  discard(): Promise<void>
}

export interface ObjectFacts {
  readonly sizeBytes: number
  readonly changedAt: Date
  /** Another one whenever the content is another one: fit for a strong ETag. Letters, digits and hyphens. */
  readonly version: string
}

export interface StoredObject extends ObjectFacts {
  /**
   * Open for reading until `close`, so that a worker thread can read by itself; null when the bytes are
   * elsewhere.
   */
  readonly descriptor: number | null
  /** Reads bytes `from` up to but without `to`, in order. */
  read(from: number, to: number, options?: ReadOptions): ByteReader
  /**
   * False: it was written to in place since it was opened, so that what was read of it may be torn. Failure:
   * storage_unavailable.
   */
  isUnchanged(): Promise<Outcome<boolean>>
  /** Call on every path, after the readers'. */
  close(): Promise<void>
}

export interface ReadOptions {
  /**
   * True: each piece is an ArrayBuffer of its own, which may be transferred. False: it is valid until the
   * next call.
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
  /** Null: that was the last page. */
  readonly cursor: string | null
}

/** Containers are per workspace: the same id in two of them is two folders. C22. */
export interface ContainerRef {
  readonly workspaceId: string
  readonly containerId: string
}

export interface ContainerFile extends ObjectFacts {
  /** Below the folder, with `/` between its segments, as stored. */
  readonly path: string
}

export interface ContainerPage {
  readonly files: readonly ContainerFile[]
  readonly hasMore: boolean
}

/** The folders that sandboxes write. Never a byte from outside of them, whatever is planted there. */
export interface ContainerFolders {
  /**
   * In the order of the UTF-8 bytes of the paths; links, and files that are none, are left out. An unknown
   * container is empty. @param after a path, which need not exist @param signal ends it
   * Failures: storage_unavailable, containers_unsupported, container_too_large, busy, and that of the signal.
   */
  list(
    container: ContainerRef,
    after: string | null,
    countMax: number,
    signal?: AbortSignal,
  ): Promise<Outcome<ContainerPage>>
  /**
   * As `list`, however much there is and however long it takes. Failures: storage_unavailable,
   * containers_unsupported.
   */
  listWhole(container: ContainerRef, after: string | null, countMax: number): Promise<Outcome<ContainerPage>>
  /**
   * @param path as `parseContainerPath` gives it. Failures: container_file_unknown, storage_unavailable,
   * containers_unsupported.
   */
  stat(container: ContainerRef, path: string): Promise<Outcome<ContainerFile>>
  /** Failures: client_gone, and those of `stat`. */
  open(container: ContainerRef, path: string, signal?: AbortSignal): Promise<Outcome<StoredObject>>
  /**
   * Makes a staged file the container file, in place of the one before; folders are made.
   * Failures: container_path_invalid (a folder is there, or a file or link where a folder is needed),
   * storage_full, client_gone, storage_unavailable, containers_unsupported.
   */
  publish(
    container: ContainerRef,
    path: string,
    staging: Staging,
    signal?: AbortSignal,
  ): Promise<Outcome<null>>
  /**
   * The newest modification in a container, be it that its folder was made; null when there is none.
   * Failures: storage_unavailable, containers_unsupported.
   */
  newestChange(container: ContainerRef): Promise<Outcome<Date | null>>
  /** All containers that have a folder, for the sweep. */
  listContainers(
    cursor: string | null,
  ): Promise<Outcome<{ readonly containers: readonly ContainerRef[]; readonly cursor: string | null }>>
  /**
   * Removes a container with all its files. @param unchangedSince what was changed after that is kept
   * @returns how many files; null when the container is kept, or there is none. Failures as of
   * `newestChange`.
   */
  removeContainer(container: ContainerRef, unchangedSince?: Date): Promise<Outcome<number | null>>
  /**
   * Removes what is left of removals that a crash ended so long ago. @returns how many files. Failures as of
   * `newestChange`.
   */
  emptyTrash(idleMs: number): Promise<Outcome<number>>
}
