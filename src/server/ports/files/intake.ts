import type { Failure, Outcome } from '../../../schemas/failures.ts'
import type { ByteReader } from '../byte-streams.ts'
import type { DataKey } from '../vault/key-ring.ts'
import type { FileRecord } from './files.ts'
import type { StoredObject } from './storage.ts'

/** The staging file to be created and written: encrypted, or plain for container files. */
interface IntakeTarget {
  readonly path: string
  readonly seal: { readonly dataKey: DataKey; readonly objectId: string } | null
}

export interface IntakeInput {
  /** The workspace in whose share of the worker sessions the file counts. */
  readonly holder: string
  /** Null: the bytes are read and not written. */
  readonly target: IntakeTarget | null
  /** Task of the scanner: `refuse` content that is not accepted, detect the `type`, or accept `any` content. */
  readonly content: 'refuse' | 'type' | 'any'
  /** A larger file fails with file_too_large. */
  readonly bytesMax: number
}

export interface IntakeVerdict {
  /** `application/octet-stream` when the type is not an accepted one, or was not scanned. */
  readonly mimeType: string
  readonly sizeBytes: number
  /** Lower-case hex SHA-256 of the plain bytes. */
  readonly sha256: string
}

export interface Intake {
  /**
   * Reserves a place before a byte is read; the data key's bytes are transferred to the thread. Failures: busy
   * (no place, or none for this holder), draining.
   */
  open(input: IntakeInput): Outcome<IntakeSession>
}

/**
 * Push bytes, then `finish` or `cancel` on every path. The window limits the bytes in transit to the thread:
 * clamp(UPLOADS_BYTES_MAX ÷ uploads of this front, 128 KiB, 1 MiB).
 */
export interface IntakeSession {
  /** Copies the bytes, even when the window is full. @returns false when the window is now full: push no more until `onRoom` */
  push(bytes: Uint8Array): boolean
  /** Called each time a full window has room again. */
  onRoom(listener: () => void): void
  /** Called once when the session fails by itself because of the content, the size, the disk, or a thread that ended or does not respond. */
  onFailure(listener: (failure: Failure) => void): void
  /**
   * The file is written and closed, but not synced. Failures: file_empty, content_unsupported,
   * file_too_large, storage_full, storage_unavailable, busy (the thread ended).
   */
  finish(): Promise<Outcome<IntakeVerdict>>
  /**
   * Never rejects; harmless after `finish`. Resolves when the thread has closed the file or has ended, or
   * immediately when it does not respond: anything it writes later is removed when it ends.
   */
  cancel(): Promise<void>
}

/** A worker thread reads, verifies and decrypts, and transfers the plain bytes to this thread. */
export interface Unsealing {
  /**
   * Each piece has a buffer of its own; at most two are in transit. The caller closes the object after the
   * reader's end and the end of `onLent`. Failures: content_damaged, data_key_unavailable,
   * storage_unavailable, busy.
   */
  open(input: UnsealInput): Promise<Outcome<ByteReader>>
}

/** Plain bytes from `from` (inclusive) to `to` (exclusive). The data key's bytes are transferred to the thread. */
export interface UnsealInput {
  readonly file: FileRecord
  readonly object: StoredObject
  readonly dataKey: DataKey
  readonly from: number
  readonly to: number
  /** Aborts reads of an object whose bytes are on another machine. */
  readonly signal?: AbortSignal
  /** A thread reads the object by its descriptor: the object must stay open until `released` resolves. */
  readonly onLent?: (released: Promise<void>) => void
}
