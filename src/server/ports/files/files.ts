import type { Outcome } from '../../../schemas/failures.ts'
import type { Repeatable } from '../../../schemas/idempotency.ts'
import type { ClaimInput, PathClaim } from '../containers/container-rows.ts'

/** Its id is also the id of its object. */
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
  /** The data key that encrypts the object. */
  readonly dataKeyId: string
  /** True for promoted container files. §2.8. */
  readonly isDownloadable: boolean
  /** The purpose in OpenAI's wire form; null when none was given. */
  readonly purpose: string | null
  readonly createdAt: Date
  /** When the sweep removes the file; null or left out: never. */
  readonly expiresAt?: Date | null
}

/** Fields of a file that are known only after the last byte is stored. */
export interface FileFacts extends Omit<FileRecord, 'id' | 'workspaceId' | 'createdAt' | 'expiresAt'> {
  /** Seconds after the creation; null or left out: the file does not expire. */
  readonly expiresAfterS?: number | null
}

export interface UploadInput {
  readonly workspaceId: string
  /** The declared length minus the smallest form overhead; 0 for a body of unknown length, for which nothing is reserved. */
  readonly reserveBytes: number
  /**
   * Bytes by which the file may be smaller because of a longer form. If only the smaller file fits, the upload
   * still begins, and `extend` decides later.
   */
  readonly slackBytes?: number
  /** Folders that the file may need, reserved if they fit; 0 when left out. */
  readonly folders?: number
  readonly idempotency: Repeatable | null
  readonly signal?: AbortSignal
}

/** A `pending` row owned by this process: its lease is renewed until the row is committed or abandoned. */
export interface PendingFile {
  readonly id: string
  readonly workspaceId: string
  /** The fencing token. */
  readonly attempt: number
  readonly reservedBytes: number
}

export type Begun =
  | { readonly kind: 'new'; readonly upload: PendingFile }
  /** A call with this `Idempotency-Key` has stored a file: the bytes of the repetition must still be compared with `sha256`. */
  | { readonly kind: 'replay'; readonly file: FileRecord }

/** The rows of files: they are the quota reservation, the idempotency record and the input of the sweep in one. */
export interface Files {
  /**
   * Reserves quota. Before it refuses, it waits for concurrent uploads; a repetition waits for the first call
   * with its key. Both waits are bounded. Failures: quota_exceeded, idempotency_mismatch, idempotency_running,
   * busy (too many wait), client_gone, store_unavailable.
   */
  begin(input: UploadInput): Promise<Outcome<Begun>>
  /**
   * Extends the reservation to `bytes` in total if needed, in steps of QUOTA_STEP_BYTES. Failures:
   * quota_exceeded, upload_lost, client_gone, store_unavailable.
   */
  extend(upload: PendingFile, bytes: number, signal?: AbortSignal): Promise<Outcome<null>>
  /**
   * Makes the file visible once its object is published, and settles the reservation. Failures: upload_lost
   * (the sweep took the row over: the caller removes the object); quota_exceeded (larger than its reservation,
   * and no room); store_unavailable (the row may be committed: call `abandon`, which does not touch a
   * committed row, and leave the object to the sweep).
   */
  commit(upload: PendingFile, facts: FileFacts): Promise<Outcome<FileRecord>>
  /**
   * Turns the reservation into use of a container path, which this write holds exclusively until
   * `ContainerSizes.release`. To be called before the file is published: from then on the path counts as the
   * larger of the old and the new file, plus each folder that only it needs, whatever happens later. Waits for
   * another write of the path, for a removal of the container, and for room when the file exceeds the
   * reservation. Failures: upload_lost, quota_exceeded, busy, client_gone, store_unavailable; call `abandon`
   * after them.
   */
  claimPath(upload: PendingFile, to: ClaimInput): Promise<Outcome<PathClaim>>
  /**
   * Frees the quota of an upload that will not be committed; after a failure the sweep frees it. @param
   * mayHaveObject true if `publish` was called: the row is kept until the sweep has removed the bytes
   */
  abandon(upload: PendingFile, mayHaveObject: boolean): Promise<Outcome<null>>
  /** Failures: file_unknown, store_unavailable. */
  get(workspaceId: string, id: string): Promise<Outcome<FileRecord>>
  /** By id, oldest first. Failure: store_unavailable. */
  list(workspaceId: string, page: FilePageInput): Promise<Outcome<FilePage>>
  /** Also frees the quota; the caller removes the bytes. Failures: file_unknown, store_unavailable. */
  remove(workspaceId: string, id: string): Promise<Outcome<FileRecord>>
  /** Failure: store_unavailable. */
  usage(workspaceId: string): Promise<Outcome<StorageUsage>>
  /** Stops renewing leases. */
  close(): void
}

export interface FilePageInput {
  /** Id of the last file of the previous page, which need not exist; null: the first page. */
  readonly after: string | null
  /** Id of the first file of the following page: this page ends before it. Excludes `after`; null or left out: none. */
  readonly before?: string | null
  /** Only files of this purpose; a file without a purpose has PURPOSE_DEFAULT. Null or left out: all. */
  readonly purpose?: string | null
  /** Only these ids; some may not be files of the workspace. Null or left out: all. */
  readonly ids?: readonly string[] | null
  /** At least 1; the operation sets the upper bound. */
  readonly limit: number
}

export interface FilePage {
  readonly files: readonly FileRecord[]
  readonly hasMore: boolean
}

export interface StorageUsage {
  readonly quotaBytes: number
  /** Ready files, and container files stored through Sluice, with their folders; each counts as at least COUNTED_BYTES_MIN. */
  readonly usedBytes: number
  readonly reservedBytes: number
}

/** Claimed by the sweep after its process ended: its quota has been freed, its bytes must still be removed. */
export interface StaleUpload {
  readonly id: string
  readonly workspaceId: string
  readonly attempt: number
}

export interface SealedObject {
  readonly id: string
  readonly workspaceId: string
  readonly dataKeyId: string
  /** Plain bytes, before encryption; the digest is also that of the plain bytes. */
  readonly sizeBytes: number
  readonly sha256: string
}

/** Failures of all: store_unavailable. */
export interface FileSweep {
  /** Marks uploads whose lease has expired as `abandoned`, with a lease held by the sweep. */
  claimStale(countMax: number): Promise<Outcome<readonly StaleUpload[]>>
  /** @returns fronts whose row is missing or no longer updated, and whose uploads have no lease */
  goneFronts(ids: readonly string[]): Promise<Outcome<ReadonlySet<string>>>
  /** Also frees the quota; the caller removes the bytes. @returns ids of the objects of expired files */
  removeExpired(countMax: number): Promise<Outcome<readonly string[]>>
  /** Called after the bytes were removed. @returns false: another sweep has taken the row meanwhile */
  forget(stale: StaleUpload): Promise<Outcome<boolean>>
  /** @returns ids that belong to no file row and no clip row: their objects are orphans once they are old enough */
  withoutRow(ids: readonly string[]): Promise<Outcome<readonly string[]>>
  /** Ready files of all workspaces, ordered by id. */
  page(after: string | null, countMax: number): Promise<Outcome<readonly FileRecord[]>>
  /** Clips of all video jobs, ordered by the ids of their objects. */
  clips(after: string | null, countMax: number): Promise<Outcome<readonly SealedObject[]>>
  /** Removes idempotency records older than a day. @returns number of rows */
  expire(): Promise<Outcome<number>>
}
