import { listOwn } from '../../catalogue/own-models.ts'
import type { PrivateEndpoint } from '../../ports/endpoints/private-endpoints.ts'
import type { ModelCatalogue, ResolvedModel } from '../../ports/models/models.ts'
import type { OwnEndpoint } from '../../ports/models/own-models.ts'
import { endpointsOfModel } from '../../store/endpoints/private-endpoint-rows.ts'
import { endpointAt } from '../../upstream/endpoints/own-endpoint.ts'
import { OwnProviders } from '../../upstream/endpoints/own-providers.ts'
import { withDatabase } from '../parts/database.ts'
import { table } from '../parts/verb.ts'

/** A model that private endpoints alone serve, with the endpoints of all organizations. */
export interface PrivateModel {
  readonly model: ResolvedModel
  readonly endpoints: readonly PrivateEndpoint[]
}

/** Null: no private endpoint serves a model of this name. Throws `CliFailure` without a database. */
export function privateModel(name: string, catalogue: ModelCatalogue): Promise<PrivateModel | null> {
  return withDatabase(async ({ store }) => {
    return modelOf(await endpointsOfModel(store.sql, name), catalogue)
  })
}

function modelOf(rows: readonly PrivateEndpoint[], { providers }: ModelCatalogue): PrivateModel | null {
  const known = new OwnProviders(providers)
  const served = rows.flatMap((row): { row: PrivateEndpoint; own: OwnEndpoint }[] => {
    const provider = known.at(row)
    if (provider === null) return []
    const { pricing, declaredRegion: region } = row
    return [{ row, own: { endpoint: endpointAt(row, provider), pricing, region } }]
  })
  const [first] = served
  if (first === undefined) return null
  const { modelPermaslug: slug, createdAt } = first.row
  const endpoints = served.map(({ own }) => own)
  const callable = {
    ...{ id: slug, isUnpriced: false, inputModalities: [], video: null },
    isEmbedding: endpoints.some(({ endpoint }) => endpoint.embeds === true),
    isWriter: endpoints.some(({ endpoint }) => endpoint.text !== null),
    endpoints: endpoints.map(({ endpoint }) => endpoint),
  }
  const model = listOwn([{ slug, createdAt, callable, endpoints, known: null }], Date.now).resolve(slug)
  return model === null ? null : { model, endpoints: served.map(({ row }) => row) }
}

/** Members of a private endpoint in JSON, besides its prices and fields. */
export function privateFacts(endpoint: PrivateEndpoint): object {
  return {
    id: endpoint.id,
    status: endpoint.status,
    workspace_id: endpoint.workspaceId,
    provider_slug: endpoint.providerSlug,
    upstream_model_id: endpoint.upstreamModelId,
    base_url: endpoint.baseUrl,
    speaks: endpoint.speaks,
    declared_region: endpoint.declaredRegion,
    declared_zdr: endpoint.declaredZdr,
  }
}

/** What is known of private endpoints, a line each. */
export function privateText({ model, endpoints }: PrivateModel): string {
  const rows = endpoints.map(({ id, status, workspaceId, speaks, baseUrl, upstreamModelId }) => [
    `private/${id}`,
    status,
    workspaceId ?? '-',
    speaks.join(' ') || 'not validated',
    `${upstreamModelId} at ${baseUrl}`,
  ])
  return (
    `\`${model.id}\` is not in the catalogue. Private endpoints serve the model, each for its own workspace:\n\n` +
    table([['endpoint', 'status', 'workspace', 'speaks', 'server'], ...rows])
  )
}
