import { fail, type Outcome } from '../../schemas/failures.ts'
import {
  UPSTREAM_CONNECTIONS_MAX,
  UPSTREAM_HEADERS_BYTES_MAX,
  UPSTREAM_KEEP_ALIVE_MS,
  UPSTREAM_WAITING_MAX,
} from '../../schemas/models/provider-limits.ts'
import type {
  EgressAnswer,
  EgressExchange,
  EgressExchangeRequest,
  EgressRequest,
  EgressStream,
  EgressStreamRequest,
  TrustedOrigin,
} from '../ports/egress/egress.ts'
import type { AnswerBudget } from './answer-budget.ts'
import type { Connect } from './connect.ts'
import type { LongPlaces } from './long-places.ts'
import { PooledOrigin } from './origin.ts'
import { plainly } from './sent-headers.ts'

export interface TrustedDeps {
  readonly budget: AnswerBudget
  readonly connect: Connect
  /** For long calls. */
  readonly connectLong: Connect
  /** For the client of our own, for calls and for long calls; null: undici makes all calls. */
  readonly lean: { readonly calls: Connect; readonly long: Connect } | null
  readonly places: LongPlaces
  /** Connections for long calls, at most. */
  readonly longCallsMax: number
}

/**
 * An origin of the operator's: a pool for calls, and a pool of its own for long calls, so that answers which
 * take minutes leave the connections of calls free. D30. A call finds a connection of the second pool at
 * once, since the pool has as many as there are places.
 */
export class SplitOrigin implements TrustedOrigin {
  readonly #origin: string
  readonly #deps: TrustedDeps
  readonly #calls: PooledOrigin
  #long: PooledOrigin | null = null

  constructor(origin: string, deps: TrustedDeps) {
    this.#origin = origin
    this.#deps = deps
    this.#calls = new PooledOrigin(origin, {
      budget: deps.budget,
      connect: deps.connect,
      connectLean: deps.lean?.calls ?? null,
      limits: {
        connections: UPSTREAM_CONNECTIONS_MAX,
        waiting: UPSTREAM_WAITING_MAX,
        keepAliveTimeout: UPSTREAM_KEEP_ALIVE_MS,
      },
    })
  }

  /** Calls of both pools that a client still has. */
  get calls(): number {
    return this.#calls.calls + (this.#long?.calls ?? 0)
  }

  call(request: EgressRequest): Promise<Outcome<EgressAnswer>> {
    return request.isLong === true ? this.#longPool().call(request) : this.#calls.call(request)
  }

  open(request: EgressStreamRequest): Promise<Outcome<EgressStream>> {
    return this.#calls.open(request)
  }

  exchange(request: EgressExchangeRequest): Promise<Outcome<EgressExchange>> {
    // Another form would name an authority of its own.
    if (!request.path.startsWith('/')) return Promise.resolve(fail('header_invalid'))
    return this.#longPool().exchange({ ...request, headers: plainly(request.headers) })
  }

  async destroy(): Promise<void> {
    await Promise.all([this.#calls.destroy(), this.#long?.destroy()])
  }

  #longPool(): PooledOrigin {
    const { budget, connectLong: connect, lean, places, longCallsMax } = this.#deps
    this.#long ??= new PooledOrigin(this.#origin, {
      budget,
      connect,
      connectLean: lean?.long ?? null,
      places,
      limits: {
        connections: longCallsMax,
        waiting: 0,
        keepAliveTimeout: UPSTREAM_KEEP_ALIVE_MS,
        maxHeaderSize: UPSTREAM_HEADERS_BYTES_MAX,
      },
    })
    return this.#long
  }
}
