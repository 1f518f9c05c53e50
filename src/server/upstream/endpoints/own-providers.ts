import { UPSTREAM_TIMEOUT_MS_DEFAULT } from '../../../schemas/models/provider-limits.ts'
import {
  COMPATIBLE_SLUGS,
  placeOf,
  ENDPOINT_FORMS,
  type EndpointForm,
} from '../../../schemas/endpoints/private-endpoints.ts'
import type { Destination } from '../../ports/egress/egress.ts'
import type { Provider } from '../../ports/models/models.ts'
import type { PrivateEndpoint } from '../../ports/endpoints/private-endpoints.ts'
import type { Protocol } from '../../../schemas/models/protocols.ts'

/** Facts of a server whose maker is unknown. */
const COMPATIBLE: Omit<Provider, 'slug' | 'baseUrl' | 'apiKeyEnv' | 'headers'> = {
  name: 'OpenAI-compatible',
  protocol: 'openai',
  timeoutMs: UPSTREAM_TIMEOUT_MS_DEFAULT,
  rename: {},
  video: null,
}

/** Providers by slug: those of the catalogue, or any server with OpenAI's protocol. */
export class OwnProviders {
  readonly #known: ReadonlyMap<string, Provider>

  constructor(providers: readonly Provider[]) {
    this.#known = new Map(
      providers.filter((one) => formsOf(one).length > 0).map((one) => [one.slug.toLowerCase(), one]),
    )
  }

  nameOf(slug: string): string | null {
    return this.#find(slug)?.name ?? null
  }

  /** The provider at the endpoint's address; null when Sluice has no protocol for it. */
  at({ providerSlug, baseUrl }: Pick<PrivateEndpoint, 'providerSlug' | 'baseUrl'>): Provider | null {
    const found = this.#find(providerSlug)
    return found === null ? null : { ...found, baseUrl, apiKeyEnv: null, headers: [] }
  }

  /** The provider of a slug. The returned slug is always one of a fixed set, whatever the caller's spelling, since metrics count by it. */
  #find(providerSlug: string): Omit<Provider, 'baseUrl' | 'apiKeyEnv'> | null {
    const slug = providerSlug.toLowerCase()
    return this.#known.get(slug) ?? (COMPATIBLE_SLUGS.includes(slug) ? { ...COMPATIBLE, slug } : null)
  }
}

/** Null for a text that is no address. */
export function destinationOf(baseUrl: string): Destination | null {
  const place = placeOf(baseUrl)
  return place === null ? null : { host: place.host, port: place.port, purpose: 'caller' }
}

/** The API forms that a server of a protocol may support: many servers with OpenAI's protocol support Anthropic's messages too. */
const FORMS: Readonly<Record<Protocol, readonly EndpointForm[]>> = {
  openai: ENDPOINT_FORMS,
  anthropic: ['messages'],
  cohere: ['embeddings'],
  google: ['embeddings'],
  local: [],
}

/** Empty: no workspace can have such an endpoint. */
export function formsOf({ protocol }: { readonly protocol: Protocol }): readonly EndpointForm[] {
  return FORMS[protocol]
}
