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
  /** The data key that seals the object. */
  readonly dataKeyId: string
  /** True for promoted container files. §2.8. */
  readonly isDownloadable: boolean
  /** The purpose in OpenAI's wire form; null when none was given. */
  readonly purpose: string | null
  readonly createdAt: Date
  /** The sweep removes the file then; null or left out: the file stays. */
  readonly expiresAt?: Date | null
}

/** Known once the last byte is stored. */
export interface FileFacts extends Omit<FileRecord, 'id' | 'workspaceId' | 'createdAt' | 'expiresAt'> {
  /** Seconds from the creation; null or left out: the file stays. */
  readonly expiresAfterS?: number | null
}

export interface UploadInput {
  readonly workspaceId: string
  /** The declared length less the smallest form overhead; 0, for a body of unknown length, reserves nothing. */
  readonly reserveBytes: number
  /** Bytes by which a longer form may make the file smaller. Where only a file without them fits, the upload begins, and `extend` decides. */
  readonly slackBytes?: number
  /** Folders that the file may need, reserved where they fit; none when left out. */
  readonly folders?: number
  readonly idempotency: Repeatable | null
  readonly signal?: AbortSignal
}

/** A `pending` row that this process holds: its lease is renewed until the row is committed or abandoned. */
export interface PendingFile {
  readonly id: string
  readonly workspaceId: string
  /** The fencing token. */
  readonly attempt: number
  readonly reservedBytes: number
}

export type Begun =
  | { readonly kind: 'new'; readonly upload: PendingFile }
  /** The `Idempotency-Key` has stored a file: the bytes of the repetition are still to be compared with `sha256`. */
  | { readonly kind: 'replay'; readonly file: FileRecord }

/** Quota reservation, idempotency record and the knowledge of the sweep in one. */
export interface Files {
  /**
   * Reserves quota. A refusal waits for racing uploads, a repetition for the first call of its key, each for
   * a bounded time. Failures: quota_exceeded, idempotency_mismatch, idempotency_running, busy (too many
   * wait), client_gone, store_unavailable.
   */
  begin(input: UploadInput): Promise<Outcome<Begun>>
  /** Covers `bytes` in all, in steps of QUOTA_STEP_BYTES, if needed. Failures: quota_exceeded, upload_lost, client_gone, store_unavailable. */
  extend(upload: PendingFile, bytes: number, signal?: AbortSignal): Promise<Outcome<null>>
  /**
   * Makes the file visible once its object is published, and settles the reservation. Failures: upload_lost
   * (the sweep took the row over: the caller removes the object); quota_exceeded (larger than its
   * reservation, no room), store_unavailable (it may be committed): then call `abandon`, which leaves a
   * committed row alone, and leave the object to the sweep.
   */
  commit(upload: PendingFile, facts: FileFacts): Promise<Outcome<FileRecord>>
  /**
   * Turns the reservation into use of a container path, which this write then holds alone until
   * `ContainerSizes.release`. To be called before the file is published: from then on the path counts the
   * larger of the old and the new file, and each folder that only it needs, whatever happens. Waits for
   * another write of the path, a removal of the container, and room beyond the reservation. Failures:
   * upload_lost, quota_exceeded, busy, client_gone, store_unavailable; call `abandon` after them.
   */
  claimPath(upload: PendingFile, to: ClaimInput): Promise<Outcome<PathClaim>>
  /**
   * Frees the quota of an upload that will not be committed; after a failure the sweep frees it. @param
   * mayHaveObject `publish` was called: the row stays until the sweep has removed the bytes
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
  /** Id of the first file of the following page, before which this page ends. Excludes `after`; null or left out: none. */
  readonly before?: string | null
  /** Only files of this purpose; a file without a purpose has PURPOSE_DEFAULT. Null or left out: all. */
  readonly purpose?: string | null
  /** Only these ids, some of which may belong to no file of the workspace. Null or left out: all. */
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
  /** Ready files, and container files stored through Sluice, with their folders: COUNTED_BYTES_MIN each at least. */
  readonly usedBytes: number
  readonly reservedBytes: number
}

/** Claimed by the sweep after its process was gone: its quota is free, its bytes are still to be removed. */
export interface StaleUpload {
  readonly id: string
  readonly workspaceId: string
  readonly attempt: number
}

export interface SealedObject {
  readonly id: string
  readonly workspaceId: string
  readonly dataKeyId: string
  /** Plain bytes, before sealing; the digest is theirs too. */
  readonly sizeBytes: number
  readonly sha256: string
}

/** Failures of all: store_unavailable. */
export interface FileSweep {
  /** Uploads whose lease ran out become `abandoned`, with a lease of the sweep's own. */
  claimStale(countMax: number): Promise<Outcome<readonly StaleUpload[]>>
  /** @returns fronts whose row is missing or silent, and none of whose uploads has a lease */
  goneFronts(ids: readonly string[]): Promise<Outcome<ReadonlySet<string>>>
  /** Also frees the quota; the caller removes the bytes. @returns ids of the objects of files whose time is over */
  removeExpired(countMax: number): Promise<Outcome<readonly string[]>>
  /** Called after the bytes are gone. @returns false: another sweep holds the row by now */
  forget(stale: StaleUpload): Promise<Outcome<boolean>>
  /** @returns ids without a row of a file or of a clip: their objects are orphans once they are old enough */
  withoutRow(ids: readonly string[]): Promise<Outcome<readonly string[]>>
  /** Ready files of all workspaces, by id. */
  page(after: string | null, countMax: number): Promise<Outcome<readonly FileRecord[]>>
  /** Clips of all video jobs, by the ids of their objects. */
  clips(after: string | null, countMax: number): Promise<Outcome<readonly SealedObject[]>>
  /** Idempotency records older than a day. @returns number of rows */
  expire(): Promise<Outcome<number>>
}
