import type { Egress } from '../ports/egress.ts'
import type { Endpoint, Provider } from '../ports/models.ts'
import type { ShortJobs } from '../ports/short-jobs.ts'
import { cohereEmbeddings } from './cohere.ts'
import { googleEmbeddings } from './google.ts'
import { EndpointHealth } from './health.ts'
import { ProviderLink, type Credential } from './link.ts'
import { LexicalEmbeddings } from './local.ts'
import { OpenAiEmbeddings } from './openai.ts'
import type { EmbeddingProtocol } from './protocol.ts'

/** An endpoint that is set up here, with what it takes to call it. */
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

/** Endpoints made ready once each; the same endpoint under several models and variants shares one health. */
export class TargetTable {
  readonly #options: TargetOptions
  readonly #targets = new WeakMap<Endpoint, Target | null>()
  readonly #health = new Map<string, EndpointHealth>()

  constructor(options: TargetOptions) {
    this.#options = options
  }

  /** Null when our key for its provider is not set, or its protocol has no embeddings. */
  of(endpoint: Endpoint): Target | null {
    const known = this.#targets.get(endpoint)
    if (known !== undefined) return known
    const protocol = this.#protocolOf(endpoint)
    const target = protocol === null ? null : { endpoint, protocol, health: this.healthOf(endpoint) }
    this.#targets.set(endpoint, target)
    return target
  }

  healthOf({ tag }: Endpoint): EndpointHealth {
    const known = this.#health.get(tag)
    if (known !== undefined) return known
    const health = new EndpointHealth(this.#options.random)
    this.#health.set(tag, health)
    return health
  }

  #protocolOf(endpoint: Endpoint): EmbeddingProtocol | null {
    const { provider } = endpoint
    const { jobs, egress } = this.#options
    if (provider.protocol === 'local') return new LexicalEmbeddings(jobs, egress)
    const link = this.#linkTo(provider)
    if (link === null) return null
    switch (provider.protocol) {
      case 'openai':
        return new OpenAiEmbeddings(endpoint, link, jobs)
      case 'cohere':
        return cohereEmbeddings(endpoint, link, jobs)
      case 'google':
        return googleEmbeddings(endpoint, link, jobs)
      case 'anthropic':
        return null
      default:
        return provider.protocol satisfies never
    }
  }

  #linkTo(provider: Provider): ProviderLink | null {
    const { egress, credentials } = this.#options
    if (provider.apiKeyEnv === null) return new ProviderLink(provider, egress, [])
    const key = credentials.get(provider.apiKeyEnv)
    if (key === undefined) return null
    const header =
      provider.protocol === 'google'
        ? ['x-goog-api-key', key.reveal()]
        : ['authorization', `Bearer ${key.reveal()}`]
    return new ProviderLink(provider, egress, header)
  }
}
