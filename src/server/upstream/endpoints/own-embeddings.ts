import { fail, type Failure, type Outcome } from '../../../schemas/failures.ts'
import type { Secret } from '../../../schemas/vault/secret.ts'
import type { Egress, VettedOrigin } from '../../ports/egress/egress.ts'
import type { Endpoint, OwnWay } from '../../ports/models/models.ts'
import type { ShortJobs } from '../../ports/short-jobs.ts'
import type { LinkOrigin } from '../link.ts'
import type { EmbeddingAttempt, EmbeddingProtocol, Reading } from '../embeddings/protocol.ts'
import { keyHeaderOf, NO_EXTRA, plainHeaders } from '../provider-headers.ts'
import { openRemote } from '../embeddings/remote.ts'

interface Deps {
  readonly egress: Pick<Egress, 'vetted' | 'trusted'>
  readonly jobs: ShortJobs
}

/**
 * Opens a workspace's own endpoint, or an endpoint of the catalogue under its own key; null when the gate
 * refuses the host or port, or the protocol has no embeddings.
 */
export function openOwn(endpoint: Endpoint, way: OwnWay, { egress, jobs }: Deps): EmbeddingProtocol | null {
  const origin = originOf(endpoint, way, egress)
  if (origin === null) return null
  // The catalogue's headers for its own address do not belong to another address.
  const isCatalogues = way.destination === null
  const extra = isCatalogues ? plainHeaders(endpoint.provider) : NO_EXTRA
  const keyHeader = isCatalogues ? keyHeaderOf(endpoint.provider) : null
  const open = (secret: Secret | null): EmbeddingProtocol | null =>
    openRemote(endpoint, { origin, key: secret?.reveal() ?? null, jobs, extra, keyHeader })
  const bare = open(null)
  if (bare === null) return null
  const own = new OwnEmbeddings(way, bare, (secret) => open(secret) ?? bare)
  return way.destination === null ? underOwnKey(own, way.secretName) : own
}

/** The operator configured the catalogue's address, which is trusted here as for all calls. */
function originOf(
  { provider }: Endpoint,
  { destination }: OwnWay,
  egress: Deps['egress'],
): LinkOrigin | null {
  if (destination === null) return egress.trusted(new URL(provider.baseUrl).origin)
  const vetted = egress.vetted(destination)
  return vetted.ok ? asProvider(vetted.value) : null
}

/**
 * Wraps a protocol: a failure of the workspace's own key names the secret, since only the workspace can
 * replace it, and ends the call. Another endpoint would hide the failure, at the operator's cost.
 */
function underOwnKey(own: EmbeddingProtocol, secretName: string): EmbeddingProtocol {
  const fields = { secret: secretName }
  const named = (outcome: Outcome<Reading>): Outcome<Reading> => {
    if (outcome.ok) return outcome
    const { failure } = outcome
    if (failure.name === 'upstream_credential') {
      return {
        ok: false,
        failure: { ...failure, name: 'upstream_own_key', fields: { ...failure.fields, ...fields } },
      }
    }
    return failure.name === 'credential_unavailable' ? fail('provider_key_unfit', { fields }) : outcome
  }
  return { takes: (shape) => own.takes(shape), embed: (attempt) => own.embed(attempt).then(named) }
}

/**
 * A protocol whose credential may be replaced at any time: each credential has a link of its own, which
 * redacts it from responses.
 */
class OwnEmbeddings implements EmbeddingProtocol {
  readonly #way: OwnWay
  /** The protocol without a credential: knows the supported inputs and is never called. */
  readonly #bare: EmbeddingProtocol
  readonly #open: (secret: Secret) => EmbeddingProtocol
  #secret: Secret | null = null
  #opened: EmbeddingProtocol

  constructor(way: OwnWay, bare: EmbeddingProtocol, open: (secret: Secret) => EmbeddingProtocol) {
    this.#way = way
    this.#bare = bare
    this.#open = open
    this.#opened = bare
  }

  takes(shape: Parameters<EmbeddingProtocol['takes']>[0]): boolean {
    return this.#bare.takes(shape)
  }

  embed(attempt: EmbeddingAttempt): Promise<Outcome<Reading>> {
    const { released } = this.#way
    return released === null ? this.#release(attempt) : this.#with(released).embed(attempt)
  }

  async #release(attempt: EmbeddingAttempt): Promise<Outcome<Reading>> {
    const released = await this.#way.release(attempt.caller.key, attempt.requestId ?? null)
    return released.ok
      ? this.#with(released.value).embed(attempt)
      : { ok: false, failure: ofCredential(released.failure) }
  }

  #with(secret: Secret): EmbeddingProtocol {
    if (secret === this.#secret) return this.#opened
    this.#secret = secret
    this.#opened = this.#open(secret)
    return this.#opened
  }
}

/** Renames the failure of a secret: the caller of a model has not named the secret and cannot bind it. */
export function ofCredential(failure: Failure): Failure {
  return failure.name === 'secret_not_released' ? { name: 'credential_unavailable' } : failure
}

/**
 * Wraps an origin. The caller of a model has not chosen the destination: a refused destination is the
 * endpoint's failure.
 */
function asProvider(origin: VettedOrigin): LinkOrigin {
  return {
    call: (request) => origin.call(request).then(ofDestination),
    exchange: (request) => origin.exchange(request).then(ofDestination),
  }
}

function ofDestination<T>(outcome: Outcome<T>): Outcome<T> {
  return !outcome.ok && outcome.failure.name === 'destination_refused'
    ? fail('upstream_failed', { cause: outcome.failure })
    : outcome
}
