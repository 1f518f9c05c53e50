import type { Outcome } from '../../../schemas/failures.ts'
import type { Repeatable } from '../../../schemas/idempotency.ts'
import type { Content, Upload } from '../byte-streams.ts'
import type { FileRecord } from './files.ts'
import type { ContainerFile, ContainerRef } from './storage.ts'

/**
 * What moves whole files between clients, storage and rows; whatever fails leaves nothing behind. Design §5.
 */
export interface Transfers {
  /**
   * Pending row → staged and sealed object → ready row.
   * Failures: those of `Files.begin`, `Intake`, `Storage` and the upload itself.
   */
  store(upload: Upload, input: StoreInput): Promise<Outcome<Stored>>
  /**
   * Copies a container file, whatever its content, into a file of its own.
   * Failures: those of `store`, container_file_unknown.
   */
  promote(from: ContainerPath, input: StoreInput): Promise<Outcome<Stored>>
  /** Writes a container file, plain. Failures: those of `Storage` and the upload. */
  writeContainerFile(upload: Upload, to: ContainerPath, signal: AbortSignal): Promise<Outcome<WrittenFile>>
  /** Failures: content_missing, content_damaged, data_key_unavailable, storage_unavailable. */
  openFile(file: FileRecord, signal: AbortSignal): Promise<Outcome<Content>>
  /** Failures: container_file_unknown, storage_unavailable. */
  openContainerFile(from: ContainerPath, signal: AbortSignal): Promise<Outcome<OpenContainerFile>>
  /** Removes row and bytes. Failures: file_unknown, store_unavailable. */
  remove(workspaceId: string, id: string): Promise<Outcome<FileRecord>>
}

export interface ContainerPath {
  readonly container: ContainerRef
  /** As `parseContainerPath` gives it. */
  readonly path: string
}

/** What was put, be it another's file by now. */
export type WrittenFile = Pick<ContainerFile, 'path' | 'sizeBytes' | 'changedAt'>

export interface OpenContainerFile {
  readonly content: Content
  readonly file: ContainerFile
}

export interface StoreInput {
  readonly workspaceId: string
  readonly idempotency: Repeatable | null
  /** Ends the transfer with everything undone. */
  readonly signal: AbortSignal
}

export interface Stored {
  readonly file: FileRecord
  /** The same `Idempotency-Key` had stored it before. C16. */
  readonly isReplay: boolean
}
