import type { Embedder } from './embeddings.ts'
import type { ModelCatalogue } from './models.ts'
import type { Observer } from './observe.ts'

/** Everything that an operation may use; built by main.ts, one per front. */
export interface Ports {
  readonly models: ModelCatalogue
  readonly embedder: Embedder
  readonly observer: Observer
}
