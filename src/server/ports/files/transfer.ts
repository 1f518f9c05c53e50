import type { Outcome } from '../../../schemas/failures.ts'
import type { Repeatable } from '../../../schemas/idempotency.ts'
import type { Content, Upload } from '../byte-streams.ts'
import type { FileRecord } from './files.ts'
import type { ContainerFile, ContainerRef } from './storage.ts'

/** A failure leaves no file and no row. */
export interface Transfers {
  /** Pending row → staged and sealed object → ready row. Failures: those of `Files.begin`, `Intake`, `Storage` and the upload. */
  store(upload: Upload, input: StoreInput): Promise<Outcome<Stored>>
  /** Copies a container file, whatever its content. Failures: those of `store`, container_file_unknown. */
  promote(from: ContainerPath, input: StoreInput): Promise<Outcome<Stored>>
  /** Plain. Failures: those of `Storage` and the upload. */
  writeContainerFile(upload: Upload, to: ContainerPath, signal: AbortSignal): Promise<Outcome<WrittenFile>>
  /** Failures: content_missing, content_damaged, data_key_unavailable, storage_unavailable. */
  openFile(file: FileRecord, signal: AbortSignal): Promise<Outcome<Content>>
  /** Failures: container_file_unknown, storage_unavailable. */
  openContainerFile(from: ContainerPath, signal: AbortSignal): Promise<Outcome<OpenContainerFile>>
  /** Also removes the bytes. Failures: file_unknown, store_unavailable. */
  remove(workspaceId: string, id: string): Promise<Outcome<FileRecord>>
}

export interface ContainerPath {
  readonly container: ContainerRef
  /** A path as `parseContainerPath` returns it. */
  readonly path: string
}

/** The file that this call wrote, even when another write has replaced it by now. */
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
  /** The same `Idempotency-Key` had stored the file before. */
  readonly isReplay: boolean
}
