import type { Outcome } from '../../../schemas/failures.ts'
import type { Repeatable } from '../../../schemas/idempotency.ts'
import type { Content, Upload } from '../byte-streams.ts'
import type { FileRecord } from './files.ts'
import type { ContainerFile, ContainerRef } from './storage.ts'

/** After a failure neither a file nor a row remains. */
export interface Transfers {
  /** Pending row → staged and encrypted object → ready row. Failures: those of `Files.begin`, `Intake`, `Storage` and the upload. */
  store(upload: Upload, input: StoreInput): Promise<Outcome<Stored>>
  /** Copies a container file without checking its content. Failures: those of `store`, container_file_unknown. */
  promote(from: ContainerPath, input: StoreInput): Promise<Outcome<Stored>>
  /** Written unencrypted. Failures: those of `Storage` and the upload. */
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

/** The file that this call wrote, even if another write has replaced it meanwhile. */
export type WrittenFile = Pick<ContainerFile, 'path' | 'sizeBytes' | 'changedAt'>

export interface OpenContainerFile {
  readonly content: Content
  readonly file: ContainerFile
}

export interface StoreInput {
  readonly workspaceId: string
  readonly idempotency: Repeatable | null
  /** Aborts the transfer and undoes it completely. */
  readonly signal: AbortSignal
}

export interface Stored {
  readonly file: FileRecord
  /** An earlier call with the same `Idempotency-Key` stored the file. */
  readonly isReplay: boolean
}
