import type { EndpointPricing } from '../../../schemas/endpoints/private-endpoints.ts'
import type { CallableModel, Endpoint, ModelFilter, ResolvedModel } from './models.ts'

export interface OwnEndpoint {
  readonly endpoint: Endpoint
  /** Null: its calls are free. */
  readonly pricing: EndpointPricing | null
  /** Null: not declared. */
  readonly region: string | null
}

export interface OwnModel {
  readonly slug: string
  /** Of its first endpoint. */
  readonly createdAt: Date
  /** Over these endpoints alone. */
  readonly callable: CallableModel
  /** In the order in which they are tried. */
  readonly endpoints: readonly OwnEndpoint[]
  /** The model of the catalogue that has the slug; null: the workspace alone has it. */
  readonly known: ResolvedModel | null
}

export interface OwnListing {
  /** By its slug or the id of the catalogue's model; null: the workspace has no endpoint for it. */
  resolve(id: string): ResolvedModel | null
  /** Adds the matching models that only the workspace has: first, or where `filter.sort` puts them. @param found by the same filter */
  among(found: readonly ResolvedModel[], filter: ModelFilter): readonly ResolvedModel[]
  /** Models with zero data retention, those with endpoints of the workspace first. @param found those of the catalogue */
  withoutRetention(found: readonly ResolvedModel[]): readonly ResolvedModel[]
}
