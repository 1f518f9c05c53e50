import type { EndpointPricing } from '../../../schemas/endpoints/private-endpoints.ts'
import type { CallableModel, Endpoint, ModelFilter, ResolvedModel } from './models.ts'

/** A private endpoint, with the facts that lists show in addition to those that calls use. */
export interface OwnEndpoint {
  readonly endpoint: Endpoint
  /** Null: its calls are free. */
  readonly pricing: EndpointPricing | null
  /** Null: not declared. */
  readonly region: string | null
}

/** A model that a workspace has endpoints of its own for. */
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

/** Models of one workspace, as its lists and reads show them. */
export interface OwnListing {
  /**
   * A model with endpoints of the workspace, by its slug or the id of the catalogue's model; null: the
   * workspace has none of it.
   */
  resolve(id: string): ResolvedModel | null
  /**
   * The models that only the workspace has and that match, among those that the catalogue found: first, or
   * where `filter.sort` puts them.
   * @param found by the same filter
   */
  among(found: readonly ResolvedModel[], filter: ModelFilter): readonly ResolvedModel[]
  /**
   * The models with an endpoint that declares zero data retention: those with endpoints of the workspace
   * first.
   * @param found those of the catalogue
   */
  withoutRetention(found: readonly ResolvedModel[]): readonly ResolvedModel[]
}
