import type { Outcome } from '../../../schemas/failures.ts'
import type { Repeatable } from '../../../schemas/idempotency.ts'
import type { ClaimInput, PathClaim } from '../containers/container-rows.ts'

/** A stored file. Its id is also the id of its object. */
export interface FileRecord {
  /** `file_` plus a sortable part. C9. */
  readonly id: string
  readonly workspaceId: string
  readonly filename: string
  readonly mimeType: string
  /** Plain bytes. */
  readonly sizeBytes: number
  /** Lower-case hex, of the plain bytes. */
  readonly sha256: string
  /** The data key that its object is sealed with. */
  readonly dataKeyId: string
  /** True for promoted container files. §2.8. */
  readonly isDownloadable: boolean
  /** Of OpenAI's shape; null when none was given. */
  readonly purpose: string | null
  readonly createdAt: Date
  /** When the sweep removes it; null, as left out: it stays. C37. */
  readonly expiresAt?: Date | null
}

/** What an upload is, once its last byte is stored. */
export interface FileFacts {
  readonly filename: string
  readonly mimeType: string
  readonly sizeBytes: number
  readonly sha256: string
  readonly dataKeyId: string
  readonly isDownloadable: boolean
  readonly purpose: string | null
  /** Seconds from its creation; null, as left out: it stays. */
  readonly expiresAfterS?: number | null
}

export interface UploadInput {
  readonly workspaceId: string
  /**
   * Bytes of the file, for which as much is reserved as it will count: the declared length less the smallest
   * form overhead. 0, for a body of unknown length, reserves nothing.
   */
  readonly reserveBytes: number
  /**
   * How much smaller than that the file may turn out: the most that a form may be longer than its smallest
   * overhead. Where `reserveBytes` does not fit but a file without the slack does, it is begun all the same,
   * and `extend` decides.
   */
  readonly slackBytes?: number
  /** Folders that the file may need, which are reserved where they fit; none when left out. */
  readonly folders?: number
  readonly idempotency: Repeatable | null
  readonly signal?: AbortSignal
}

/** A `pending` row that is this process's: its lease is renewed until it is committed or abandoned. */
export interface Upload {
  /** Of the file and of its object. */
  readonly id: string
  readonly workspaceId: string
  /** The fencing token. */
  readonly attempt: number
  /** Bytes that the workspace's quota holds for it now. */
  readonly reservedBytes: number
}

export type Begun =
  | { readonly kind: 'new'; readonly upload: Upload }
  /**
   * The same `Idempotency-Key` has answered already; the bytes of the file are still to be compared with
   * `sha256`.
   */
  | { readonly kind: 'replay'; readonly file: FileRecord }

/** Rows of files: quota reservation, idempotency record and the sweep's knowledge in one. Design §5. */
export interface Files {
  /**
   * Reserves quota and makes the pending row. A refusal waits for racing uploads to settle first, and a
   * repetition for the first call under its key, each for a bounded time.
   * Failures: quota_exceeded, idempotency_mismatch, idempotency_running, busy (too many wait), client_gone,
   * store_unavailable.
   */
  begin(input: UploadInput): Promise<Outcome<Begun>>
  /**
   * Reserves for a file of `bytes` in all, in steps of QUOTA_STEP_BYTES; does nothing while the reservation
   * covers it.
   * Failures: quota_exceeded, upload_lost, client_gone, store_unavailable.
   */
  extend(upload: Upload, bytes: number, signal?: AbortSignal): Promise<Outcome<null>>
  /**
   * Makes the file visible and settles the reservation to its true size. Call after the object is published.
   * `upload_lost`: the sweep took the row over, and the caller removes the object. Failures: also
   * quota_exceeded (the file is larger than what was reserved, and that does not fit), store_unavailable (it
   * may be committed all the same): after those two call `abandon`, which leaves a committed row alone, and
   * leave the object to the sweep.
   */
  commit(upload: Upload, facts: FileFacts): Promise<Outcome<FileRecord>>
  /**
   * The other end of an upload: its reservation becomes use of a container path, which is then this write's
   * alone until `ContainerSizes.release`. Call before the file is published: from here on the path counts the
   * larger of the old file and the new one, and each folder that only it needs, whatever happens. Waits for
   * another write of the path, for the removal of the container, and for room where more is counted than was
   * reserved.
   * Failures: upload_lost, quota_exceeded, busy, client_gone, store_unavailable; call `abandon` after them.
   */
  claimPath(upload: Upload, to: ClaimInput): Promise<Outcome<PathClaim>>
  /**
   * Ends an upload that will not be committed and frees its quota at once. A failure needs no answer: the
   * sweep does it.
   * @param mayHaveObject true once `publish` was called: the row then stays until the sweep has removed the
   * bytes
   */
  abandon(upload: Upload, mayHaveObject: boolean): Promise<Outcome<null>>
  /** Failures: file_unknown, store_unavailable. */
  get(workspaceId: string, id: string): Promise<Outcome<FileRecord>>
  /** In the order of their ids, oldest first. Failure: store_unavailable. */
  list(workspaceId: string, page: FilePageInput): Promise<Outcome<FilePage>>
  /**
   * Removes the row and frees its quota; the bytes are for the caller. Failures: file_unknown,
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
   * Id of the last file of the page before (`after`, `after_id`, and what `cursor` decodes to); it need not
   * exist.
   */
  readonly after: string | null
  /**
   * Id of the first file of the page behind: the files before that one. It excludes `after`; null, as left
   * out: none.
   */
  readonly before?: string | null
  /** Only files of that one; a file without has PURPOSE_DEFAULT. Null, as left out: all. */
  readonly purpose?: string | null
  /** Only these: few, each an id of a file, be it of none of the workspace. Null, as left out: all. */
  readonly ids?: readonly string[] | null
  /** At least 1; how many at most is the operation's to say. */
  readonly limit: number
}

export interface FilePage {
  readonly files: readonly FileRecord[]
  readonly hasMore: boolean
}

export interface StorageUsage {
  readonly quotaBytes: number
  /**
   * Of files that are ready, and of container files that were put through Sluice with their folders:
   * COUNTED_BYTES_MIN each at least.
   */
  readonly usedBytes: number
  /** Held for uploads under way. */
  readonly reservedBytes: number
}

/**
 * An upload that nobody will finish, claimed by the sweep: its quota is free, its bytes are still to be
 * removed.
 */
export interface StaleUpload {
  readonly id: string
  readonly workspaceId: string
  readonly attempt: number
}

/** What the sweep and `files verify` need beside `Files`. Failures of all: store_unavailable. */
/** An object in storage, as its row knows it. */
export interface SealedObject {
  /** Of the object. */
  readonly id: string
  readonly workspaceId: string
  readonly dataKeyId: string
  /** Of the plain bytes, as the digest is. */
  readonly sizeBytes: number
  readonly sha256: string
}

export interface FileSweep {
  /** Moves uploads whose lease ran out to `abandoned`, with a lease of the sweep's own. */
  claimStale(countMax: number): Promise<Outcome<readonly StaleUpload[]>>
  /**
   * @returns those of the fronts that are gone: they have no row, or a silent one, and no upload of theirs
   * has a lease
   */
  goneFronts(ids: readonly string[]): Promise<Outcome<ReadonlySet<string>>>
  /**
   * Removes rows of files whose time has come, and frees their quota: the bytes are for the caller. @returns
   * ids of their objects
   */
  removeExpired(countMax: number): Promise<Outcome<readonly string[]>>
  /**
   * Removes the row of a claimed upload, when its bytes are gone. @returns false when another sweep has it by
   * now
   */
  forget(stale: StaleUpload): Promise<Outcome<boolean>>
  /**
   * @returns those of the ids that no row stands for, of a file or of a clip: their objects are orphans once
   * they are old enough
   */
  withoutRow(ids: readonly string[]): Promise<Outcome<readonly string[]>>
  /** Ready files of all workspaces, by id. */
  page(after: string | null, countMax: number): Promise<Outcome<readonly FileRecord[]>>
  /** Clips of all video jobs, by the ids of their objects. */
  clips(after: string | null, countMax: number): Promise<Outcome<readonly SealedObject[]>>
  /** Removes idempotency records that are older than a day. @returns rows */
  expire(): Promise<Outcome<number>>
}
