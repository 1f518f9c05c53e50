import type { Failure, FailureName, PreviousError } from '../../schemas/failures.ts'
import type { Provider } from '../ports/models.ts'

/**
 * Which of several failures is told: the one that leaves the caller most to hope for. An overloaded or slow provider
 * may answer the next try; a refused credential will not until an operator acts.
 */
const RANK: readonly FailureName[] = [
  'upstream_overloaded', 'upstream_slow', 'busy', 'upstream_failed', 'upstream_invalid', 'upstream_too_large', 'upstream_credential', 'input_unsupported',
]

/** The failed attempts of one call, in order. */
export class Trail {
  readonly #failures: { readonly failure: Failure; readonly provider: Provider; readonly error: PreviousError }[] = []
  #leastRestMs = Infinity

  get errors(): readonly PreviousError[] {
    return this.#failures.map(({ error }) => error)
  }

  add(failure: Failure, provider: Provider): void {
    const status = failure.fields?.['status']
    const error = { provider: provider.name, code: failure.metadata?.provider_code ?? failure.name, status: typeof status === 'number' ? status : null }
    this.#failures.push({ failure, provider, error })
  }

  /** An endpoint whose breaker is open was passed over. */
  skipped(restMs: number): void {
    this.#leastRestMs = Math.min(this.#leastRestMs, restMs)
  }

  /** A failure that no other endpoint could mend, with what was tried before. */
  ending(failure: Failure, provider: Provider): Failure {
    const named = failure.name.startsWith('upstream_') || failure.name === 'deadline_exceeded' ? { provider_name: provider.name } : {}
    return withMetadata(failure, named, this.errors)
  }

  deadline(): Failure {
    return withMetadata({ name: 'deadline_exceeded' }, {}, this.errors)
  }

  /** The failure of a call that has tried all it could. */
  last(): Failure {
    if (this.#failures.length === 0) {
      return { name: 'endpoint_unavailable', retryAfterS: Math.max(1, Math.ceil(this.#leastRestMs / 1_000)) }
    }
    const told = this.#failures.reduce((best, one) => (RANK.indexOf(one.failure.name) < RANK.indexOf(best.failure.name) ? one : best))
    const others = this.#failures.filter((one) => one !== told).map(({ error }) => error)
    const provider = told.failure.name.startsWith('upstream_') ? { provider_name: told.provider.name } : {}
    return withMetadata(told.failure, provider, others)
  }
}

function withMetadata(failure: Failure, provider: { readonly provider_name?: string }, previous: readonly PreviousError[]): Failure {
  return { ...failure, metadata: { ...failure.metadata, ...provider, ...(previous.length > 0 ? { previous_errors: previous } : {}) } }
}
