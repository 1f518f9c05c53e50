import { UPSTREAM_ANSWER_BYTES_MAX } from '../../schemas/limits.ts'
import type { Outcome } from '../../schemas/failures.ts'
import type { Egress, EgressAnswer, TrustedOrigin } from '../ports/egress.ts'
import type { Provider } from '../ports/models.ts'
import type { EmbeddingAttempt } from './protocol.ts'
import type { Struck } from './reason.ts'

/** A key of ours: its text is asked for once, when an endpoint is first used. */
export interface Credential {
  reveal(): string
}

/** The way to one provider: its pool, its base path and the headers of every call. */
export class ProviderLink {
  readonly provider: Provider
  /** What no caller may read in what the provider says. */
  readonly struck: Struck
  readonly #origin: TrustedOrigin
  readonly #basePath: string
  readonly #headers: readonly string[]

  /** @param credential the header that carries our key, name and value; empty when the provider needs none */
  constructor(provider: Provider, egress: Egress, credential: readonly string[]) {
    const base = new URL(provider.baseUrl)
    this.provider = provider
    const [, value = ''] = credential
    this.struck = { credential: value.replace(/^Bearer /, ''), host: base.hostname }
    this.#origin = egress.trusted(base.origin)
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
      ...credential,
    ]
  }

  /** Embeddings have no effect at the provider but a charge: repeating one that a dead connection lost is safe. */
  post(
    path: string,
    body: string | Uint8Array | readonly Uint8Array[],
    attempt: EmbeddingAttempt,
  ): Promise<Outcome<EgressAnswer>> {
    return this.#origin.call({
      method: 'POST',
      path: this.#basePath + path,
      headers: this.#headers,
      body,
      attemptEndsAt: attempt.endsAt,
      call: attempt.call,
      mayCutSent: false,
      mayRepeat: true,
      answerBytesMax: UPSTREAM_ANSWER_BYTES_MAX,
    })
  }
}

export function isSuccess(answer: EgressAnswer): boolean {
  return answer.status >= 200 && answer.status < 300
}
