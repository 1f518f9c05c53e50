/** What a load is and what it found. Shared by the generator's process and by those who start it. */

export interface LoadRequest {
  readonly method: string
  readonly path: string
  /** Besides host and content-length, which the generator writes. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** Replaces a body that is not a text. */
  readonly bytes?: Uint8Array
  /**
   * Written after `body` piece by piece as the socket takes it, so that no generator holds its payload.
   */
  readonly payload?: LoadPayload
}

/**
 * How a load reaches a server that is not ours: by an address that was looked up once, under the name that it
 * goes by.
 */
export interface LoadOrigin {
  /** Of the `host` header; the plan's host and port unless given. */
  readonly authority: string
  /** The name that the certificate must be for; null: no TLS. */
  readonly serverName: string | null
  /** PEM of the issuers that are trusted in place of the system's; null: the system's. */
  readonly issuers: string | null
}

/**
 * So many bytes of text, of another size each time: sizes spread evenly over their logarithm, the same for
 * the same seed.
 */
export interface LoadPayload {
  readonly leastBytes: number
  readonly mostBytes: number
  readonly seed: number
  /** Ends the body. */
  readonly after: string
}

/**
 * Closed: each connection sends its next request when it has its answer. Open: a fixed rate, answers or not.
 */
export type LoadPace =
  | { readonly kind: 'closed' }
  | { readonly kind: 'open'; readonly ratePerS: number }
  /** Closed, and a connection waits as long as `Retry-After` says. */
  | { readonly kind: 'polite' }

export interface LoadPlan {
  readonly host: string
  readonly port: number
  readonly origin?: LoadOrigin
  readonly connections: number
  readonly pace: LoadPace
  /**
   * Milliseconds; the load ends earlier when it is stopped, and of the open pace later: what was due is still
   * sent.
   */
  readonly durationMs: number
  /**
   * No more are sent in a second, whatever the pace: what is too early waits. Of an open pace it bounds what
   * is made up for.
   */
  readonly ratePerSMax?: number
  /** The load ends when so many requests were answered, however soon. */
  readonly requestsMax?: number
  /** Connection `i` sends request `i mod length`, again and again. */
  readonly requests: readonly LoadRequest[]
  /** Each request is sent once and in this order, by any free connection, before the first comes again. */
  readonly isInTurn?: boolean
  /**
   * Milliseconds between two requests of one slot, each of which has a connection of its own, made for it.
   * Closed pace.
   */
  readonly freshEveryMs?: number
  /** Milliseconds at the start that count for nothing. */
  readonly warmUpMs?: number
  /** Milliseconds after the end of an open pace in which due requests are still sent. */
  readonly drainMs?: number
  /** Keeps a row per request, but for those with the given statuses; else only sums. */
  readonly keepRows?: { readonly except: readonly number[] }
  /** Milliseconds without an answer after which a request has failed. */
  readonly answerTimeoutMs?: number
}

/** One request, as sent and answered. */
export interface LoadRow {
  readonly connection: number
  /** `monotonicMs()` of its first byte out, comparable between processes of one machine. */
  readonly startedAt: number
  readonly endedAt: number
  /** 0: no whole answer came. */
  readonly status: number
  readonly failure: string
}

/** A TCP connection's life; a failed one is opened again under the same `connection` number. */
export interface LoadSocket {
  readonly connection: number
  readonly localPort: number
  readonly openedAt: number
  closedAt: number
  /** True when a request was unanswered as it closed. */
  isCut: boolean
  /** Whole answers that came on it. */
  answers: number
}

export interface LoadResult {
  /** Answers by status; 0 counts requests without a whole answer. After the warm-up. */
  readonly statuses: Readonly<Record<number, number>>
  readonly requests: number
  /** The warm-up's too: what CPU seconds from before to after the load are divided by. */
  readonly requestsWithWarmUp: number
  /**
   * Up to the last answer, so that neither a backlog nor what was in flight at the end is throughput that was
   * not there.
   */
  readonly measuredMs: number
  /** Milliseconds; open pace counts from when the request was due. */
  readonly latency: LoadLatency
  /**
   * From when each was sent: what a generator that waits for the server would show. Without what was never
   * sent.
   */
  readonly latencyFromSent: LoadLatency
  /**
   * Milliseconds of the open pace from when a request was due until the generator looked: its own lateness,
   * counted in `latency`.
   */
  readonly generatorLate: { readonly p50: number; readonly p99: number; readonly max: number }
  /**
   * Requests of the open pace that were due, and had no free connection even some seconds after the end. They
   * count as failed and as late.
   */
  readonly unsent: number
  /** Share of one core that the generator itself used. Near 1 the generator was the limit. */
  readonly generatorCores: number
  /** Reasons of the first failed requests. */
  readonly failures: readonly string[]
  readonly sockets: readonly LoadSocket[]
  /** Empty without `keepRows`. */
  readonly rows: readonly LoadRow[]
  readonly answerBytes: number
  /** Of the bodies of requests that were answered with a 2xx. */
  readonly sentBytes: number
}

export interface LoadLatency {
  readonly p50: number
  readonly p90: number
  readonly p99: number
  readonly p99_9: number
  readonly max: number
  readonly mean: number
  /** The time within which a share of the requests was answered, by percent. */
  readonly byPercent: Readonly<Record<string, number>>
}

/** Milliseconds of the machine's monotonic clock: the same in every process, never set back. */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint() / 1_000n) / 1_000
}
