import type { Failure, Outcome } from '../../../schemas/failures.ts'
import type { ByteReader } from '../byte-streams.ts'
import type { DataKey } from '../vault/key-ring.ts'
import type { FileRecord } from './files.ts'
import type { StoredObject } from './storage.ts'

/** The staging file to make and to write: sealed, or plain as container files are. */
export interface IntakeTarget {
  readonly path: string
  readonly seal: { readonly dataKey: DataKey; readonly objectId: string } | null
}

/** What becomes of the bytes of one file in a worker thread. Design §5. */
export interface IntakeInput {
  /** The workspace that the place is held for. */
  readonly holder: string
  /** Null: the bytes are only looked at. */
  readonly target: IntakeTarget | null
  /** What the scanner is for: to `refuse` what §4.7 does not accept, to tell the `type`, or nothing. */
  readonly content: 'refuse' | 'type' | 'any'
  /** Bytes of the file; one more fails with file_too_large. */
  readonly bytesMax: number
}

export interface IntakeVerdict {
  /** Of §4.7; `application/octet-stream` for content that has no accepted type or was not looked at. */
  readonly mimeType: string
  readonly sizeBytes: number
  /** Lower-case hex, of the plain bytes. */
  readonly sha256: string
}

/** Long sessions in the worker threads: one a file. */
export interface Intake {
  /**
   * Reserves a place before a byte of the body is read. The data key's bytes are moved away.
   * Failures: busy (no place, or none for this holder), draining.
   */
  open(input: IntakeInput): Outcome<IntakeSession>
}

/**
 * Push bytes, then `finish` or `cancel`; one of them on every path. Its window is what is on its way to the
 * thread: clamp(UPLOADS_BYTES_MAX ÷ uploads of this front, 128 KiB, 1 MiB).
 */
export interface IntakeSession {
  /** Copies; also when the window is full. @returns false when it is full now: give no more until `onRoom` */
  push(bytes: Uint8Array): boolean
  /** Told each time a full window has room again. */
  onRoom(told: () => void): void
  /**
   * Told once when the session failed by itself: content, size, disk, a thread that ended or does not answer.
   */
  onFailure(told: (failure: Failure) => void): void
  /**
   * The last byte was pushed. The file is written and closed, but not synced.
   * Failures: file_empty, content_unsupported, file_too_large, storage_full, storage_unavailable, busy (its
   * thread ended).
   */
  finish(): Promise<Outcome<IntakeVerdict>>
  /**
   * Resolves when the thread has let go of the file, or has ended, and at once when it does not answer: what
   * it still writes then is removed when it has ended. Never rejects. Harmless after `finish`.
   */
  cancel(): Promise<void>
}

/**
 * Reading what is sealed: a worker thread reads, verifies and opens, and moves plain bytes here. Design §5.
 */
export interface Unsealing {
  /**
   * Reads plain bytes of a sealed object. Pieces are buffers of their own; at most two are on their way. The
   * object stays the caller's to close, after the reader's end and when nothing has it `onLent` any more.
   * Failures: content_damaged, data_key_unavailable, storage_unavailable, busy.
   */
  open(input: UnsealInput): Promise<Outcome<ByteReader>>
}

/** Plain bytes `from` up to but without `to`. The data key's bytes are moved away. */
export interface UnsealInput {
  readonly file: FileRecord
  readonly object: StoredObject
  readonly dataKey: DataKey
  readonly from: number
  readonly to: number
  /** Ends reads of an object whose bytes are elsewhere. */
  readonly signal?: AbortSignal
  /** Told of a thread that reads the object by its descriptor: it must stay open until then. */
  readonly onLent?: (released: Promise<void>) => void
}
