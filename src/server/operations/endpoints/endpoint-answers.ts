import type { FailureName } from '../../../schemas/failures.ts'
import type { EndpointSummary, WholeEndpoint } from '../../../schemas/endpoints/private-endpoints.ts'
import type { Call, Success } from '../define.ts'
import type { EndpointRef, PrivateEndpoint } from '../../ports/endpoints/private-endpoints.ts'
import type { Ports } from '../../ports/ports.ts'

export const ENDPOINT_FAILURES = [
  'endpoint_unknown',
  'store_unavailable',
] as const satisfies readonly FailureName[]

export const EXAMPLE_PARAMS = { id: '019a5b0c-4e21-7b1c-92d3-e4f5a6b7c8d9' }

export function refOf(call: Call<{ readonly id: string }>): EndpointRef {
  return { organizationId: call.key.organizationId, id: call.params.id }
}

type Named = Pick<Ports, 'models' | 'endpointProber'>

/** The summary of an endpoint. §2.9, B1.10. */
export function summaryOf(endpoint: PrivateEndpoint, { models, endpointProber }: Named): EndpointSummary {
  const { modelPermaslug, providerSlug } = endpoint
  return {
    id: endpoint.id,
    status: endpoint.status,
    model_permaslug: modelPermaslug,
    model_name: models.resolve(modelPermaslug)?.wire.name ?? null,
    model_slug: modelPermaslug,
    provider_name: endpointProber.nameOf(providerSlug) ?? providerSlug,
    created_at: endpoint.createdAt.toISOString(),
    declared_region: endpoint.declaredRegion,
    declared_zdr: endpoint.declaredZdr,
  }
}

/** The whole endpoint. B2.6. */
export function wholeOf(endpoint: PrivateEndpoint, ports: Named): WholeEndpoint {
  return {
    ...summaryOf(endpoint, ports),
    base_url: endpoint.baseUrl,
    provider_slug: endpoint.providerSlug,
    upstream_model_id: endpoint.upstreamModelId,
    pricing: endpoint.pricing ?? { prompt: '0', completion: '0' },
    secret_name: endpoint.secretName,
    workspace_id: endpoint.workspaceId,
    forms: endpoint.forms === null ? null : [...endpoint.forms],
    speaks: [...endpoint.speaks],
  }
}

export function answer(data: unknown): Success {
  return { kind: 'json', value: { data } }
}
