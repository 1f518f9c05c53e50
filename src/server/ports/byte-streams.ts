import type { Failure, Outcome } from '../../schemas/failures.ts'

/**
 * Bytes that are pulled. Back-pressure is that nobody asks. Both storage and the sealed format are read so.
 */
export interface ByteReader {
  /**
   * @returns the next 1 to LARGE_PIECE_BYTES bytes; null at the end, when exactly the range has been given
   * out. They are valid until the next call unless the reader's maker says otherwise
   * Failures: content_damaged (what is there is not what was stored), storage_unavailable, client_gone.
   */
  next(): Promise<Outcome<Uint8Array | null>>
  /** Harmless a second time. */
  close(): void
}

/** What a download is made of: its length, its validator, and a way to read any part of it. */
export interface Content {
  readonly sizeBytes: number
  /**
   * Another one whenever the bytes are others: letters, digits and hyphens, without quotes. RFC 9110 §8.8.3.
   */
  readonly etag: string
  /** Bytes `from` up to but without `to`; called at most once. */
  read(from: number, to: number): Promise<Outcome<ByteReader>>
  /** Gives back what it holds. Called once on every path, after the reader's. */
  close(): void
}

/**
 * A file on its way in: the body of a request, or the part `file` of a form. It is pushed, and stands still
 * until `receive`.
 */
export interface Upload {
  /**
   * The most bytes that the file can have: the declared length of the body less the smallest form around a
   * file; null when the body comes in chunks.
   */
  readonly bytesAtMost: number | null
  /** By how much the file may turn out smaller than that, because a form is longer than the smallest one. */
  readonly slackBytes: number
  /** Starts the flow; once. */
  receive(sink: UploadSink): void
  /** After a `take` that answered false. */
  resume(): void
  /**
   * Nothing more is wanted: the rest is read away or the connection is cut. Harmless twice and after the end.
   */
  stop(): void
}

/**
 * Called from the socket's own callbacks: nothing here may wait. After `end` or `fail` nothing more is
 * called.
 */
export interface UploadSink {
  /** The file begins. @param filename as sent, checked against B1.7; null where the request has none */
  begin(filename: string | null): void
  /** @param bytes lent for the call only; @returns false: no more until `resume` */
  take(bytes: Uint8Array): boolean
  /** The body is whole and well-formed. @param fields of the form, first value of each name */
  end(fields: ReadonlyMap<string, string>): void
  /** Failures: client_gone, draining, body_slow, file_too_large, form_malformed and its kin. */
  fail(failure: Failure): void
}
