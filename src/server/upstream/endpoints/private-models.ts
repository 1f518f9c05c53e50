import { ok, type Outcome } from '../../../schemas/failures.ts'
import { providerKeyHost, providerKeyName } from '../../../schemas/workspaces/provider-keys.ts'
import { LiveCache } from '../../caches/live-cache.ts'
import { EVERYTHING } from '../../caches/recent-changes.ts'
import type { Change, EpochFeed, KeyRecord } from '../../ports/keys/keys.ts'
import type {
  CallableModel,
  Endpoint,
  ModelCatalogue,
  OwnWay,
  Provider,
  OwnListing,
  OwnModel,
} from '../../ports/models/models.ts'
import type {
  PrivateEndpoint,
  PrivateEndpoints,
  PrivateModels,
  WorkspaceModels,
} from '../../ports/endpoints/private-endpoints.ts'
import type { SecretBinding, SecretBindings } from '../../ports/vault/secret-rows.ts'
import type { SecretReleases, VaultScope } from '../../ports/vault/vault.ts'
import { isRemote } from '../embeddings/remote.ts'
import { destinationOf, OwnProviders } from './own-providers.ts'
import { ReleasedCredentials } from './released-credentials.ts'
import { endpointAt } from './own-endpoint.ts'

/** Workspaces whose private endpoints a front caches, including workspaces without any. Decision. */
export const WORKSPACE_MODELS_CACHED_MAX = 50_000

export interface PrivateModelsDeps {
  readonly rows: Pick<PrivateEndpoints, 'active'>
  readonly bindings: SecretBindings
  readonly releases: SecretReleases
  readonly catalogue: Pick<ModelCatalogue, 'resolve' | 'providers'>
  readonly listOwn: (models: readonly OwnModel[]) => OwnListing
  readonly feed: EpochFeed
  /** Milliseconds after the last good poll during which cached entries are served. Design §3. */
  readonly graceMs: number
  /** Milliseconds of the wall clock, as `Date.now`. */
  readonly now: () => number
  /** Workspaces that are cached at most; WORKSPACE_MODELS_CACHED_MAX when left out. */
  readonly cachedMax?: number
}

/** Cached facts of one workspace that has endpoints of its own, or keys of its own for providers. */
interface Known {
  readonly models: WorkspaceModels
  readonly credentials: ReleasedCredentials
}

/** Entry of a workspace with neither endpoints nor keys, as most are: one object serves all of them. */
const NONE: unique symbol = Symbol('none')

type Owner = Pick<VaultScope, 'organizationId' | 'workspaceId'>

interface Found {
  readonly endpoints: readonly PrivateEndpoint[]
  readonly secrets: readonly SecretBinding[]
}

/**
 * Caches the private endpoints and provider keys of the workspaces that call: loaded at their first call, and
 * again after every change.
 */
export function createPrivateModels(deps: PrivateModelsDeps): PrivateModels & { close(): void } {
  return new LiveModels(deps)
}

class LiveModels implements PrivateModels {
  readonly #deps: PrivateModelsDeps
  readonly #providers: OwnProviders
  readonly #keyed: KeyedProviders
  readonly #known: LiveCache<Known | typeof NONE, Known | typeof NONE>

  constructor(deps: PrivateModelsDeps) {
    this.#deps = deps
    this.#providers = new OwnProviders(deps.catalogue.providers)
    this.#keyed = new KeyedProviders(deps.catalogue.providers)
    const { feed, graceMs, now, cachedMax: max = WORKSPACE_MODELS_CACHED_MAX } = deps
    this.#known = new LiveCache({
      feed,
      graceMs,
      now,
      nameOf,
      entries: {
        max,
        of: (known) => known,
        // An entry that is no longer cached receives no changes: its credentials are released again for each call.
        dropped: (known) => {
          if (known !== NONE) known.credentials.end()
        },
      },
    })
  }

  of(key: KeyRecord): WorkspaceModels | null | Promise<Outcome<WorkspaceModels | null>> {
    const workspaceId = key.workspaceId ?? key.defaultWorkspaceId
    // The cache returns nothing after the grace period: an endpoint may have been disabled long before, and the operator
    // may be charged for a call whose workspace has a key.
    const known = this.#known.find(workspaceId)
    if (known !== undefined) return known === NONE ? null : known.models
    return this.#load(workspaceId, key.organizationId)
  }

  close(): void {
    this.#known.close()
  }

  async #load(workspaceId: string, organizationId: string): Promise<Outcome<WorkspaceModels | null>> {
    const loaded = await this.#known.load({
      id: workspaceId,
      read: (sending) => this.#read({ workspaceId, organizationId }, sending),
    })
    if (!loaded.ok) return loaded
    return ok(loaded.value === NONE ? null : loaded.value.models)
  }

  async #read(of: Owner, sending: () => void): Promise<Outcome<Known | typeof NONE>> {
    const { rows, bindings } = this.#deps
    const { workspaceId } = of
    sending()
    const [endpoints, secrets] = await Promise.all([
      rows.active(workspaceId),
      bindings.among(workspaceId, this.#keyed.names),
    ])
    if (!endpoints.ok) return endpoints
    if (!secrets.ok) return secrets
    return ok(this.#build({ endpoints: endpoints.value, secrets: secrets.value }, of))
  }

  #build({ endpoints, secrets }: Found, of: Owner): Known | typeof NONE {
    const { catalogue, listOwn, releases, now } = this.#deps
    const credentials = new ReleasedCredentials({ scope: { ...of, internId: null }, releases, now })
    const keys = this.#keyed.keysOf(secrets, credentials)
    if (endpoints.length === 0 && keys.size === 0) return NONE
    return {
      credentials,
      models: workspaceModels(endpoints, {
        ...{ catalogue, listOwn, credentials, keys },
        providers: this.#providers,
      }),
    }
  }
}

function nameOf(change: Change): string | null {
  switch (change.kind) {
    case 'private_endpoint':
    case 'vault':
      return change.id
    case 'everything':
      return EVERYTHING
    case 'key':
    case 'workspace':
    case 'organization':
    case 'catalogue':
    case 'preset':
      return null
    default:
      return change satisfies never
  }
}

interface WorkspaceModelsDeps {
  readonly catalogue: Pick<ModelCatalogue, 'resolve'>
  readonly providers: OwnProviders
  readonly credentials: ReleasedCredentials
  readonly keys: OwnKeys
  readonly listOwn: (models: readonly OwnModel[]) => OwnListing
}

/** Modalities that the protocols support; each protocol accepts the forms of input that it knows. */
const EVERY_MODALITY = ['text', 'image', 'audio', 'video', 'file']

/** @param endpoints active ones of one workspace, oldest first */
function workspaceModels(endpoints: readonly PrivateEndpoint[], deps: WorkspaceModelsDeps): WorkspaceModels {
  const { catalogue, keys } = deps
  const bySlug = new Map<string, Routed[]>()
  for (const own of endpoints) {
    const one = routed(own, deps)
    if (one === null) continue
    const slug = (catalogue.resolve(own.modelPermaslug)?.canonicalSlug ?? own.modelPermaslug).toLowerCase()
    bySlug.set(slug, [...(bySlug.get(slug) ?? []), one])
  }
  const own = new Map([...bySlug].map(([slug, list]) => [slug, modelOf(list)]))
  let listing: OwnListing | null = null
  const joined = new Map<CallableModel, CallableModel>()
  const keyed = new Map<Endpoint, Endpoint>()
  return {
    // Most workspaces make calls but never read lists.
    get listing() {
      return (listing ??= deps.listOwn([...bySlug.values()].map((list) => ownModel(list, catalogue))))
    },
    resolve(id) {
      const known = catalogue.resolve(id)
      if (known === null) return own.get(id.toLowerCase()) ?? null
      const before = joined.get(known)
      if (before !== undefined) return before
      const ours = own.get(known.canonicalSlug.toLowerCase())
      const theirs = underOwnKeys(known, keys, keyed)
      const model = ours === undefined ? theirs : join(ours, theirs)
      joined.set(known, model)
      return model
    },
  }
}

interface Routed {
  readonly own: PrivateEndpoint
  readonly slug: string
  /** Nano-USD per million tokens; infinite for an endpoint without a price, which may be the most expensive. */
  readonly costs: number
  readonly endpoint: Endpoint
}

/** Null when the provider is no longer in the catalogue. The secret is released at the first call. */
function routed(own: PrivateEndpoint, { providers, credentials }: WorkspaceModelsDeps): Routed | null {
  const provider = providers.at(own)
  const destination = destinationOf(own.baseUrl)
  // A validated endpoint has a credential.
  if (provider === null || destination === null || own.secretName === null) return null
  const endpoint = endpointAt(own, provider)
  return {
    own,
    slug: own.modelPermaslug,
    costs: own.pricing === null ? Infinity : endpoint.prices.promptNanoPerMillion,
    endpoint: { ...endpoint, ownWay: credentials.wayTo(destination, own.secretName) },
  }
}

function modelOf(list: readonly Routed[]): CallableModel {
  const endpoints = inOrder(list).map(({ endpoint }) => endpoint)
  return {
    id: list[0]?.slug ?? '',
    isEmbedding: endpoints.some(({ embeds }) => embeds === true),
    isWriter: endpoints.some(({ text }) => text !== null),
    isUnpriced: false,
    inputModalities: EVERY_MODALITY,
    video: null,
    endpoints,
  }
}

/** The cheapest first, then the oldest. */
function inOrder(list: readonly Routed[]): readonly Routed[] {
  return [...list].sort((one, other) => (one.costs === other.costs ? 0 : one.costs - other.costs))
}

function ownModel(list: readonly Routed[], catalogue: WorkspaceModelsDeps['catalogue']): OwnModel {
  const slug = list[0]?.slug ?? ''
  return {
    slug,
    createdAt: list[0]?.own.createdAt ?? new Date(0),
    callable: modelOf(list),
    endpoints: inOrder(list).map(({ endpoint, own: { pricing, declaredRegion: region } }) => ({
      endpoint,
      pricing,
      region,
    })),
    known: catalogue.resolve(slug),
  }
}

/** A model with the workspace's own endpoints before those of the catalogue. */
function join(own: CallableModel, known: CallableModel): CallableModel {
  return {
    ...factsOf(known),
    isUnpriced: own.isUnpriced && known.isUnpriced,
    endpoints: [...own.endpoints, ...known.endpoints],
  }
}

/**
 * The catalogue's model, with a workspace's own key at each provider that it has a key for. @param keyed the
 * endpoints with a key, each made once
 */
function underOwnKeys(model: CallableModel, keys: OwnKeys, keyed: Map<Endpoint, Endpoint>): CallableModel {
  if (!model.endpoints.some(({ provider }) => keys.has(provider.slug))) return model
  const endpoints = model.endpoints.map((endpoint) => {
    const ownWay = keys.get(endpoint.provider.slug)
    if (ownWay === undefined) return endpoint
    const own = keyed.get(endpoint) ?? { ...endpoint, ownWay }
    keyed.set(endpoint, own)
    return own
  })
  return { ...factsOf(model), isUnpriced: model.isUnpriced, endpoints }
}

/** The facts of a model without the members that only lists and reads show. */
function factsOf(model: CallableModel): Omit<CallableModel, 'isUnpriced' | 'endpoints'> {
  const { id, isEmbedding, isWriter, inputModalities, declared, reasons, video } = model
  const known = { ...(declared && { declared }), ...(reasons && { reasons }) }
  return { id, isEmbedding, isWriter, inputModalities, ...known, video }
}

interface Keyed {
  readonly slug: string
  readonly secretName: string
  readonly host: string
}

type OwnKeys = ReadonlyMap<string, OwnWay>

/** Providers of the catalogue that embed and accept a workspace's own key instead of the operator's. */
class KeyedProviders {
  readonly #keyed: readonly Keyed[]
  /** Names of the secrets that hold such keys. */
  readonly names: readonly string[]

  constructor(providers: readonly Provider[]) {
    this.#keyed = providers.flatMap(({ slug, protocol, baseUrl }) => {
      const host = providerKeyHost(baseUrl)
      return host === null || !isRemote(protocol) ? [] : [{ slug, secretName: providerKeyName(slug), host }]
    })
    this.names = [...new Set(this.#keyed.map(({ secretName }) => secretName))]
  }

  /** The keys whose secret exists and is bound to exactly the provider's host. */
  keysOf(bindings: readonly SecretBinding[], credentials: ReleasedCredentials): OwnKeys {
    const hosts = new Map(bindings.map(({ name, hosts }) => [name, hosts]))
    return new Map(
      this.#keyed
        .filter(({ secretName, host }) => hosts.get(secretName)?.includes(host) === true)
        .map(({ slug, secretName, host }) => [slug, credentials.keyFor(host, secretName)]),
    )
  }
}
