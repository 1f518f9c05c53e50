import type { Failure } from '../../../schemas/failures.ts'
import type { PreviousError } from '../../../schemas/failure-metadata.ts'
import type { Provider } from '../../ports/models/models.ts'
import { named } from '../provider-failure.ts'
import { rankOf } from './fallbacks.ts'

const NONE: readonly PreviousError[] = []
/** Never written: the first failure makes a list. */
const NO_FAILURES: Attempted[] = []

interface Attempted {
  readonly failure: Failure
  /** Id of the model. */
  readonly model: string
  readonly provider: Provider
  readonly error: PreviousError
}

/** The failed attempts of one call, in order. */
export class Trail {
  #failures: Attempted[] = NO_FAILURES
  #leastRestMs = Infinity

  get length(): number {
    return this.#failures.length
  }

  get errors(): readonly PreviousError[] {
    return this.#failures.length === 0 ? NONE : this.#failures.map(({ error }) => error)
  }

  add(failure: Failure, provider: Provider, model: string): void {
    const status = failure.fields?.['status']
    const code = failure.metadata?.provider_code ?? failure.name
    if (this.#failures === NO_FAILURES) this.#failures = []
    this.#failures.push({
      failure,
      model,
      provider,
      error: { provider: provider.name, code, status: typeof status === 'number' ? status : null },
    })
  }

  /** Notes an endpoint that was skipped since its breaker is open. */
  skipped(restMs: number): void {
    this.#leastRestMs = Math.min(this.#leastRestMs, restMs)
  }

  /** A failure that ends the call, since no other endpoint could succeed, with the attempts before it. */
  ending(failure: Failure, provider: Provider): Failure {
    const isProviders = failure.name.startsWith('upstream_') || failure.name === 'deadline_exceeded'
    return withMetadata(failure, isProviders ? provider : null, this.errors)
  }

  /** The failure of a call that ended before its next attempt, with the attempts before it. */
  ended(failure: Failure): Failure {
    return withMetadata(failure, null, this.errors)
  }

  /** The failure of a call whose attempts have all failed: of the model that was tried last. D11. */
  last(): Failure {
    if (this.#failures.length === 0) {
      return { name: 'endpoint_unavailable', retryAfterS: Math.max(1, Math.ceil(this.#leastRestMs / 1_000)) }
    }
    const model = this.#failures.at(-1)?.model
    const shown = this.#failures
      .filter((one) => one.model === model)
      .reduce((best, one) => (rankOf(one.failure) < rankOf(best.failure) ? one : best))
    const others = this.#failures.filter((one) => one !== shown).map(({ error }) => error)
    return withMetadata(
      shown.failure,
      shown.failure.name.startsWith('upstream_') ? shown.provider : null,
      others,
    )
  }
}

function withMetadata(
  failure: Failure,
  provider: Provider | null,
  previous: readonly PreviousError[],
): Failure {
  const before = previous.length === 0 ? {} : { previous_errors: previous }
  const shown = provider === null ? failure : named(failure, provider.name)
  return { ...shown, metadata: { ...shown.metadata, ...before } }
}
