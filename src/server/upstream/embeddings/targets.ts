import { hasEmbeddings } from '../../../schemas/models/protocols.ts'
import type { Egress } from '../../ports/egress/egress.ts'
import type { Endpoint } from '../../ports/models/models.ts'
import type { ShortJobs } from '../../ports/short-jobs.ts'
import type { BreakerReading } from '../../ports/observe.ts'
import { EndpointHealth } from './health.ts'
import type { Credential } from '../credential.ts'
import { LexicalEmbeddings } from './local.ts'
import { openOwn } from '../endpoints/own-embeddings.ts'
import type { EmbeddingProtocol } from './protocol.ts'
import { operatorAccess } from '../provider-headers.ts'
import { openRemote } from './remote.ts'

/** A configured endpoint with everything that a call of it needs. */
export interface Target {
  readonly endpoint: Endpoint
  readonly protocol: EmbeddingProtocol
  readonly health: EndpointHealth
}

interface TargetOptions {
  readonly egress: Egress
  readonly jobs: ShortJobs
  readonly credentials: ReadonlyMap<string, Credential>
  readonly random: () => number
}

/** Endpoints, each prepared once; the same endpoint under several models and variants shares one health. */
export class TargetTable {
  readonly #options: TargetOptions
  readonly #targets = new WeakMap<Endpoint, Target | null>()
  readonly #health = new Map<string, EndpointHealth>()
  /** Private endpoints come and go: the health of one ends with it. */
  readonly #ownHealth = new WeakMap<Endpoint, EndpointHealth>()
  readonly #lexical: LexicalEmbeddings
  /**
   * Endpoints of the catalogue whose breaker opened; a reading that finds the breaker closed removes its
   * entry.
   */
  readonly #opened = new Map<string, Target>()
  /** Openings of breakers since the start, by provider. */
  readonly #openings = new Map<string, number>()

  constructor(options: TargetOptions) {
    this.#options = options
    this.#lexical = new LexicalEmbeddings(options.jobs, options.egress)
  }

  /** Null when the operator's key for the provider is not set, or the protocol has no embeddings. */
  of(endpoint: Endpoint): Target | null {
    const known = this.#targets.get(endpoint)
    if (known !== undefined) return known
    const protocol = this.#protocolOf(endpoint)
    const target = protocol === null ? null : { endpoint, protocol, health: this.healthOf(endpoint) }
    this.#targets.set(endpoint, target)
    return target
  }

  healthOf(endpoint: Endpoint): EndpointHealth {
    const known =
      endpoint.ownWay === undefined ? this.#health.get(endpoint.tag) : this.#ownHealth.get(endpoint)
    if (known !== undefined) return known
    const health = new EndpointHealth(this.#options.random)
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
  opened(target: Target): void {
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

  #protocolOf(endpoint: Endpoint): EmbeddingProtocol | null {
    const { provider, ownWay } = endpoint
    const { jobs, egress } = this.#options
    if (!hasEmbeddings(provider.protocol)) return null
    if (provider.protocol === 'local') return this.#lexical
    if (ownWay !== undefined) return openOwn(endpoint, ownWay, { egress, jobs })
    const access = operatorAccess(provider, this.#options.credentials)
    if (access === null) return null
    return openRemote(endpoint, { origin: egress.trusted(new URL(provider.baseUrl).origin), jobs, ...access })
  }
}
