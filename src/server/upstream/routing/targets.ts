import type { Endpoint } from '../../ports/models/models.ts'
import type { BreakerReading } from '../../ports/observe.ts'
import { EndpointHealth } from './health.ts'

/** A configured endpoint with everything that a call of it needs. */
export interface Target<P> {
  readonly endpoint: Endpoint
  readonly protocol: P
  readonly health: EndpointHealth
}

export interface TargetDeps<P> {
  /** Null when the endpoint is not configured, or has no protocol for such calls. */
  readonly open: (endpoint: Endpoint) => P | null
  /** A number from 0 to 1. */
  readonly random: () => number
}

/** Endpoints, each prepared once; the same endpoint under several models and variants shares one health. */
export class TargetTable<P> {
  readonly #deps: TargetDeps<P>
  readonly #targets = new WeakMap<Endpoint, Target<P> | null>()
  readonly #health = new Map<string, EndpointHealth>()
  /** Private endpoints come and go: the health of one ends with it. */
  readonly #ownHealth = new WeakMap<Endpoint, EndpointHealth>()
  /**
   * Endpoints of the catalogue whose breaker opened; a reading that finds the breaker closed removes its
   * entry.
   */
  readonly #opened = new Map<string, Target<P>>()
  /** Openings of breakers since the start, by provider. */
  readonly #openings = new Map<string, number>()

  constructor(deps: TargetDeps<P>) {
    this.#deps = deps
  }

  /** Null when the endpoint is not configured, or has no protocol for such calls. */
  of(endpoint: Endpoint): Target<P> | null {
    const known = this.#targets.get(endpoint)
    if (known !== undefined) return known
    const protocol = this.#deps.open(endpoint)
    const target = protocol === null ? null : { endpoint, protocol, health: this.healthOf(endpoint) }
    this.#targets.set(endpoint, target)
    return target
  }

  healthOf(endpoint: Endpoint): EndpointHealth {
    const known =
      endpoint.ownWay === undefined ? this.#health.get(endpoint.tag) : this.#ownHealth.get(endpoint)
    if (known !== undefined) return known
    const health = new EndpointHealth(this.#deps.random)
    if (endpoint.ownWay === undefined) this.#health.set(endpoint.tag, health)
    else this.#ownHealth.set(endpoint, health)
    return health
  }

  /** True when at most one of a model's endpoints is configured. */
  isAlone(endpoints: readonly Endpoint[]): boolean {
    return endpoints.filter((endpoint) => this.of(endpoint) !== null).length < 2
  }

  /**
   * Notes that the breaker of an endpoint opened. A private endpoint belongs to its workspace: the node's
   * metrics leave it out.
   */
  opened(target: Target<P>): void {
    const { tag, provider, ownWay } = target.endpoint
    if (ownWay !== undefined) return
    this.#opened.set(tag, target)
    this.#openings.set(provider.slug, (this.#openings.get(provider.slug) ?? 0) + 1)
  }

  /** Breakers by provider, for all providers whose breaker ever opened. */
  breakers(nowMs: number): readonly BreakerReading[] {
    return Array.from(this.#openings, ([provider, openings]) => ({
      provider,
      openings,
      open: this.#openOf(provider, nowMs),
    }))
  }

  #openOf(provider: string, nowMs: number): BreakerReading['open'] {
    const found = []
    for (const [tag, { endpoint, health }] of this.#opened) {
      if (endpoint.provider.slug !== provider) continue
      const breaker = health.breaker(nowMs)
      if (breaker === null) this.#opened.delete(tag)
      else found.push({ endpoint: tag, ...breaker })
    }
    return found
  }
}
