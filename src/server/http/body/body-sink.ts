import type { Failure } from '../../../schemas/failures.ts'

/** Receives the bytes of a streamed body. */
export interface BodySink {
  /** @param bytes lent for the call only @returns false: no more until `goOn` */
  take(bytes: Uint8Array): boolean
  end(): void
  fail(failure: Failure): void
}

export interface BodySource {
  /** Starts the flow; once. */
  flow(sink: BodySink): void
  /** Resumes after `take` has returned false. */
  goOn(): void
  /** The reader wants nothing more. */
  quit(): void
}
