import type { Outcome } from '../../schemas/failures.ts'
import { UPSTREAM_ANSWER_BYTES_MAX } from '../../schemas/models/provider-limits.ts'
import type { EgressAnswer, TrustedOrigin } from '../ports/egress/egress.ts'
import type { Provider } from '../ports/models/models.ts'
import type { CredentialHeader } from './credential.ts'
import type { EmbeddingAttempt } from './embeddings/protocol.ts'
import { NO_EXTRA, type ExtraHeaders } from './provider-headers.ts'
import type { RedactedTexts } from './reason.ts'

/** The origin that a link calls: trusted or vetted. */
export type LinkOrigin = Pick<TrustedOrigin, 'call'>

export interface LinkDeps {
  readonly origin: LinkOrigin
  /** The key; null when the provider needs none. */
  readonly key: string | null
  readonly credentialHeader: CredentialHeader
  /** Headers that the catalogue has for this provider. */
  readonly extra?: ExtraHeaders
}

/** The connection to one provider: its pool, its base path and the headers of every call. */
export class ProviderLink {
  readonly provider: Provider
  /** Texts that are redacted from everything that the provider says. */
  readonly redacted: RedactedTexts
  readonly #origin: LinkOrigin
  readonly #basePath: string
  readonly #headers: readonly string[]

  constructor(provider: Provider, { origin, key, credentialHeader, extra = NO_EXTRA }: LinkDeps) {
    const base = new URL(provider.baseUrl)
    this.provider = provider
    this.redacted = { credential: key ?? '', others: extra.secrets, host: base.hostname }
    this.#origin = origin
    this.#basePath = base.pathname.replace(/\/+$/, '')
    this.#headers = [
      ...[
        'content-type',
        'application/json',
        'accept',
        'application/json',
        'accept-encoding',
        'identity',
        'user-agent',
        'sluice',
      ],
      ...(key === null ? [] : credentialHeader(key)),
      ...extra.sent,
    ]
  }

  /**
   * Posts a request. A repeat after a lost connection is safe: embeddings have no effect at the provider
   * except a charge.
   */
  post(
    path: string,
    body: string | Uint8Array | readonly Uint8Array[],
    attempt: Pick<EmbeddingAttempt, 'endsAt' | 'call' | 'hops' | 'caller'>,
  ): Promise<Outcome<EgressAnswer>> {
    // The provider may be a Sluice, also this one: that Sluice continues the count.
    const { hops = 0 } = attempt
    return this.#origin.call({
      method: 'POST',
      path: this.#basePath + path,
      headers: [...this.#headers, 'x-sluice-hops', String(hops + 1)],
      body,
      attemptEndsAt: attempt.endsAt,
      call: attempt.call,
      caller: attempt.caller,
      mayCutSent: false,
      mayRepeat: true,
      answerBytesMax: UPSTREAM_ANSWER_BYTES_MAX,
    })
  }
}
