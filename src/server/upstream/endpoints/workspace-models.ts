import type { CallableModel, Endpoint, ModelCatalogue } from '../../ports/models/models.ts'
import type { OwnListing, OwnModel } from '../../ports/models/own-models.ts'
import type { PrivateEndpoint, WorkspaceModels } from '../../ports/endpoints/private-endpoints.ts'
import { endpointAt } from './own-endpoint.ts'
import type { OwnKeys } from './keyed-providers.ts'
import { destinationOf, type OwnProviders } from './own-providers.ts'
import type { ReleasedCredentials } from './released-credentials.ts'

export interface WorkspaceModelsDeps {
  readonly catalogue: Pick<ModelCatalogue, 'resolve'>
  readonly providers: OwnProviders
  readonly credentials: ReleasedCredentials
  readonly keys: OwnKeys
  readonly listOwn: (models: readonly OwnModel[]) => OwnListing
}

/** Modalities that the protocols support; each protocol accepts the forms of input that it knows. */
const EVERY_MODALITY = ['text', 'image', 'audio', 'video', 'file']

/** @param endpoints active ones of one workspace, oldest first */
export function workspaceModels(
  endpoints: readonly PrivateEndpoint[],
  deps: WorkspaceModelsDeps,
): WorkspaceModels {
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
    // Most workspaces call, and read no lists.
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
  /**
   * Nano-USD per million tokens; infinite for an endpoint without a price, which is not known to be cheaper.
   * C21.
   */
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

/** The model over a list of endpoints. */
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

/** Without what lists and reads show of the model. */
function factsOf(model: CallableModel): Omit<CallableModel, 'isUnpriced' | 'endpoints'> {
  const { id, isEmbedding, isWriter, inputModalities, declared, reasons, video } = model
  const known = { ...(declared && { declared }), ...(reasons && { reasons }) }
  return { id, isEmbedding, isWriter, inputModalities, ...known, video }
}
