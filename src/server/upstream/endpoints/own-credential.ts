import { fail, type Failure, type Outcome } from '../../../schemas/failures.ts'
import type { Secret } from '../../../schemas/vault/secret.ts'
import type { OwnWay } from '../../ports/models/models.ts'

/** The caller of an attempt, for the release of a secret. */
interface Releasing {
  readonly caller: { readonly key: string }
  readonly requestId: string | null
  /** Id of the operation, for the audit log. */
  readonly operation: string
}

/**
 * A protocol whose credential may be replaced at any time: each credential has a link of its own, which
 * redacts it from responses.
 */
export class OwnCredential<P> {
  readonly #way: OwnWay
  readonly #open: (secret: Secret) => P
  #secret: Secret | null = null
  #opened: P | null = null

  constructor(way: OwnWay, open: (secret: Secret) => P) {
    this.#way = way
    this.#open = open
  }

  /** Runs a call with the current credential. Failures: also those of a release. */
  under<R>(by: Releasing, run: (protocol: P) => Promise<Outcome<R>>): Promise<Outcome<R>> {
    const { released } = this.#way
    return released === null ? this.#released(by, run) : run(this.#with(released))
  }

  async #released<R>(
    { caller, requestId, operation }: Releasing,
    run: (protocol: P) => Promise<Outcome<R>>,
  ): Promise<Outcome<R>> {
    const released = await this.#way.release({ key: caller.key, requestId, operation })
    return released.ok
      ? run(this.#with(released.value))
      : { ok: false, failure: ofCredential(released.failure) }
  }

  #with(secret: Secret): P {
    if (secret === this.#secret && this.#opened !== null) return this.#opened
    this.#secret = secret
    this.#opened = this.#open(secret)
    return this.#opened
  }
}

/** Renames the failure of a secret: the caller of a model did not name the secret and cannot bind it. */
function ofCredential(failure: Failure): Failure {
  return failure.name === 'secret_not_released' ? { name: 'credential_unavailable' } : failure
}

/**
 * Names the secret in a failure of the workspace's own key, since only the workspace can replace the key, and ends the
 * call: trying another endpoint would hide the failure, at the operator's cost.
 */
export function ofOwnKey<R>(outcome: Outcome<R>, secretName: string): Outcome<R> {
  if (outcome.ok) return outcome
  const { failure } = outcome
  const fields = { secret: secretName }
  if (failure.name === 'upstream_credential') {
    return {
      ok: false,
      failure: { ...failure, name: 'upstream_own_key', fields: { ...failure.fields, ...fields } },
    }
  }
  return failure.name === 'credential_unavailable' ? fail('provider_key_unfit', { fields }) : outcome
}
