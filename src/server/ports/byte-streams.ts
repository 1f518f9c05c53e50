import type { Failure, Outcome } from '../../schemas/failures.ts'

/** Bytes that the reader pulls: for back-pressure it does not call `next`. */
export interface ByteReader {
  /**
   * @returns 1 to LARGE_PIECE_BYTES bytes, valid until the next call unless the creator of the reader states
   * otherwise; null when exactly the range was returned. Failures: content_damaged (not the stored bytes),
   * storage_unavailable, client_gone.
   */
  next(): Promise<Outcome<Uint8Array | null>>
  /** The next piece if it has already arrived, under the rules of `next`; null: call `next`. Must not be called while a `next` is pending. */
  ready?(): Uint8Array | null
  /** May be called twice. */
  close(): void
}

export interface Content {
  readonly sizeBytes: number
  /** Letters, digits and hyphens, without quotes; changes whenever the bytes change. RFC 9110 §8.8.3. */
  readonly etag: string
  /** Reads bytes from `from` (inclusive) to `to` (exclusive); called at most once. */
  read(from: number, to: number): Promise<Outcome<ByteReader>>
  /** Called once on every path, after the reader's `close`. */
  close(): void
}

/** The body of a request, or the part `file` of a form. The bytes are paused until `receive`. */
export interface Upload {
  /** The declared length of the body minus the smallest form around a file; null when the body is chunked. */
  readonly bytesAtMost: number | null
  /** Bytes by which the file may be smaller than `bytesAtMost`, because the form around it may be longer than the smallest one. */
  readonly slackBytes: number
  /** Called once. */
  receive(sink: UploadSink): void
  /** Continues after a `take` that returned false. */
  resume(): void
  /** Discards the rest of the body, or cuts the connection. May be called twice and after the end. */
  stop(): void
}

/** Called from the socket's own callbacks, so it must not block. After `end` or `fail` no method is called. */
export interface UploadSink {
  /** @param filename as sent, checked against B1.7; null when the request has no name */
  begin(filename: string | null): void
  /** @param bytes valid during the call only. @returns false: no more bytes until `resume` */
  take(bytes: Uint8Array): boolean
  /** The body is complete and well-formed. @param fields of the form, first value of each name */
  end(fields: ReadonlyMap<string, string>): void
  /** Failures: client_gone, draining, body_slow, file_too_large, form_malformed and the other failures of forms. */
  fail(failure: Failure): void
}
