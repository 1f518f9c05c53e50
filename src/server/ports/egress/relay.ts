import type { ByteReader, Upload } from '../byte-streams.ts'

/** A request as it came, for an operation that passes it on. */
export interface RelayedRequest {
  /** Upper case: the front end knows methods in lower case alone. */
  readonly method: string
  /** Undecoded, without the question mark; null when there is none. */
  readonly query: string | null
  /** Flat name, value list in the order of arrival, names in lower case; one entry for every field line. */
  readonly headers: readonly string[]
  /** Bytes announced; null when the body comes in chunks. 0 = there is none. */
  readonly bodyBytes: number | null
  /** It stands still until `receive`, and is given on as it comes, without a limit of its size. */
  readonly body: Upload
}

/** Somebody else's answer, passed on while it comes. */
export interface RelayedAnswer {
  readonly status: number
  /** Flat name, value list; what belongs to one connection alone is left out, and so is the length. */
  readonly headers: readonly string[]
  /** Null when it does not say: then it goes out in chunks. */
  readonly bodyBytes: number | null
  /** The reply closes it, on every path. */
  readonly body: ByteReader
}
