import type { Failure, Outcome } from '../../schemas/failures.ts'

/**
 * Bytes that are pulled: back-pressure is a reader that does not ask. Both storage and the sealed format are
 * read so.
 */
export interface ByteReader {
  /**
   * @returns the next 1 to LARGE_PIECE_BYTES bytes; null at the end, when exactly the range has been
   * returned. The bytes are valid until the next call unless the maker of the reader says otherwise.
   * Failures: content_damaged (the bytes are not those that were stored), storage_unavailable, client_gone.
   */
  next(): Promise<Outcome<Uint8Array | null>>
  /**
   * The next piece if it has arrived already, under the rules of `next`; null: call `next`. Not while a call of
   * `next` is under way.
   */
  ready?(): Uint8Array | null
  /** A second call is harmless. */
  close(): void
}

/** The source of a download: its length, its validator, and a way to read any part of it. */
export interface Content {
  readonly sizeBytes: number
  /** Changes whenever the bytes change: letters, digits and hyphens, without quotes. RFC 9110 §8.8.3. */
  readonly etag: string
  /** Reads bytes `from` up to but without `to`; called at most once. */
  read(from: number, to: number): Promise<Outcome<ByteReader>>
  /** Returns the resources of the content. Called once on every path, after the reader's `close`. */
  close(): void
}

/**
 * A file on its way in: the body of a request, or the part `file` of a form. The bytes are pushed, and paused
 * until `receive`.
 */
export interface Upload {
  /**
   * The most bytes that the file can have: the declared length of the body less the smallest form around a
   * file; null when the body comes in chunks.
   */
  readonly bytesAtMost: number | null
  /**
   * Bytes by which the file may turn out smaller than that, because a form is longer than the smallest one.
   */
  readonly slackBytes: number
  /** Starts the flow; called once. */
  receive(sink: UploadSink): void
  /** Continues the flow, after a `take` that returned false. */
  resume(): void
  /**
   * Ends the flow: the rest of the body is discarded, or the connection is cut. Harmless twice and after the
   * end.
   */
  stop(): void
}

/**
 * Receives an upload. The methods are called from the socket's own callbacks and must not wait. After `end`
 * or `fail` no method is called.
 */
export interface UploadSink {
  /** The file begins. @param filename as sent, checked against B1.7; null where the request has no name */
  begin(filename: string | null): void
  /** @param bytes valid during the call only. @returns false: no more bytes until `resume` */
  take(bytes: Uint8Array): boolean
  /** The body is complete and well-formed. @param fields of the form, first value of each name */
  end(fields: ReadonlyMap<string, string>): void
  /**
   * Failures: client_gone, draining, body_slow, file_too_large, form_malformed and the other failures of
   * forms.
   */
  fail(failure: Failure): void
}
