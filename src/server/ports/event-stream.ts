/** The operation's `run` ends after the stream: what a call costs is known only then. */
export interface EventStream {
  /** False: no further byte reaches the client. Writing then does nothing. */
  readonly isOpen: boolean
  /** False: the client lags by STREAM_WAITING_BYTES_MAX, and the source should not be read. */
  readonly hasRoom: boolean
  /** Resolves when there is room again or the stream is not open, for callers that found `hasRoom` false. */
  room(): Promise<void>
  /** Whole events; those of one read of the source belong into one write. @param events valid during the call only */
  write(events: Uint8Array): void
  /** Harmless once the stream is not open. @param last whole events that leave in the same write as the end */
  end(last?: Uint8Array): void
  /** Sends a last event, then ends the connection without the last chunk of HTTP, so that every client notices. */
  breakOff(event: Uint8Array): void
}

export interface EventStreamHead {
  readonly headers: Readonly<Record<string, string>>
  /** A comment or a ping, written between two events while the source is silent. */
  silence(): Uint8Array
}
