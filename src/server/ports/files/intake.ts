import type { Failure, Outcome } from '../../../schemas/failures.ts'
import type { ByteReader } from '../byte-streams.ts'
import type { DataKey } from '../vault/key-ring.ts'
import type { FileRecord } from './files.ts'
import type { StoredObject } from './storage.ts'

/** The staging file to be made and written: sealed, or plain for container files. */
interface IntakeTarget {
  readonly path: string
  readonly seal: { readonly dataKey: DataKey; readonly objectId: string } | null
}

/** The handling of the bytes of one file in a worker thread. Design §5. */
export interface IntakeInput {
  /** The workspace whose share of the worker sessions the file takes. */
  readonly holder: string
  /** Null: the bytes are read and not written. */
  readonly target: IntakeTarget | null
  /**
   * The task of the scanner: `refuse` content that §4.7 does not accept, detect the `type`, or nothing
   * (`any`).
   */
  readonly content: 'refuse' | 'type' | 'any'
  /** The most bytes of the file; one more fails with file_too_large. */
  readonly bytesMax: number
}

export interface IntakeVerdict {
  /**
   * A type of §4.7; `application/octet-stream` for content without an accepted type, or that was not scanned.
   */
  readonly mimeType: string
  readonly sizeBytes: number
  /** Lower-case hex SHA-256 of the plain bytes. */
  readonly sha256: string
}

/** Long sessions in the worker threads: one for each file. */
export interface Intake {
  /**
   * Reserves a place before a byte of the body is read. The data key's bytes are transferred. Failures: busy
   * (no place, or none for this holder), draining.
   */
  open(input: IntakeInput): Outcome<IntakeSession>
}

/**
 * A session of one file: push bytes, then call `finish` or `cancel`, one of them on every path. The window
 * limits the bytes on their way to the thread: clamp(UPLOADS_BYTES_MAX ÷ uploads of this front, 128 KiB, 1
 * MiB).
 */
export interface IntakeSession {
  /**
   * Copies the bytes, also when the window is full. @returns false when the window is full now: push no more
   * until `onRoom`
   */
  push(bytes: Uint8Array): boolean
  /** The listener is called each time a full window has room again. */
  onRoom(listener: () => void): void
  /**
   * The listener is called once when the session failed by itself: content, size, disk, a thread that ended
   * or does not answer.
   */
  onFailure(listener: (failure: Failure) => void): void
  /**
   * Ends the session after the last byte. The file is written and closed, but not synced. Failures:
   * file_empty, content_unsupported, file_too_large, storage_full, storage_unavailable, busy (the thread
   * ended).
   */
  finish(): Promise<Outcome<IntakeVerdict>>
  /**
   * Resolves when the thread has closed the file, or has ended, and at once when the thread does not answer:
   * bytes that the thread writes after that are removed when it has ended. Never rejects. Harmless after
   * `finish`.
   */
  cancel(): Promise<void>
}

/**
 * Reads sealed objects: a worker thread reads, verifies and unseals, and transfers plain bytes here. Design
 * §5.
 */
export interface Unsealing {
  /**
   * Reads plain bytes of a sealed object. Pieces are buffers of their own; at most two are on their way. The
   * caller has to close the object, after the reader's end and when no thread reads it by `onLent` any more.
   * Failures: content_damaged, data_key_unavailable, storage_unavailable, busy.
   */
  open(input: UnsealInput): Promise<Outcome<ByteReader>>
}

/** Plain bytes `from` up to but without `to`. The data key's bytes are transferred. */
export interface UnsealInput {
  readonly file: FileRecord
  readonly object: StoredObject
  readonly dataKey: DataKey
  readonly from: number
  readonly to: number
  /** Ends reads of an object whose bytes are on another machine. */
  readonly signal?: AbortSignal
  /**
   * Called when a thread reads the object by its descriptor: the object must stay open until `released`
   * resolves.
   */
  readonly onLent?: (released: Promise<void>) => void
}
