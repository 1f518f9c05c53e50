import { hasEmbeddings, type EmbeddingProtocolName } from '../../schemas/protocols.ts'
import type { Egress } from '../ports/egress.ts'
import type { Endpoint, Provider } from '../ports/models.ts'
import type { ShortJobs } from '../ports/short-jobs.ts'
import { cohereEmbeddings } from './cohere.ts'
import { googleEmbeddings, googleKey } from './google.ts'
import { EndpointHealth } from './health.ts'
import { bearer, ProviderLink, type Credential, type CredentialHeader } from './link.ts'
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
  readonly #lexical: LexicalEmbeddings

  constructor(options: TargetOptions) {
    this.#options = options
    this.#lexical = new LexicalEmbeddings(options.jobs, options.egress)
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
    if (!hasEmbeddings(provider.protocol)) return null
    if (provider.protocol === 'local') return this.#lexical
    const { credentialHeader, open } = REMOTE[provider.protocol]
    const key = this.#keyOf(provider)
    if (key === undefined) return null
    return open(endpoint, new ProviderLink(provider, { egress, key, credentialHeader }), jobs)
  }

  /** Null when the provider needs none, undefined when it is not set here. */
  #keyOf({ apiKeyEnv }: Provider): string | null | undefined {
    return apiKeyEnv === null ? null : this.#options.credentials.get(apiKeyEnv)?.reveal()
  }
}

interface Remote {
  readonly credentialHeader: CredentialHeader
  readonly open: (endpoint: Endpoint, link: ProviderLink, jobs: ShortJobs) => EmbeddingProtocol
}

const REMOTE: Readonly<Record<Exclude<EmbeddingProtocolName, 'local'>, Remote>> = {
  openai: { credentialHeader: bearer, open: (...means) => new OpenAiEmbeddings(...means) },
  cohere: { credentialHeader: bearer, open: cohereEmbeddings },
  google: { credentialHeader: googleKey, open: googleEmbeddings },
}
