import type { Outcome } from '../../../schemas/failures.ts'
import type { Repeatable } from '../../../schemas/idempotency.ts'
import type { ClaimInput, PathClaim } from '../containers/container-rows.ts'

/** A stored file. Its id is also the id of its object. */
export interface FileRecord {
  /** `file_` plus a sortable part. */
  readonly id: string
  readonly workspaceId: string
  readonly filename: string
  readonly mimeType: string
  /** Plain bytes, before sealing. */
  readonly sizeBytes: number
  /** Lower-case hex SHA-256 of the plain bytes. */
  readonly sha256: string
  /** The data key that seals the object. */
  readonly dataKeyId: string
  /** True for promoted container files. §2.8. */
  readonly isDownloadable: boolean
  /** The purpose in OpenAI's wire form; null when none was given. */
  readonly purpose: string | null
  readonly createdAt: Date
  /** The instant at which the sweep removes the file; null or left out: the file stays. */
  readonly expiresAt?: Date | null
}

/** Facts of an upload, known once its last byte is stored. */
export interface FileFacts extends Omit<FileRecord, 'id' | 'workspaceId' | 'createdAt' | 'expiresAt'> {
  /** Seconds from the creation; null or left out: the file stays. */
  readonly expiresAfterS?: number | null
}

export interface UploadInput {
  readonly workspaceId: string
  /**
   * Bytes of the file; the reservation is what they will count. The declared length less the smallest form
   * overhead. 0, for a body of unknown length, reserves nothing.
   */
  readonly reserveBytes: number
  /**
   * Bytes by which the file may turn out smaller: the most that a form may be longer than its smallest
   * overhead. Where `reserveBytes` does not fit but a file without the slack does, the upload begins all the
   * same, and `extend` decides.
   */
  readonly slackBytes?: number
  /** Folders that the file may need, reserved where they fit; none when left out. */
  readonly folders?: number
  readonly idempotency: Repeatable | null
  readonly signal?: AbortSignal
}

/** A `pending` row that this process holds: its lease is renewed until the row is committed or abandoned. */
export interface PendingFile {
  /** Id of the file and of its object. */
  readonly id: string
  readonly workspaceId: string
  /** The fencing token. */
  readonly attempt: number
  /** Bytes that the workspace's quota reserves for the upload now. */
  readonly reservedBytes: number
}

export type Begun =
  | { readonly kind: 'new'; readonly upload: PendingFile }
  /**
   * The same `Idempotency-Key` has stored a file already; the bytes of the repetition are still to be
   * compared with `sha256`.
   */
  | { readonly kind: 'replay'; readonly file: FileRecord }

/** Rows of files: quota reservation, idempotency record and the knowledge of the sweep in one. Design §5. */
export interface Files {
  /**
   * Reserves quota and makes the pending row. A refusal waits for racing uploads to settle first, and a
   * repetition waits for the first call under its key, each for a bounded time. Failures: quota_exceeded,
   * idempotency_mismatch, idempotency_running, busy (too many wait), client_gone, store_unavailable.
   */
  begin(input: UploadInput): Promise<Outcome<Begun>>
  /**
   * Reserves for a file of `bytes` in all, in steps of QUOTA_STEP_BYTES; does nothing while the reservation
   * covers the file. Failures: quota_exceeded, upload_lost, client_gone, store_unavailable.
   */
  extend(upload: PendingFile, bytes: number, signal?: AbortSignal): Promise<Outcome<null>>
  /**
   * Makes the file visible and settles the reservation to its true size. To be called after the object is
   * published. `upload_lost`: the sweep took the row over, and the caller removes the object. Failures: also
   * quota_exceeded (the file is larger than its reservation, and the rest does not fit), store_unavailable
   * (the row may be committed all the same). After these two, call `abandon`, which leaves a committed row
   * alone, and leave the object to the sweep.
   */
  commit(upload: PendingFile, facts: FileFacts): Promise<Outcome<FileRecord>>
  /**
   * Ends the upload of a container file: its reservation becomes use of a container path, which this write
   * then holds alone until `ContainerSizes.release`. To be called before the file is published: from here on
   * the path counts the larger of the old file and the new one, and each folder that only this path needs,
   * whatever happens. Waits for another write of the path, for the removal of the container, and for room
   * where more is counted than was reserved. Failures: upload_lost, quota_exceeded, busy, client_gone,
   * store_unavailable; call `abandon` after them.
   */
  claimPath(upload: PendingFile, to: ClaimInput): Promise<Outcome<PathClaim>>
  /**
   * Ends an upload that will not be committed and frees its quota at once. Callers may ignore a failure: the
   * sweep frees the quota then.
   * @param mayHaveObject true once `publish` was called: the row then stays until the sweep has removed the
   * bytes
   */
  abandon(upload: PendingFile, mayHaveObject: boolean): Promise<Outcome<null>>
  /** Failures: file_unknown, store_unavailable. */
  get(workspaceId: string, id: string): Promise<Outcome<FileRecord>>
  /** In the order of their ids, oldest first. Failure: store_unavailable. */
  list(workspaceId: string, page: FilePageInput): Promise<Outcome<FilePage>>
  /**
   * Removes the row and frees its quota; the caller removes the bytes. Failures: file_unknown,
   * store_unavailable.
   */
  remove(workspaceId: string, id: string): Promise<Outcome<FileRecord>>
  /** Failure: store_unavailable. */
  usage(workspaceId: string): Promise<Outcome<StorageUsage>>
  /** Stops renewing leases. */
  close(): void
}

export interface FilePageInput {
  /**
   * Id of the last file of the previous page (`after`, `after_id`, and the decoded `cursor`); the file need
   * not exist.
   */
  readonly after: string | null
  /**
   * Id of the first file of the following page: the page ends before that file. Excludes `after`; null or
   * left out: none.
   */
  readonly before?: string | null
  /** Only files of this purpose; a file without a purpose has PURPOSE_DEFAULT. Null or left out: all. */
  readonly purpose?: string | null
  /**
   * Only these files. A short list of ids of files, some of which may belong to no file of the workspace.
   * Null or left out: all.
   */
  readonly ids?: readonly string[] | null
  /** At least 1; the operation sets the most. */
  readonly limit: number
}

export interface FilePage {
  readonly files: readonly FileRecord[]
  readonly hasMore: boolean
}

export interface StorageUsage {
  readonly quotaBytes: number
  /**
   * Bytes of ready files, and of container files that were stored through Sluice, with their folders:
   * COUNTED_BYTES_MIN each at least.
   */
  readonly usedBytes: number
  /** Bytes reserved for uploads under way. */
  readonly reservedBytes: number
}

/**
 * An upload whose process is gone, claimed by the sweep: its quota is free, its bytes are still to be
 * removed.
 */
export interface StaleUpload {
  readonly id: string
  readonly workspaceId: string
  readonly attempt: number
}

/** An object in storage, as its row describes it. */
export interface SealedObject {
  /** Id of the object. */
  readonly id: string
  readonly workspaceId: string
  readonly dataKeyId: string
  /** Plain bytes, before sealing; the digest is theirs too. */
  readonly sizeBytes: number
  readonly sha256: string
}

/** Rows that the sweep and `files verify` need in addition to `Files`. Failures of all: store_unavailable. */
export interface FileSweep {
  /** Moves uploads whose lease ran out to `abandoned`, with a lease of the sweep's own. */
  claimStale(countMax: number): Promise<Outcome<readonly StaleUpload[]>>
  /**
   * @returns ids of fronts that are gone: their row is missing or silent, and no upload of theirs has a lease
   */
  goneFronts(ids: readonly string[]): Promise<Outcome<ReadonlySet<string>>>
  /**
   * Removes rows of files whose time is over, and frees their quota; the caller removes the bytes. @returns
   * ids of their objects
   */
  removeExpired(countMax: number): Promise<Outcome<readonly string[]>>
  /**
   * Removes the row of a claimed upload, after its bytes are gone. @returns false when another sweep holds
   * the row by now
   */
  forget(stale: StaleUpload): Promise<Outcome<boolean>>
  /** @returns ids without a row of a file or of a clip: their objects are orphans once they are old enough */
  withoutRow(ids: readonly string[]): Promise<Outcome<readonly string[]>>
  /** Ready files of all workspaces, by id. */
  page(after: string | null, countMax: number): Promise<Outcome<readonly FileRecord[]>>
  /** Clips of all video jobs, by the ids of their objects. */
  clips(after: string | null, countMax: number): Promise<Outcome<readonly SealedObject[]>>
  /** Removes idempotency records that are older than a day. @returns number of rows */
  expire(): Promise<Outcome<number>>
}
