import { Readable } from 'node:stream'
import type { Outcome } from '../../schemas/failures.ts'
import type { Caller } from '../../schemas/values/callers.ts'
import {
  UPSTREAM_ANSWER_BYTES_MAX,
  UPSTREAM_WRITTEN_BYTES_MAX,
} from '../../schemas/models/provider-limits.ts'
import type { EgressAnswer, EgressExchange, TrustedOrigin } from '../ports/egress/egress.ts'
import type { Provider } from '../ports/models/models.ts'
import type { CredentialHeader } from './credential.ts'
import { NO_EXTRA, type ExtraHeaders } from './provider-headers.ts'
import type { RedactedTexts } from './reason.ts'
import { KIB } from '../../schemas/limits/limits.ts'

/**
 * Bytes of a provider's event stream that wait for the reader; one read of the socket may exceed it. Thousands of event
 * streams are open at once, and when the caller does not read, each stream holds this much plus one read. Decision.
 */
export const UPSTREAM_EVENTS_BYTES_MAX = 4 * KIB

/** The origin that a link calls: trusted or vetted. */
export type LinkOrigin = Pick<TrustedOrigin, 'call' | 'exchange'>

export interface LinkDeps {
  readonly origin: LinkOrigin
  /** The key; null when the provider needs none. */
  readonly key: string | null
  readonly credentialHeader: CredentialHeader
  /** Headers that the catalogue has for this provider. */
  readonly extra?: ExtraHeaders
}

/** A body that is a stream can be sent only once. */
type LinkBody = string | Uint8Array | readonly Uint8Array[] | Readable

/** The source of a call, for the provider and for sharing resources among callers. */
interface Origin {
  /** Bytes of a body that is a stream; absent or null when the length is that of the body itself. */
  readonly bodyBytes?: number | null
  /** Gateways that the call has passed before this one. */
  readonly hops?: number
  readonly caller: Caller
  /** Flat list of names and values of this call; each replaces the catalogue's header of the same name. */
  readonly headers?: readonly string[] | undefined
  /** `sent` is called when the request has a connection: from then on the provider may work on it and charge for it. */
  readonly call: { readonly signal: AbortSignal; sent?(isSent: boolean): void }
}

/** One try of a call whose answer is read whole. */
export interface PostAttempt extends Origin {
  /** As in `EgressRequest`. */
  readonly wantedHeader?: string | undefined
  /** `performance.now()` of the attempt's end. */
  readonly endsAt: number
}

/** One try of a call whose answer is a stream. */
export interface LinkStreamAttempt extends Origin {
  /** `performance.now()` until which the response has to begin, connecting included. */
  readonly beginsBy: number
  /** Milliseconds that a reader waits for bytes. */
  readonly stallMs: number
  /** True: the call's signal closes the connection until the answer has been read. False: only until the answer has begun. */
  readonly isCutByLeaving: boolean
}

/** How a whole answer is requested. */
export interface PostKind {
  /** Bytes of the answer; `upstream_too_large` beyond. */
  readonly answerBytesMax: number
  /** Whether a request is sent once more when its kept-alive connection turns out to be closed. */
  readonly mayRepeat: boolean
  /** The answer may take minutes: see `EgressRequest.isLong`. */
  readonly isLong: boolean
  /** See `EgressRequest.mayLend`. */
  readonly mayLend?: boolean
}

/** A repeat is safe: embeddings have no effect at the provider except a charge. */
const EMBEDDINGS: PostKind = {
  answerBytesMax: UPSTREAM_ANSWER_BYTES_MAX,
  mayRepeat: true,
  isLong: false,
  mayLend: true,
}

/**
 * What a model writes. Nothing is sent twice: once the first byte was sent, it is unknown whether the provider began to
 * work on the request, and the work may cost dollars. A kept-alive connection that was closed while it was idle fails
 * no call: the close is noticed before a request is written, and the request then uses another connection. Only a
 * connection that ends in the same instant fails the attempt, and the next endpoint is tried.
 */
export const WRITTEN: PostKind = {
  answerBytesMax: UPSTREAM_WRITTEN_BYTES_MAX,
  mayRepeat: false,
  isLong: true,
  mayLend: true,
}

const JSON_TYPE = 'application/json'

/** The connection to one provider: its pool, its base path and the headers of every call. */
export class ProviderLink {
  readonly provider: Provider
  /** Texts that are redacted from everything that the provider sends. */
  readonly redacted: RedactedTexts
  readonly #origin: LinkOrigin
  readonly #basePath: string
  /** Headers of a request whose answer is read whole, and of those whose answer is a stream. */
  readonly #jsonHeaders: UsualHeaders
  readonly #eventHeaders: UsualHeaders

  constructor(provider: Provider, { origin, key, credentialHeader, extra = NO_EXTRA }: LinkDeps) {
    const base = new URL(provider.baseUrl)
    this.provider = provider
    this.redacted = { credential: key ?? '', others: extra.secrets, host: base.hostname }
    this.#origin = origin
    this.#basePath = base.pathname.replace(/\/+$/, '')
    const headers = [
      'accept-encoding',
      'identity',
      'user-agent',
      'sluice',
      ...(key === null ? [] : credentialHeader(key)),
      ...extra.sent,
    ]
    this.#jsonHeaders = usualHeaders(['content-type', JSON_TYPE, 'accept', JSON_TYPE, ...headers])
    this.#eventHeaders = usualHeaders(['content-type', JSON_TYPE, 'accept', 'text/event-stream', ...headers])
  }

  /** Posts a request whose answer is read whole. */
  post(
    path: string,
    body: LinkBody,
    attempt: PostAttempt,
    kind: PostKind = EMBEDDINGS,
  ): Promise<Outcome<EgressAnswer>> {
    return this.#origin.call({
      method: 'POST',
      path: this.#basePath + path,
      headers: sent(this.#jsonHeaders, attempt),
      body,
      bodyBytes: attempt.bodyBytes ?? null,
      attemptEndsAt: attempt.endsAt,
      call: attempt.call,
      caller: attempt.caller,
      mayCutSent: false,
      answerBytesMax: kind.answerBytesMax,
      mayRepeat: kind.mayRepeat && !(body instanceof Readable),
      isLong: kind.isLong,
      mayLend: kind.mayLend === true,
      ...(attempt.wantedHeader !== undefined && { wantedHeader: attempt.wantedHeader }),
    })
  }

  /**
   * Posts a request whose answer is a stream of events, and resolves when the answer has begun, whatever its
   * status. The signal of the call closes the connection in the same turn, also while the provider is
   * silent. Nothing is sent twice: see `WRITTEN`. The caller has to close the body; a body that was read to
   * its end keeps the connection. Failures: as `TrustedOrigin.exchange`.
   */
  stream(path: string, body: LinkBody, attempt: LinkStreamAttempt): Promise<Outcome<EgressExchange>> {
    const { beginsBy, stallMs, caller, call, isCutByLeaving, bodyBytes = null } = attempt
    return this.#origin.exchange({
      method: 'POST',
      path: this.#basePath + path,
      headers: sent(this.#eventHeaders, attempt),
      body,
      bodyBytes,
      beginsBy: () => beginsBy,
      stallMs,
      signal: call.signal,
      signalEnds: isCutByLeaving ? 'response' : 'head',
      sent: (isSent) => call.sent?.(isSent),
      aheadBytesMax: UPSTREAM_EVENTS_BYTES_MAX,
      isDecoded: true,
      caller,
    })
  }
}

interface UsualHeaders {
  /** Flat list of names and values. */
  readonly list: readonly string[]
  /** The same list for calls that have no headers of their own and come from no gateway: it is shared by all of them. */
  readonly first: readonly string[]
}

function usualHeaders(headers: readonly string[]): UsualHeaders {
  return { list: headers, first: Object.freeze(withHops(headers, 0)) }
}

function sent({ list, first }: UsualHeaders, { hops = 0, headers = [] }: Origin): readonly string[] {
  if (headers.length > 0) return withHops([...without(list, headers), ...headers], hops)
  return hops === 0 ? first : withHops(list, hops)
}

/** The provider may itself be a Sluice, even this one, which then continues the count of hops. */
function withHops(headers: readonly string[], hops: number): readonly string[] {
  return [...headers, 'x-sluice-hops', String(hops + 1)]
}

/** The headers whose names are not among the others; both are flat lists. */
function without(headers: readonly string[], others: readonly string[]): readonly string[] {
  const names = new Set(others.filter((_, at) => at % 2 === 0))
  return headers.filter((_, at) => !names.has((headers[at - (at % 2)] ?? '').toLowerCase()))
}
