import type { ByteReader, Upload } from '../byte-streams.ts'

export interface RelayedRequest {
  /** Upper case: the HTTP server knows methods in lower case alone. */
  readonly method: string
  /** Undecoded, without the question mark; null when there is no query. */
  readonly query: string | null
  /** Flat list of name and value in the order of arrival, names in lower case; one entry for every field line. */
  readonly headers: readonly string[]
  /** Bytes announced; null when the body comes in chunks. 0 = there is no body. */
  readonly bodyBytes: number | null
  /** Paused until `receive`, and relayed as it comes, without a limit of its size. */
  readonly body: Upload
}

export interface RelayedAnswer {
  readonly status: number
  /** Flat list of name and value; hop-by-hop fields and the length are left out. */
  readonly headers: readonly string[]
  /** Null when the response does not say: the body then goes out in chunks. */
  readonly bodyBytes: number | null
  /** The reply closes the body, on every path. */
  readonly body: ByteReader
}
