import type { Failure } from '../../../schemas/failures.ts'

/** What the bytes of a streamed body go to. */
export interface BodySink {
  /** @param bytes lent for the call only; @returns false: no more until `goOn` */
  take(bytes: Uint8Array): boolean
  end(): void
  fail(failure: Failure): void
}

/** A body as what reads it sees it. */
export interface BodySource {
  /** Starts the flow; once. */
  flow(sink: BodySink): void
  /** After `take` has said that no more may come. */
  goOn(): void
  /** Nothing more is wanted. */
  quit(): void
}
